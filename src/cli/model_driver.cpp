#include "cli/model_driver.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cli/front_end.h"
#include "model/compile.h"

namespace tomos {

namespace {

// Lines become places of the source, names those that it has.
void speak_cpp(model::Program& program, const cpp::Driver& driver) {
  for (const cpp::DriverPosition& position : driver.origins) {
    program.origins.push_back(
        position.line == 0
            ? model::Origin{}
            : model::Origin{.file = driver.files[position.file],
                            .place = {.line = position.line, .column = position.column}});
  }
  const auto rename = [&](std::string& name) {
    const auto known = driver.names.find(name);
    if (known != driver.names.end()) name = known->second;
  };
  for (model::Variable& variable : program.variables) rename(variable.name);
  for (std::string& lock : program.locks) rename(lock);
  for (std::string& condition : program.conditions) rename(condition);
  for (model::AtomicBlock& block : program.blocks) rename(block.label);
  // They stand there in the order in which they are started; T1[2] are T1 and T2.
  for (std::size_t i = 1; i < program.threads.size(); ++i) {
    program.threads[i].name = fmt::format("T{}", i);
  }
}

std::string in_a_list(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 8;
  if (words.size() <= kMost) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more", fmt::join(words.begin(), words.begin() + kMost, ", "),
                     words.size() - kMost);
}

}  // namespace

Result<DriverProgram> load_driver(const SourceOptions& sources) {
  cpp::Options options{.build = sources.build, .files = sources.files, .flags = sources.flags};
  options.flags.push_back("-I" + macro_headers());
  auto read = read_driver(options);
  if (!read) return std::unexpected(read.error());
  DriverProgram made;
  const std::size_t units = read->left_out.empty() ? 1 : 0;
  if (auto some = note_left_out(sources, read->left_out, units, made.notes); !some) {
    return std::unexpected(some.error());
  }
  cpp::Driver& driver = read->driver;
  auto program = model::load(driver.text, sources.files.front());
  if (!program) {
    // Too many variables, threads or steps: the driver's fault. Anything else is ours.
    return std::unexpected(
        Error{.where = sources.files.front(),
              .what = fmt::format("its Boolean program is refused ({}): {}", program.error().where,
                                  program.error().what),
              .remedy = "Let the driver do less. --write-bp FILE writes the Boolean program."});
  }
  made.program = std::move(*program);
  speak_cpp(made.program, driver);
  for (const auto& [what, list] : driver.abstracted) {
    made.notes.push_back(fmt::format("{} {}", what, in_a_list(list)));
  }
  made.text = std::move(driver.text);
  made.assertions = driver.assertions;
  return made;
}

}  // namespace tomos
