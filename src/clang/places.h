// Where annotations stand: an attribute behind the declarator, a comment before the declaration.
// Nowhere (an invalid location) if a macro makes the declaration.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

namespace tomos::cpp {

// Of a field or a variable; of a function, at its first declaration: behind the parameters, where
// cv-qualifiers and such may follow, or before its name if it has a trailing return type. A lambda
// without parameters: its body.
clang::SourceLocation place_of(const clang::ValueDecl& decl, const clang::ASTContext& context);

clang::SourceLocation begin_of(const clang::FunctionDecl& function);

// What it leads to is reached with ->.
bool is_pointer(clang::QualType type);

bool is_lambda(const clang::FunctionDecl& function);

// A global or a field, or its address, that holds an object of several parts: who copies it as a
// whole does so in several steps, in each of which the variable is read or written.
bool names_parts(const clang::Expr& expr);

}  // namespace tomos::cpp
