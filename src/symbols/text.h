// Names as text: what a linker's or a compiler's spelling looks like to a reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tomos::symbols {

// One spelling for what the compilers spell differently: "> >" is ">>", "{anonymous}" is
// "(anonymous namespace)", std::__cxx11 is std; and without the arguments that the standard library
// fills in by itself: "std::vector<int>", "std::string".
std::string tidy_name(std::string_view name);

// A function as frames show it: "ns::Account::deposit" of "void ns::Account::deposit(int) const",
// "main::{lambda#1}::operator()" of "main::{lambda(int)#1}::operator()(int) const".
std::string without_parameters(std::string_view demangled);

// The readable name of a symbol, function or object; a name that is not mangled stays as it is, but
// for the version of a versioned symbol ("stdout@GLIBC_2.2.5").
std::string symbol_name(const char* mangled);

// The template arguments at the end of a name: {"int", "A<B>"} of "ns::f<int, A<B>>".
std::vector<std::string> template_arguments(std::string_view name);

// The last part of a qualified name: "f<int>" of "ns::f<int>"; and without template arguments: "f".
std::string_view last_part(std::string_view name);
std::string_view last_identifier(std::string_view name);

bool is_std(std::string_view qualified_name);

// A file that is not the user's: of the system's or the compiler's own directories.
bool is_system_file(std::string_view path);

}  // namespace tomos::symbols
