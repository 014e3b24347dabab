// What the oracles for the front ends share: which sources they are told of, a walk over each by
// Clang, what a front end makes of them, and names that both know.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/JSONCompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "clang/read_cpp.h"

namespace accesses {

struct Place {
  std::string file;
  unsigned line = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Where something is read that is written there, or comes of a macro that is named there.
inline std::optional<Place> place_of(const clang::SourceManager& manager,
                                     clang::SourceLocation at) {
  at = manager.getExpansionLoc(at);
  if (at.isInvalid()) return std::nullopt;
  const auto file = manager.getFileEntryRefForID(manager.getFileID(at));
  if (!file) return std::nullopt;
  return Place{.file = file->getFileEntry().tryGetRealPathName().str(),
               .line = manager.getExpansionLineNumber(at)};
}

// As Clang calls the files of a program.
inline std::vector<std::string> real_paths(const std::vector<std::string>& files) {
  std::vector<std::string> made;
  made.reserve(files.size());
  for (const std::string& file : files) {
    made.push_back(std::filesystem::weakly_canonical(file).string());
  }
  return made;
}

inline bool is_foreign(const clang::ASTContext& context, clang::SourceLocation at) {
  const clang::SourceManager& manager = context.getSourceManager();
  return at.isInvalid() || manager.isInSystemHeader(manager.getExpansionLoc(at));
}

// To those who use it, it is the object that it leads to.
inline bool is_pointer_class(const clang::CXXRecordDecl& record) {
  return std::ranges::any_of(record.methods(), [](const clang::CXXMethodDecl* method) {
    return method->getOverloadedOperator() == clang::OO_Arrow;
  });
}

// The last part of a name, as C++ has it.
inline std::string plain(std::string_view name) {
  name = name.substr(0, name.find('@'));
  const std::size_t colon = name.rfind(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

// Of a function: n::(file.cpp)::f<int>(int) is f().
inline std::string plain_function(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth > 0) continue;
    if (name[i] == ':') begin = i + 1;
    if (name[i] != '(') continue;
    const std::size_t end = name.find(")::", i);
    if (i != begin || end == std::string_view::npos) break;
    i = end;
  }
  name.remove_prefix(begin);
  return std::string(name.substr(0, name.find_first_of("<("))) + "()";
}

struct Sources {
  tomos::cpp::Options options;
  std::unique_ptr<clang::tooling::CompilationDatabase> commands;
};

// FILE... -- FLAGS, or -p BUILD.
inline std::optional<Sources> sources_of(std::span<const std::string> words) {
  Sources made;
  tomos::cpp::Options& options = made.options;
  options.jobs = std::thread::hardware_concurrency();
  if (words.size() >= 2 && words[0] == "-p") {
    std::string error;
    options.build = words[1];
    made.commands = clang::tooling::CompilationDatabase::loadFromDirectory(words[1], error);
    if (made.commands) options.files = made.commands->getAllFiles();
  } else {
    const auto dashes = std::ranges::find(words, "--");
    options.files.assign(words.begin(), dashes);
    if (dashes != words.end()) options.flags.assign(dashes + 1, words.end());
    made.commands = std::make_unique<clang::tooling::FixedCompilationDatabase>(".", options.flags);
  }
  if (!made.commands || options.files.empty()) return std::nullopt;
  return made;
}

// Files that are named are programs of their own: names in one say nothing of another.
inline std::vector<tomos::cpp::Options> programs_of(const tomos::cpp::Options& options) {
  if (!options.build.empty()) return {options};
  std::vector<tomos::cpp::Options> made;
  for (const std::string& file : options.files) {
    made.push_back(options);
    made.back().files = {file};
  }
  return made;
}

// By a front end, which is a library that is loaded.
template <class Function, class Options, class Result>
bool read_by(const char* function, const Options& options, Result& result) {
  void* const library = ::dlopen(TOMOS_FRONT_END, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, function);
  if (found == nullptr) {
    fmt::print(stderr, "{}\n", ::dlerror());  // NOLINT(concurrency-mt-unsafe): one thread
    return false;
  }
  (*reinterpret_cast<Function*>(found))(options, result);
  if (!result) fmt::print(stderr, "{}\n", result.error().what);
  return result.has_value();
}

using Walk = std::function<void(clang::ASTContext&)>;

class WalkConsumer : public clang::ASTConsumer {
 public:
  explicit WalkConsumer(const Walk& walk) : walk_(walk) {}

  bool shouldSkipFunctionBody(clang::Decl* of) override {
    return is_foreign(of->getASTContext(), of->getLocation());
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (!context.getDiagnostics().hasErrorOccurred()) walk_(context);
  }

 private:
  const Walk& walk_;
};

class WalkAction : public clang::ASTFrontendAction {
 public:
  explicit WalkAction(const Walk& walk) : walk_(walk) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<WalkConsumer>(walk_);
  }

 private:
  const Walk& walk_;
};

class WalkFactory : public clang::tooling::FrontendActionFactory {
 public:
  explicit WalkFactory(const Walk& walk) : walk_(walk) {}
  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<WalkAction>(walk_);
  }

 private:
  const Walk& walk_;
};

// Through every unit that compiles.
inline void walk_by_clang(const Sources& sources, const Walk& walk) {
  clang::tooling::ClangTool tool(*sources.commands, sources.options.files);
  tool.appendArgumentsAdjuster(clang::tooling::getInsertArgumentAdjuster(
      {"-w", "-resource-dir=" TOMOS_CLANG_RESOURCES}, clang::tooling::ArgumentInsertPosition::END));
  WalkFactory factory(walk);
  tool.run(&factory);
}

}  // namespace accesses
