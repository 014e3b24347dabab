// Parses the translation unit of a driver.
#include "clang/read_driver.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "clang/commands.h"
#include "clang/drivers.h"
#include "clang/run_clang.h"

namespace tomos::cpp {

namespace {

class DriverConsumer : public clang::ASTConsumer {
 public:
  DriverConsumer(Driver& driver, bool counts, std::optional<Error>& error, std::string directory)
      : driver_(driver), counts_(counts), error_(error), directory_(std::move(directory)) {}

  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    const clang::SourceManager& manager = decl->getASTContext().getSourceManager();
    return manager.isInSystemHeader(manager.getExpansionLoc(decl->getLocation()));
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    try {
      DriverUnit(context, directory_, counts_, driver_).read();
    } catch (Error& error) {
      error_ = std::move(error);
    }
  }

 private:
  Driver& driver_;
  bool counts_;
  std::optional<Error>& error_;
  std::string directory_;
};

class DriverAction : public clang::ASTFrontendAction {
 public:
  DriverAction(Driver& driver, bool counts, std::optional<Error>& error, std::string directory)
      : driver_(driver), counts_(counts), error_(error), directory_(std::move(directory)) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<DriverConsumer>(driver_, counts_, error_, directory_);
  }

 private:
  Driver& driver_;
  bool counts_;
  std::optional<Error>& error_;
  std::string directory_;
};

}  // namespace

Result<DriverSources> read_driver(const Options& options, bool counts) {
  const auto commands = commands_for(options.build, options.files);
  if (!commands) return std::unexpected(commands.error());
  if (commands->size() != 1) {
    return std::unexpected(Error{.where = "model --from-cpp",
                                 .what = "a driver is one source file",
                                 .remedy = "Name the file with main; it may include others."});
  }
  const clang::tooling::CompileCommand& command = commands->front();
  DriverSources sources;
  std::string messages;
  std::optional<Error> error;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> system = llvm::vfs::createPhysicalFileSystem();
  if (system->setCurrentWorkingDirectory(command.Directory)) {
    return std::unexpected(Error{.where = command.Directory,
                                 .what = "there is no such folder",
                                 .remedy = "Make the compile_commands.json again."});
  }
  const llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(clang::FileSystemOptions(), system));
  llvm::raw_string_ostream stream(messages);
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> shown_how(
      new clang::DiagnosticOptions());
  clang::TextDiagnosticPrinter printer(stream, shown_how.get());
  clang::tooling::ToolInvocation invocation(
      arguments_for(command, options.flags),
      std::make_unique<DriverAction>(sources.driver, counts, error, command.Directory),
      files.get());
  invocation.setDiagnosticConsumer(&printer);
  if (!run_clang(invocation, shown(command.Filename), messages)) {
    sources.left_out.push_back({.file = shown(command.Filename), .messages = std::move(messages)});
    return sources;
  }
  if (error) {
    if (error->where.empty()) error->where = shown(command.Filename);
    return std::unexpected(*error);
  }
  for (std::string& file : sources.driver.files) file = shown(file);
  return sources;
}

}  // namespace tomos::cpp

extern "C" [[gnu::visibility("default")]] void tomos_read_driver(
    const tomos::cpp::Options& options, bool counts,
    tomos::Result<tomos::cpp::DriverSources>& result) {
  result = tomos::cpp::read_driver(options, counts);
}
