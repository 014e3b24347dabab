// Makes source with transactions into source that clang understands, without moving anything: words
// are replaced by others of the same length, which macros on the command line define.
//
//   __transaction_atomic { ... }     a macro alone does: an attribute of the block
//   __transaction_atomic (a + b)     an expression
//   int f() __transaction_atomic {   a function
//   synchronized { atomic_commit {   the words of the TM TS, only before a block
//   #define TM_BEGIN() ...           library macros: ours stands, theirs becomes a #pragma
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tomos::cpp {

struct TransactionStyles {
  std::vector<std::pair<std::string, std::string>> macros;  // that begin and end one
  std::vector<std::pair<std::string, std::string>> calls;   // functions that do
  std::vector<std::string> scopes;                          // classes whose objects are one
  std::vector<std::string> lambdas;  // functions that run what they are given as one
};

// What the macros that begin and end a transaction become: calls of this name, in a manner of
// speaking.
inline constexpr std::pair<const char*, const char*> kMacroCalls = {"tm.begin", "tm.end"};

// Of the same length.
std::string rewrite_transactions(std::string_view text, const TransactionStyles& styles);

// -D for each word.
std::vector<std::string> transaction_macros(const TransactionStyles& styles);

// All files below are read rewritten, those of the system aside.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> rewritten_files(
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below, const TransactionStyles& styles);

}  // namespace tomos::cpp
