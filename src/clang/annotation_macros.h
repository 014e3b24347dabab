// The macros that a project has for Clang's thread-safety attributes (GUARDED_BY, or by any other
// name), and which of its files see them.
#pragma once

#include <clang/Basic/FileEntry.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/annotations.h"

namespace tomos::cpp {

// Which file includes which, in one translation unit.
class IncludeGraph : public clang::PPCallbacks {
 public:
  explicit IncludeGraph(clang::Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

  void InclusionDirective(clang::SourceLocation hash, const clang::Token& token,
                          llvm::StringRef name, bool is_angled, clang::CharSourceRange range,
                          clang::OptionalFileEntryRef file, llvm::StringRef search,
                          llvm::StringRef relative, const clang::Module* suggested, bool imported,
                          clang::SrcMgr::CharacteristicKind kind) override;

  // At the end of the unit, by the files that define them.
  std::vector<core::AnnotationMacros> annotation_macros(const std::string& directory) const;

 private:
  struct Included {
    std::string spelling;
    std::set<const clang::FileEntry*> by;
  };

  clang::Preprocessor& preprocessor_;
  std::map<const clang::FileEntry*, Included> included_;
  std::map<const clang::FileEntry*, std::string> own_files_;  // that include something
};

// Belongs to the preprocessor.
const IncludeGraph& follow_includes(clang::Preprocessor& preprocessor);

}  // namespace tomos::cpp
