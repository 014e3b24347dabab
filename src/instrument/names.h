// Names for people, from what the compiler knows: "bank::Account::deposit", "Queue<int>::push".
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>

namespace tomos::instrument {

// The names of one module.
class Names {
 public:
  explicit Names(const llvm::Module& module) : module_(module) {}

  // Qualified, with template arguments, without parameters and return type. A lambda is
  // "{lambda#2}" in the function that holds it: the second there, in the order of the source. A
  // name of C is itself.
  std::string of(const llvm::Function& function);

  // A type as its definition is qualified; const and typedefs are looked through, but for one that
  // names a type without a name of its own. Empty if there is no name at all.
  std::string of(const llvm::DIType* type);

 private:
  std::string qualified(const llvm::DIScope* scope, std::string name);
  std::string closure_name(const llvm::DICompositeType* closure);

  const llvm::Module& module_;
  std::optional<llvm::DenseMap<const llvm::DIType*, unsigned>> closures_;  // once asked for
};

// A class without a name that is the type of a lambda.
bool is_closure(const llvm::DIScope* scope);

// The whole path: as the compiler was told it, in the folder that it ran in.
std::string path_of(const llvm::DIFile& file);

// Whether a file belongs to the system: the headers of libc, of the C++ library, of the compiler.
bool is_system_file(const llvm::DIFile* file);

}  // namespace tomos::instrument
