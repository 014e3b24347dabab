#include "cli/infer_annotate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "annotate/annotate.h"
#include "cli/front_end.h"
#include "cli/output.h"

namespace tomos {

namespace {

using annotate::Annotation;

std::string summary_of(const annotate::Annotated& made, std::size_t findings) {
  std::map<Annotation::Kind, std::size_t> counts;
  std::size_t left_out = 0;
  for (const Annotation& one : made.annotations) {
    one.left_out.empty() ? ++counts[one.kind] : ++left_out;
  }
  using enum Annotation::Kind;
  std::string text = fmt::format(
      "{} guards, {} required, {} excluded, {} acquired or released, {} not analysed, {} comments "
      "in {} files; {} left out\n",
      counts[kGuardedBy] + counts[kPtGuardedBy], counts[kRequires] + counts[kRequiresShared],
      counts[kExcludes], counts[kAcquires] + counts[kReleases], counts[kNoAnalysis],
      counts[kComment], made.files.size(), left_out);
  for (const Annotation& one : made.annotations) {
    const std::string what = one.kind == kComment
                                 ? one.argument
                                 : fmt::format("{}({})", attribute_of(one.kind), one.argument);
    if (!one.left_out.empty()) {
      text += fmt::format("left out: {} {}: {}\n", one.of, what, one.left_out);
    } else if (one.kind == kNoAnalysis) {
      text += fmt::format("not analysed: {}: Clang cannot follow it: {}\n", one.of, one.argument);
    }
  }
  for (const core::CompilerWarning& warning : made.warnings) {
    text += fmt::format("still a warning: {}:{}: {}\n", warning.where.file, warning.where.line,
                        warning.message);
  }
  if (!made.files.empty()) {
    const std::string locks =
        made.annotated_system ? fmt::format(" -isystem {}", annotated_headers()) : "";
    text +=
        fmt::format("compile with clang -Wthread-safety -isystem {}{}\n", macro_headers(), locks);
  }
  if (findings > 0) {
    text += fmt::format("{} findings: run tomos infer without --annotate to see them\n", findings);
  }
  return text;
}

Result<void> write_and_commit(NewFile& file, const std::string& text) {
  if (const auto written = file.write(text); !written) return written;
  return file.commit();
}

}  // namespace

Result<void> write_annotations(const AnnotateOptions& options, std::optional<NewFile>& file,
                               const core::Program& program, const annotate::Given& given,
                               const infer::Inference& inference,
                               std::vector<core::AnnotationMacros> macros,
                               const std::vector<Finding>& findings) {
  std::vector<annotate::Atomicity> atomicities;
  atomicities.reserve(inference.methods.size());
  for (const infer::MethodAtomicity& method : inference.methods) {
    atomicities.push_back({.basic = method.basic, .is_declared = method.is_declared});
  }
  annotate::Request request = {.program = &program,
                               .annotations = annotate::annotations_of(program, given, atomicities),
                               .macros = std::move(macros),
                               .findings = {},
                               .left_out = options.left_out};
  for (const Finding& finding : findings) {
    if (finding.kind == Kind::kAtomicity) continue;  // of which Clang knows nothing
    for (const Finding::Event& event : finding.events) {
      request.findings.emplace(event.location.file, event.location.line);
    }
  }
  const auto made = annotate::annotate(
      std::move(request),
      [&](const cpp::Texts& texts, const std::set<std::string>& units, bool annotated_system) {
        return tomos::check_cpp(options.sources, texts, units, annotated_system);
      });
  if (!made) return std::unexpected(made.error());
  if (!options.quiet) {
    if (const auto told = write_to(STDERR_FILENO, summary_of(*made, findings.size())); !told) {
      return told;
    }
  }
  std::string patch;
  for (const annotate::Annotated::File& changed : made->files) {
    patch += changed.patch;
    if (!options.in_place) continue;
    auto source = NewFile::at(changed.path);
    if (!source) return std::unexpected(source.error());
    if (const auto written = write_and_commit(*source, changed.text); !written) return written;
  }
  if (options.in_place) return {};
  return file ? write_and_commit(*file, patch) : write_to(STDOUT_FILENO, patch);
}

}  // namespace tomos
