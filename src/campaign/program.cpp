#include "campaign/program.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "report/layout.h"

namespace tomos::campaign {

namespace {

namespace fs = std::filesystem;

bool is_executable(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> look_up(const std::string& name) {
  if (name.contains('/')) {
    if (is_executable(name)) return name;
    std::error_code error;
    const bool there = fs::exists(name, error);
    return std::unexpected(
        Error{.where = name,
              .what = there ? "is not a program: it may not be executed" : "there is no such file",
              .remedy = there ? "Name the program itself, or make it executable (chmod +x)."
                              : "Build it, or correct the path."});
  }
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  std::string_view folders = path == nullptr ? "/bin:/usr/bin" : path;
  for (;;) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (is_executable(candidate)) return candidate;
    if (folder.size() == folders.size()) break;
    folders.remove_prefix(folder.size() + 1);
  }
  return std::unexpected(
      Error{.where = name,
            .what = "there is no such program in PATH",
            .remedy = fmt::format("For a program in this folder write ./{}.", name)});
}

std::string beginning_of(const std::string& path) {
  constexpr std::size_t kEnough = 65536;  // program headers stand in front
  std::string bytes(kEnough, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), kEnough);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

template <class T>
std::optional<T> at(const std::string& bytes, std::uint64_t place) {
  if (place > bytes.size() || bytes.size() - place < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

// The program that a script names behind "#!"; empty if it is none.
std::string interpreter_of(const std::string& bytes) {
  if (!bytes.starts_with("#!")) return "";
  const std::string line = bytes.substr(2, bytes.find('\n') - 2);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

// Why the dynamic linker would not put the library into it, or nothing.
std::optional<Error> refusal(const std::string& path) {
  const std::string bytes = beginning_of(path);
  if (const std::string interpreter = interpreter_of(bytes); !interpreter.empty()) {
    return interpreter == path ? std::nullopt : refusal(interpreter);
  }
  if (bytes.size() < EI_NIDENT || !bytes.starts_with(ELFMAG)) {
    return Error{.where = path,
                 .what = "is not a program that can be controlled",
                 .remedy = "It must be a dynamically linked program, or a script for one."};
  }
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  if (!header || bytes[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64) {
    return Error{.where = path,
                 .what = "was built for another kind of machine",
                 .remedy = "Only 64-bit x86 programs can be controlled."};
  }
  bool dynamic = false;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(bytes, header->e_phoff + i * header->e_phentsize);
    if (!segment) break;
    dynamic = dynamic || segment->p_type == PT_INTERP;
  }
  if (!dynamic) {
    return Error{.where = path,
                 .what = "is statically linked: the scheduler cannot be put into it",
                 .remedy = "Link it dynamically (without -static)."};
  }
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & S_ISUID) != 0 &&
      about.st_uid != ::getuid()) {
    return Error{.where = path,
                 .what = "runs with another user's rights: the scheduler cannot be put into it",
                 .remedy =
                     "Run a copy of it, which has no such rights, or run tomos as that "
                     "user."};
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> find_runtime() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& library : {folder / "lib", folder.parent_path() / "lib" / "tomos"}) {
    const fs::path path = library / "libtomos_rt.so";
    if (fs::exists(path, error)) return path.string();
  }
  return std::unexpected(
      Error{.where = (folder / "lib/libtomos_rt.so").string(),
            .what = "the library with the scheduler is neither there nor in ../lib/tomos",
            .remedy = "Build or install Tomos again."});
}

Program::Program(std::vector<std::string> words, std::string path, std::string runtime)
    : words_(std::move(words)), path_(std::move(path)), runtime_(std::move(runtime)) {}

Result<Program> Program::find(std::vector<std::string> words, std::string runtime) {
  auto path = look_up(words.front());
  if (!path) return std::unexpected(path.error());
  if (auto error = refusal(*path)) return std::unexpected(std::move(*error));
  return Program(std::move(words), std::move(*path), std::move(runtime));
}

std::optional<Error> why_not_controlled(const Program& program, const Trial& trial) {
  const std::string& name = program.words().front();
  for (const schedule::Module& module : trial.modules) {
    std::error_code error;
    const std::string_view path = module.path;
    if (!path.ends_with("/libtomos_rt.so") || fs::equivalent(path, program.runtime(), error)) {
      continue;
    }
    return Error{.where = name,
                 .what = fmt::format("is linked to another copy of the runtime, {}", path),
                 .remedy =
                     "Build it with the tomos-c++ that belongs to this tomos, or use the "
                     "tomos that belongs to that copy."};
  }
  if (trial.started || trial.end == End::kStopped) return std::nullopt;
  const std::string last = trial.output.substr(trial.output.rfind('\n') + 1);
  const std::string said = fit(printable(last), 200, Cut::kTail);
  return Error{.where = name,
               .what = "the scheduler did not come up in it" +
                       (said.empty() ? "" : fmt::format("; it said: {}", said)),
               .remedy = "It must be dynamically linked, and take libraries from LD_PRELOAD."};
}

std::vector<std::string> Program::additions(const std::string& area) const {
  // The user's own libraries stay, behind ours: it must see their calls, too.
  const char* preload = std::getenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe)
  const std::string others = preload == nullptr || *preload == 0 ? "" : fmt::format(":{}", preload);
  std::vector<std::string> result = {fmt::format("LD_PRELOAD={}{}", runtime_, others),
                                     "TOMOS_SCHEDULE=" + area};
  if (!functions_.empty()) result.push_back("TOMOS_FUNCTIONS=" + functions_);
  // Threads of OpenMP that spin for each other would keep the turn.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets it
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) result.emplace_back("OMP_WAIT_POLICY=passive");
  return result;
}

}  // namespace tomos::campaign
