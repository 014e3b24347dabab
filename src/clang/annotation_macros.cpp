#include "clang/annotation_macros.h"

#include <clang/Lex/MacroInfo.h>
#include <llvm/Support/Path.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace tomos::cpp {

namespace {

// The attributes that annotations are made of, and older names for the same.
using NameAndMeaning = std::pair<std::string_view, std::string_view>;
constexpr auto kAttributes = std::to_array<NameAndMeaning>({
    {"guarded_by", "guarded_by"},
    {"pt_guarded_by", "pt_guarded_by"},
    {"requires_capability", "requires_capability"},
    {"exclusive_locks_required", "requires_capability"},
    {"requires_shared_capability", "requires_shared_capability"},
    {"shared_locks_required", "requires_shared_capability"},
    {"locks_excluded", "locks_excluded"},
    {"acquire_capability", "acquire_capability"},
    {"exclusive_lock_function", "acquire_capability"},
    {"release_capability", "release_capability"},
    {"unlock_function", "release_capability"},
    {"no_thread_safety_analysis", "no_thread_safety_analysis"},
});

// The attribute that a macro stands for, if it is nothing else.
std::string_view attribute_of(const clang::MacroInfo& macro) {
  std::string_view found;
  for (const clang::Token& token : macro.tokens()) {
    const clang::IdentifierInfo* word = token.getIdentifierInfo();
    if (word == nullptr) continue;
    llvm::StringRef name = word->getName();
    if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
      name = name.drop_front(2).drop_back(2);
    }
    for (const auto& [attribute, meaning] : kAttributes) {
      if (name != llvm::StringRef(attribute)) continue;
      if (!found.empty()) return {};
      found = meaning;
    }
  }
  const bool takes_locks = macro.isFunctionLike() && macro.getNumParams() == 1;
  const bool is_plain = found == "no_thread_safety_analysis";
  return takes_locks != is_plain ? found : std::string_view();
}

}  // namespace

const IncludeGraph& follow_includes(clang::Preprocessor& preprocessor) {
  auto graph = std::make_unique<IncludeGraph>(preprocessor);
  const IncludeGraph& made = *graph;
  preprocessor.addPPCallbacks(std::move(graph));
  return made;
}

void IncludeGraph::InclusionDirective(clang::SourceLocation hash, const clang::Token& /*token*/,
                                      llvm::StringRef name, bool is_angled,
                                      clang::CharSourceRange /*range*/,
                                      clang::OptionalFileEntryRef file, llvm::StringRef /*search*/,
                                      llvm::StringRef /*relative*/,
                                      const clang::Module* /*suggested*/, bool /*imported*/,
                                      clang::SrcMgr::CharacteristicKind /*kind*/) {
  const clang::SourceManager& manager = preprocessor_.getSourceManager();
  const auto from = manager.getFileEntryRefForID(manager.getFileID(manager.getExpansionLoc(hash)));
  if (!file || !from) return;
  Included& into = included_[&file->getFileEntry()];
  into.by.insert(&from->getFileEntry());
  if (into.spelling.empty()) {
    into.spelling = (is_angled ? "<" : "\"") + name.str() + (is_angled ? ">" : "\"");
  }
  if (!manager.isInSystemHeader(hash)) {
    own_files_.emplace(&from->getFileEntry(), from->getName().str());
  }
}

std::vector<core::AnnotationMacros> IncludeGraph::annotation_macros(
    const std::string& directory) const {
  const clang::SourceManager& manager = preprocessor_.getSourceManager();
  const auto path_of = [&](llvm::StringRef name) {
    llvm::SmallString<256> path(name);
    if (!llvm::sys::path::is_absolute(path)) {
      path = directory;
      llvm::sys::path::append(path, name);
    }
    llvm::sys::path::remove_dots(path, true);
    return path.str().str();
  };
  std::map<std::string, core::AnnotationMacros> found;
  std::map<std::string, const clang::FileEntry*> files;
  for (const auto& [name, state] : preprocessor_.macros()) {
    const clang::MacroInfo* macro = preprocessor_.getMacroInfo(name);
    if (macro == nullptr) continue;
    const std::string_view attribute = attribute_of(*macro);
    if (attribute.empty()) continue;
    const auto file = manager.getFileEntryRefForID(manager.getFileID(macro->getDefinitionLoc()));
    if (!file) continue;
    core::AnnotationMacros& into = found[path_of(file->getName())];
    files[path_of(file->getName())] = &file->getFileEntry();
    std::string& known = into.names[std::string(attribute)];
    // Of several names the one that is most like the attribute's: REQUIRES, not LOCKS_REQUIRED.
    const std::string own = name->getName().str();
    if (known.empty() || std::pair(own.size(), own) < std::pair(known.size(), known)) known = own;
  }
  std::vector<core::AnnotationMacros> made;
  for (auto& [header, macros] : found) {
    if (!macros.names.contains("guarded_by")) continue;
    macros.header = header;
    macros.visible_in.insert(header);
    std::vector<const clang::FileEntry*> open = {files[header]};
    std::set<const clang::FileEntry*> seen(open.begin(), open.end());
    if (const auto at = included_.find(files[header]); at != included_.end()) {
      macros.spelling = at->second.spelling;
    }
    while (!open.empty()) {
      const clang::FileEntry* next = open.back();
      open.pop_back();
      if (const auto own = own_files_.find(next); own != own_files_.end()) {
        macros.visible_in.insert(path_of(own->second));
      }
      const auto at = included_.find(next);
      if (at == included_.end()) continue;
      for (const clang::FileEntry* by : at->second.by) {
        if (seen.insert(by).second) open.push_back(by);
      }
    }
    made.push_back(std::move(macros));
  }
  return made;
}

}  // namespace tomos::cpp
