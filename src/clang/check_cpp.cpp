// Clang's own thread-safety analysis over sources that are still on paper: some files have other
// texts than on disk. Each warning comes with the places where it could be helped: the declaration
// of what it names, and of the function that it is in.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/Decl.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "clang/commands.h"
#include "clang/places.h"
#include "clang/read_cpp.h"
#include "clang/run_clang.h"

namespace tomos::cpp {

namespace {

using core::CompilerWarning;

// Of the bodies only the project's own are of interest.
class OwnBodies : public clang::ASTConsumer {
 public:
  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    const clang::SourceManager& manager = decl->getASTContext().getSourceManager();
    return manager.isInSystemHeader(manager.getExpansionLoc(decl->getLocation()));
  }
};

class CheckAction : public clang::ASTFrontendAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<OwnBodies>();
  }
};

class Listener : public clang::DiagnosticConsumer {
 public:
  Listener(std::string unit, std::string directory)
      : unit_(std::move(unit)), directory_(std::move(directory)) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    if (level == clang::DiagnosticsEngine::Note) {
      // "Thread warning in function 'f'" follows every warning of the analysis.
      const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(named(info));
      if (function == nullptr || heard.empty() || !text.str().contains("in function")) return;
      heard.back().function = place(place_of(*function, function->getASTContext()), info);
      heard.back().in_lambda = is_lambda(*function);
      heard.back().function_name = function->getQualifiedNameAsString();
      return;
    }
    const llvm::StringRef option = clang::DiagnosticIDs::getWarningOptionForDiag(info.getID());
    const bool is_error = level >= clang::DiagnosticsEngine::Error && option.empty();
    if (!is_error && !option.starts_with("thread-safety")) return;
    CompilerWarning made = {
        .kind = CompilerWarning::Kind::kLocking,
        .unit = unit_,
        .message = text.str().str(),
        .where = info.hasSourceManager() ? place(info.getLocation(), info) : core::Place()};
    if (const auto* decl = llvm::dyn_cast_or_null<clang::ValueDecl>(named(info))) {
      made.declared = place(place_of(*decl, decl->getASTContext()), info);
      made.kind = llvm::isa<clang::FunctionDecl>(decl) ? CompilerWarning::Kind::kCall
                                                       : CompilerWarning::Kind::kAccess;
    }
    if (text.str().starts_with("cannot call function")) {
      made.kind = CompilerWarning::Kind::kExcluded;
      made.callee = text.str().split('\'').second.split('\'').first.str();
    }
    if (option == "thread-safety-attributes") made.kind = CompilerWarning::Kind::kAttribute;
    if (is_error) made.kind = CompilerWarning::Kind::kError;
    heard.push_back(std::move(made));
  }

  std::vector<CompilerWarning> heard;

 private:
  static const clang::Decl* named(const clang::Diagnostic& info) {
    for (unsigned i = 0; i < info.getNumArgs(); ++i) {
      if (info.getArgKind(i) == clang::DiagnosticsEngine::ak_nameddecl) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how diagnostics carry it
        return reinterpret_cast<const clang::NamedDecl*>(info.getRawArg(i));
      }
    }
    return nullptr;
  }

  core::Place place(clang::SourceLocation location, const clang::Diagnostic& info) const {
    if (location.isInvalid()) return {};
    const clang::SourceManager& manager = info.getSourceManager();
    const auto [file, offset] = manager.getDecomposedExpansionLoc(location);
    const auto entry = manager.getFileEntryRefForID(file);
    if (!entry) return {};
    llvm::SmallString<256> path(entry->getName());
    if (!llvm::sys::path::is_absolute(path)) {
      path = directory_;
      llvm::sys::path::append(path, entry->getName());
    }
    llvm::sys::path::remove_dots(path, true);
    return {.file = path.str().str(),
            .line = manager.getLineNumber(file, offset),
            .column = manager.getColumnNumber(file, offset)};
  }

  std::string unit_;
  std::string directory_;
};

