// Parses translation units with transactions and puts what they hold together: functions and
// globals by name, the first definition stands.
#include "clang/read_tm.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "clang/commands.h"
#include "clang/run_clang.h"
#include "clang/transactions.h"

namespace tomos::cpp {

namespace {

class TmConsumer : public clang::ASTConsumer {
 public:
  TmConsumer(tm::Program& program, const TransactionStyles& styles, std::string directory)
      : program_(program), styles_(styles), directory_(std::move(directory)) {}

  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    const clang::SourceManager& manager = decl->getASTContext().getSourceManager();
    return manager.isInSystemHeader(manager.getExpansionLoc(decl->getLocation()));
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    TransactionUnit(context, program_, styles_, directory_).read();
  }

 private:
  tm::Program& program_;
  const TransactionStyles& styles_;
  std::string directory_;
};

class TmAction : public clang::ASTFrontendAction {
 public:
  TmAction(tm::Program& program, const TransactionStyles& styles, std::string directory)
      : program_(program), styles_(styles), directory_(std::move(directory)) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<TmConsumer>(program_, styles_, directory_);
  }

 private:
  tm::Program& program_;
  const TransactionStyles& styles_;
  std::string directory_;
};

std::optional<tm::Program> read_tm_unit(const clang::tooling::CompileCommand& command,
                                        const std::vector<std::string>& flags,
                                        const TransactionStyles& styles, std::string& messages) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> system = llvm::vfs::createPhysicalFileSystem();
  if (system->setCurrentWorkingDirectory(command.Directory)) {
    messages = fmt::format("there is no folder {}\n", command.Directory);
    return std::nullopt;
  }
  const llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(clang::FileSystemOptions(), rewritten_files(system, styles)));
  llvm::raw_string_ostream stream(messages);
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions());
  clang::TextDiagnosticPrinter printer(stream, options.get());
  tm::Program program;
  clang::tooling::ToolInvocation invocation(
      arguments_for(command, flags), std::make_unique<TmAction>(program, styles, command.Directory),
      files.get());
  invocation.setDiagnosticConsumer(&printer);
  if (!run_clang(invocation, shown(command.Filename), messages)) return std::nullopt;
  return program;
}

// Puts the program of a unit after those before it.
class TmMerger {
 public:
  void add(tm::Program unit) {
    std::vector<std::uint32_t> files;
    for (const std::string& file : unit.files) {
      const auto [at, is_new] =
          files_.emplace(file, static_cast<std::uint32_t>(whole.files.size()));
      if (is_new) whole.files.push_back(file);
      files.push_back(at->second);
    }
    std::vector<std::uint32_t> globals;
    for (tm::Global& global : unit.globals) {
      const auto [at, is_new] =
          globals_.emplace(global.name, static_cast<std::uint32_t>(whole.globals.size()));
      if (is_new) whole.globals.push_back(std::move(global));
      globals.push_back(at->second);
    }
    const auto moved = [&](tm::Position& position) {
      if (position.line != 0) position.file = files[position.file];
    };
    const auto first = static_cast<std::uint32_t>(whole.nodes.size());
    for (tm::Node& node : unit.nodes) {
      for (tm::NodeId& child : node.children) child = shifted(child, first);
      if (node.kind == tm::Node::Kind::kGlobal) node.number = globals[node.number];
      moved(node.position);
      moved(node.end);
      whole.nodes.push_back(std::move(node));
    }
    for (tm::Function& function : unit.functions) {
      function.body = shifted(function.body, first);
      moved(function.position);
      if (function.name == tm::kGlobals) {  // every unit has its own
        whole.functions.push_back(std::move(function));
        continue;
      }
      const auto [at, is_new] = functions_.emplace(function.name, whole.functions.size());
      if (is_new) {
        whole.functions.push_back(std::move(function));
      } else if (whole.functions[at->second].body == tm::kNoNode) {
        whole.functions[at->second] = std::move(function);
      }
    }
    for (auto& [name, fields] : unit.classes) {
      auto& known = whole.classes[name];
      if (known.empty()) known = std::move(fields);
    }
  }

  tm::Program whole;

 private:
  static tm::NodeId shifted(tm::NodeId node, std::uint32_t by) {
    return node == tm::kNoNode ? node
                               : static_cast<tm::NodeId>(static_cast<std::uint32_t>(node) + by);
  }

  std::map<std::string, std::uint32_t> files_;
  std::map<std::string, std::uint32_t> globals_;
  std::map<std::string, std::size_t> functions_;
};

}  // namespace

Result<TmSources> read_tm(const TmOptions& options) {
  const auto commands = commands_for(options.sources.build, options.sources.files);
  if (!commands) return std::unexpected(commands.error());
  TransactionStyles styles = {.macros = options.macros,
                              .calls = options.calls,
                              .scopes = options.scopes,
                              .lambdas = options.lambdas};
  styles.calls.emplace_back(kMacroCalls);
  std::vector<std::string> flags = transaction_macros(styles);
  flags.insert(flags.end(), options.sources.flags.begin(), options.sources.flags.end());
  TmSources sources;
  TmMerger merger;
  for (const auto& command : *commands) {
    std::string messages;
    auto unit = read_tm_unit(command, flags, styles, messages);
    if (unit) {
      ++sources.units;
      merger.add(std::move(*unit));
    } else {
      sources.left_out.push_back(
          {.file = shown(command.Filename), .messages = std::move(messages)});
    }
  }
  sources.program = std::move(merger.whole);
  for (std::string& file : sources.program.files) file = shown(file);
  return sources;
}

}  // namespace tomos::cpp

extern "C" [[gnu::visibility("default")]] void tomos_read_tm(
    const tomos::cpp::TmOptions& options, tomos::Result<tomos::cpp::TmSources>& result) {
  result = tomos::cpp::read_tm(options);
}
