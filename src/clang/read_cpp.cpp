// Runs clang over translation units, one after the other in each of a few threads.
#include "clang/read_cpp.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <atomic>
#include <expected>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "clang/annotation_macros.h"
#include "clang/commands.h"
#include "clang/run_clang.h"
#include "clang/unit.h"
#include "summary/cache.h"

namespace tomos::cpp {

namespace {

using clang::tooling::CompileCommand;

// Comments that demand an atomicity.
class Comments : public clang::CommentHandler {
 public:
  bool HandleComment(clang::Preprocessor& preprocessor, clang::SourceRange range) override {
    const clang::SourceManager& manager = preprocessor.getSourceManager();
    const char* text = manager.getCharacterData(range.getBegin());
    if (!llvm::StringRef(text, 3).starts_with("/*#")) return false;
    const char* end = manager.getCharacterData(range.getEnd());
    const llvm::StringRef inside(text + 3, static_cast<std::size_t>(end - text - 3));
    const llvm::StringRef word = inside.split("*/").first.trim();
    const auto basic = core::basic_of(std::string_view(word.data(), word.size()));
    if (!basic) return false;
    const auto [file, offset] = manager.getDecomposedLoc(range.getEnd());
    found[file].push_back({.end = offset, .basic = *basic});
    return false;
  }

  std::map<clang::FileID, std::vector<Requirement>> found;
};

class Consumer : public clang::ASTConsumer {
 public:
  Consumer(Summary& summary, std::vector<Source>& sources, Comments& comments,
           std::string directory, const IncludeGraph& includes)
      : summary_(summary),
        sources_(sources),
        comments_(comments),
        directory_(std::move(directory)),
        includes_(includes) {}

  // What the system's functions do is known, or will not be found out here.
  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    const clang::SourceManager& manager = decl->getASTContext().getSourceManager();
    return manager.isInSystemHeader(manager.getExpansionLoc(decl->getLocation()));
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Unit(context, summary_, directory_, comments_.found).read();
    summary_.macros = includes_.annotation_macros(directory_);
    const clang::SourceManager& manager = context.getSourceManager();
    for (auto at = manager.fileinfo_begin(); at != manager.fileinfo_end(); ++at) {
      const auto buffer = at->second->getBufferIfLoaded();
      if (!buffer) continue;
      const std::filesystem::path path(at->first.getName().str());
      const llvm::StringRef text = buffer->getBuffer();
      sources_.push_back({.path = (std::filesystem::path(directory_) / path).string(),
                          .content = content_of({text.data(), text.size()})});
    }
  }

 private:
  Summary& summary_;
  std::vector<Source>& sources_;
  Comments& comments_;
  std::string directory_;
  const IncludeGraph& includes_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(Summary& summary, std::vector<Source>& sources, std::string directory)
      : summary_(summary), sources_(sources), directory_(std::move(directory)) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    compiler.getPreprocessor().addCommentHandler(&comments_);
    const IncludeGraph& includes = follow_includes(compiler.getPreprocessor());
    return std::make_unique<Consumer>(summary_, sources_, comments_, directory_, includes);
  }

 private:
  Summary& summary_;
  std::vector<Source>& sources_;
  std::string directory_;
  Comments comments_;
};

struct Read {
  std::optional<Summary> summary;
  bool cached = false;
  std::string messages;
};

Read read_unit(const CompileCommand& command, const std::vector<std::string>& flags, Cache& cache) {
  Read result;
  const std::vector<std::string> arguments = arguments_for(command, flags);
  const std::string made_by = fmt::format("{}\n{}", command.Directory, fmt::join(arguments, "\n"));
  result.summary = cache.find(made_by);
  result.cached = result.summary.has_value();
  if (result.cached) return result;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> system =
      llvm::vfs::createPhysicalFileSystem();  // with a working directory of its own
  if (system->setCurrentWorkingDirectory(command.Directory)) {
    result.messages = fmt::format("there is no folder {}\n", command.Directory);
    return result;
  }
  const llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(clang::FileSystemOptions(), system));
  llvm::raw_string_ostream messages(result.messages);
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions());
  clang::TextDiagnosticPrinter printer(messages, options.get());
  Summary summary;
  std::vector<Source> sources;
  clang::tooling::ToolInvocation invocation(
      arguments, std::make_unique<Action>(summary, sources, command.Directory), files.get());
  invocation.setDiagnosticConsumer(&printer);
  if (run_clang(invocation, shown(command.Filename), result.messages)) {
    cache.keep(made_by, summary, sources);
    result.summary = std::move(summary);
  }
  return result;
}

}  // namespace

Result<Sources> read_cpp(const Options& options) {
  const auto commands = commands_for(options.build, options.files);
  if (!commands) return std::unexpected(commands.error());
  Sources sources;
  Cache cache(options.cache);
  Merger merger;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::size_t merged = 0;
  std::map<std::size_t, Read> waiting;
  // Merged in the order of the files, so that the result does not depend on who is done first.
  const auto work = [&] {
    while (true) {
      const std::size_t i = next++;
      if (i >= commands->size()) return;
      Read read = read_unit((*commands)[i], options.flags, cache);
      const std::scoped_lock lock(mutex);
      waiting.emplace(i, std::move(read));
      for (auto at = waiting.find(merged); at != waiting.end(); at = waiting.find(++merged)) {
        if (at->second.summary) {
          ++sources.units;
          sources.cached += at->second.cached ? 1 : 0;
          merger.add(*at->second.summary);
        } else {
          sources.left_out.push_back({.file = shown((*commands)[merged].Filename),
                                      .messages = std::move(at->second.messages)});
        }
        waiting.erase(at);
      }
      if (options.progress) options.progress(++done, commands->size());
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t jobs = std::clamp<std::size_t>(options.jobs, 1, commands->size() + 1);
    for (std::size_t i = 1; i < jobs; ++i) helpers.emplace_back(work);
    work();
  }
  Summary whole = merger.take();
  for (std::string& file : whole.program.files) file = shown(file);
  for (core::AnnotationMacros& macros : whole.macros) {
    std::set<std::string> visible;
    for (const std::string& file : macros.visible_in) visible.insert(shown(file));
    macros.visible_in = std::move(visible);
  }
  sources.macros = std::move(whole.macros);
  sources.program = std::move(whole.program);
  sources.unknown_calls.assign(whole.unknown_calls.begin(), whole.unknown_calls.end());
  return sources;
}

}  // namespace tomos::cpp

extern "C" [[gnu::visibility("default")]] void tomos_read_cpp(
    const tomos::cpp::Options& options, tomos::Result<tomos::cpp::Sources>& result) {
  result = tomos::cpp::read_cpp(options);
}
