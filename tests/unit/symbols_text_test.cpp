// Spellings of names: what demanglers and compilers write, and what is shown.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "symbols/text.h"

namespace tomos::symbols {
namespace {

TEST(SymbolText, FunctionsWithoutParameters) {
  const std::vector<std::pair<const char*, const char*>> names = {
      {"main", "main"},
      {"f(int)", "f"},
      {"ns::Account::deposit(int) const", "ns::Account::deposit"},
      {"ns::Account::take() &&", "ns::Account::take"},
      {"void ns::f<int>(int)", "ns::f<int>"},
      {"unsigned long const& f<A<int> >(A<int> const&)", "f<A<int>>"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}::operator()"},
      {"f(int) const::{lambda()#1}::operator()() const", "f::{lambda#1}::operator()"},
      {"f(int)::Local::g()", "f::Local::g"},
      {"bool operator==<A>(A const&, A const&)", "operator==<A>"},
      {"operator<<(std::ostream&, A const&)", "operator<<"},
      {"std::ostream& operator<< <int>(std::ostream&, A<int>)", "operator<< <int>"},
      {"A::operator->() const", "A::operator->"},
      {"A::operator bool() const", "A::operator bool"},
      {"A::operator std::vector<int>() const", "A::operator std::vector<int>"},
      {"operator new(unsigned long)", "operator new"},
      {"operator delete[](void*)", "operator delete[]"},
      {"f(void (*)(int), int)", "f"},
      {"f(int) [clone .cold]", "f"},
      {"name[abi:cxx11]()", "name"},
      {"my_operator(int)", "my_operator"},
      {"operators::f(int)", "operators::f"},
      {"decltype (x) f<int>(int)", "f<int>"},
      {"void f<(Kind)2, (a > b)>(int)", "f<(Kind)2, (a > b)>"},
      {"", ""},
      {"(", ""},
      {"<", "<"},
      {"f<", "f<"},
      {"operator", "operator"},
      {"{(", "{"}};
  for (const auto& [from, to] : names) EXPECT_EQ(without_parameters(from), to) << from;
}

TEST(SymbolText, OneSpellingForBothCompilers) {
  EXPECT_EQ(tidy_name("A<B<int> >"), "A<B<int>>");
  EXPECT_EQ(tidy_name("A<B<C<int> > >"), "A<B<C<int>>>");
  EXPECT_EQ(tidy_name("A<{anonymous}::B>"), "A<(anonymous namespace)::B>");
  EXPECT_EQ(tidy_name("std::__cxx11::basic_string<char, std::char_traits<char>, "
                      "std::allocator<char> >"),
            "std::string");
  EXPECT_EQ(tidy_name("std::vector<std::vector<int, std::allocator<int> >, "
                      "std::allocator<std::vector<int, std::allocator<int> > > >"),
            "std::vector<std::vector<int>>");
  EXPECT_EQ(
      tidy_name("std::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > >"),
      "std::map<int, A>");
  EXPECT_EQ(tidy_name("std::set<int, Mine, std::allocator<int> >"), "std::set<int, Mine>");
  EXPECT_EQ(tidy_name("std::allocator<int>"), "std::allocator<int>");
  EXPECT_EQ(tidy_name("A<int, std::allocator<int>, 3>"), "A<int, std::allocator<int>, 3>");
  EXPECT_EQ(tidy_name("A<int, std::allocator<"), "A<int, std::allocator<");
}

TEST(SymbolText, SymbolsOfTheLinker) {
  EXPECT_EQ(symbol_name("_ZN4bank7Account7depositEi"), "bank::Account::deposit");
  EXPECT_EQ(symbol_name("stdout@GLIBC_2.2.5"), "stdout");
  EXPECT_EQ(symbol_name("_ZTV7Account"), "vtable for Account");
  EXPECT_EQ(symbol_name("_Znonsense"), "_Znonsense");
}

TEST(SymbolText, TemplateArguments) {
  using Arguments = std::vector<std::string>;
  EXPECT_EQ(template_arguments("ns::f<int, A<B, C>>"), (Arguments{"int", "A<B, C>"}));
  EXPECT_EQ(template_arguments("A<int>::B<long>"), (Arguments{"long"}));
  EXPECT_EQ(template_arguments("A<int>::f"), Arguments());
  EXPECT_EQ(template_arguments("A<void (int, int)>"), (Arguments{"void (int, int)"}));
  EXPECT_EQ(template_arguments("f"), Arguments());
  EXPECT_EQ(template_arguments("operator>"), Arguments());
  EXPECT_EQ(last_part("ns::A<b::C>::f<int>"), "f<int>");
  EXPECT_EQ(last_identifier("ns::A<b::C>::f<int>"), "f");
  EXPECT_EQ(last_identifier("(anonymous namespace)::Node"), "Node");
  EXPECT_EQ(last_identifier(""), "");
}

TEST(SymbolText, FilesOfTheSystem) {
  EXPECT_TRUE(is_system_file("/usr/include/c++/12/vector"));
  EXPECT_TRUE(is_system_file("/usr/lib/llvm-19/lib/clang/19/include/stddef.h"));
  EXPECT_TRUE(is_system_file("/opt/gcc/include/c++/14/vector"));
  EXPECT_FALSE(is_system_file("/usr/src/mine/a.cpp"));
  EXPECT_FALSE(is_system_file("/home/me/lib/a.cpp"));
  EXPECT_FALSE(is_system_file(""));
}

}  // namespace
}  // namespace tomos::symbols