std::vector<CompilerWarning> check_unit(const clang::tooling::CompileCommand& command,
                                        const std::vector<std::string>& flags, const Texts& texts) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> system(
      new llvm::vfs::OverlayFileSystem(llvm::vfs::createPhysicalFileSystem()));
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> changed(
      new llvm::vfs::InMemoryFileSystem());
  for (const auto& [path, text] : texts) {
    changed->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text));
  }
  system->pushOverlay(changed);
  if (system->setCurrentWorkingDirectory(command.Directory)) return {};
  const llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(clang::FileSystemOptions(), system));
  Listener listener(shown(command.Filename), command.Directory);
  std::vector<std::string> arguments = arguments_for(command, flags);
  std::erase(arguments, "-w");
  clang::tooling::ToolInvocation invocation(arguments, std::make_unique<CheckAction>(),
                                            files.get());
  invocation.setDiagnosticConsumer(&listener);
  std::string ended;
  run_clang(invocation, shown(command.Filename), ended);
  if (!ended.empty()) {
    listener.heard.push_back({.kind = CompilerWarning::Kind::kError,
                              .unit = shown(command.Filename),
                              .message = std::move(ended)});
  }
  return std::move(listener.heard);
}

// Warnings of the project's own choice are none of our business, and no errors.
std::vector<std::string> checking_arguments(clang::tooling::CompileCommand& command,
                                            const std::vector<std::string>& headers) {
  const auto is_choice = [](const std::string& word) {
    return word == "-w" || word == "-pedantic-errors" || word.starts_with("-W");
  };
  const auto keeps = [](const std::string& word) {  // flags for the preprocessor and others
    return word.starts_with("-Wp,") || word.starts_with("-Wa,") || word.starts_with("-Wl,");
  };
  std::erase_if(command.CommandLine,
                [&](const std::string& word) { return is_choice(word) && !keeps(word); });
  std::vector<std::string> flags = {"-Wno-everything", "-Wthread-safety", "-Wthread-safety-verbose",
                                    "-fno-caret-diagnostics"};
  for (const std::string& header : headers) {
    flags.emplace_back("-isystem");
    flags.push_back(header);
  }
  return flags;
}

}  // namespace

Result<std::vector<CompilerWarning>> check_cpp(const Options& options, const Texts& texts,
                                               const std::set<std::string>& units,
                                               const std::vector<std::string>& headers) {
  auto commands = commands_for(options.build, options.files);
  if (!commands) return std::unexpected(commands.error());
  std::erase_if(*commands, [&](const clang::tooling::CompileCommand& command) {
    return !units.empty() && !units.contains(shown(command.Filename));
  });
  std::vector<std::vector<CompilerWarning>> heard(commands->size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < commands->size(); i = next++) {
      std::vector<std::string> flags = checking_arguments((*commands)[i], headers);
      flags.insert(flags.end(), options.flags.begin(), options.flags.end());
      heard[i] = check_unit((*commands)[i], flags, texts);
      const std::scoped_lock lock(mutex);
      if (options.progress) options.progress(++done, commands->size());
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t jobs = std::clamp<std::size_t>(options.jobs, 1, commands->size() + 1);
    for (std::size_t i = 1; i < jobs; ++i) helpers.emplace_back(work);
    work();
  }
  std::vector<CompilerWarning> all;
  for (std::vector<CompilerWarning>& unit : heard) {
    std::ranges::move(unit, std::back_inserter(all));
  }
  return all;
}

}  // namespace tomos::cpp

extern "C" [[gnu::visibility("default")]] void tomos_check_cpp(
    const tomos::cpp::Options& options, const tomos::cpp::Texts& texts,
    const std::set<std::string>& units, const std::vector<std::string>& headers,
    tomos::Result<std::vector<tomos::core::CompilerWarning>>& result) {
  result = tomos::cpp::check_cpp(options, texts, units, headers);
}
