// Names from real files: small libraries that both compilers made (tests/unit/symbols), loaded
// here, which tell where they are; and this very process.
#include "symbols/symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tomos {
namespace {

using Told = std::map<std::string, std::uint64_t>;
Told* told;

void tell(const char* what, const void* address) {
  told->emplace(what, reinterpret_cast<std::uint64_t>(address));
}

// A library loaded and run once, and what its debugging information says of the places it told.
struct Library {
  explicit Library(const std::string& name)
      : path(std::string(TOMOS_SYMBOLS_FIXTURES) + "/" + name + ".so") {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    void* run = dlsym(handle, "run");
    const link_map* map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map));
    bias = map->l_addr;
    told = &places;
    reinterpret_cast<void (*)(void (*)(const char*, const void*))>(run)(tell);
    symbols.add_module(path, bias, bias, bias + (1U << 24));
  }
  std::uint64_t operator[](const char* what) const {
    const auto place = places.find(what);
    return place == places.end() ? 0 : place->second;
  }
  const Frame& frame(const char* what) {
    static const Frame none;
    const std::vector<Frame>& frames = symbols.frames((*this)[what]);
    return frames.empty() ? none : frames.front();
  }
  std::string allocated(const char* what) { return symbols.allocated_type((*this)[what]); }

  std::string path;
  std::uint64_t bias = 0;
  Told places;
  Symbols symbols;
};

// The line of a fixture that carries the mark.
std::uint32_t marked(const std::string& file, const std::string& mark) {
  std::ifstream source(std::string(TOMOS_SOURCE_DIR) + "/tests/unit/symbols/" + file);
  std::string text;
  for (std::uint32_t line = 1; std::getline(source, text); ++line) {
    if (text.ends_with("// @" + mark)) return line;
  }
  return 0;
}

class SymbolsOf : public testing::TestWithParam<const char*> {
 protected:
  Library library_{std::string("bank-") + GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Compilers, SymbolsOf,
                         testing::Values("clang-O0", "clang-O2", "gcc-O0", "gcc-O2"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(SymbolsOf, FunctionsHaveQualifiedNamesAndLines) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"deposit", {"bank::Account::deposit"}},
      {"private", {"bank::Account::check"}},
      {"template", {"bank::Account::add<long>", "bank::Account::add<long int>"}},
      {"hidden", {"bank::(anonymous namespace)::hidden"}},
      {"lambda", {"run::{lambda#1}::operator()", "run::{lambda#2}::operator()"}}};
  for (const auto& [what, names] : expected) {
    const Frame& frame = library_.frame(what.c_str());
    EXPECT_TRUE(std::ranges::find(names, frame.function) != names.end()) << frame.function;
    EXPECT_EQ(frame.line, marked("bank.cpp", what)) << what;
    EXPECT_GT(frame.column, 0U) << what;
    EXPECT_TRUE(frame.file.starts_with('/') && frame.file.ends_with("/tests/unit/symbols/bank.cpp"))
        << frame.file;
    EXPECT_FALSE(frame.system);
  }
  EXPECT_TRUE(library_.symbols.problems().empty());
}

TEST_P(SymbolsOf, InlinedFunctionsAreFrames) {
  const std::vector<Frame>& frames = library_.symbols.frames(library_["inlined"]);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].function, "bank::inner");
  EXPECT_EQ(frames[0].line, marked("bank.cpp", "inlined"));
  EXPECT_EQ(frames[1].function, "bank::outer");
  EXPECT_EQ(frames[1].line, marked("bank.cpp", "inlined-2"));
  EXPECT_GT(frames[1].column, 0U);
  EXPECT_EQ(frames[2].function, "bank::Account::deposit");
  EXPECT_EQ(frames[2].line, marked("bank.cpp", "inlined-3"));
  EXPECT_GT(frames[2].column, 0U);
}

TEST_P(SymbolsOf, GlobalsDownToTheMember) {
  const auto global = [&](const char* what) { return library_.symbols.global(library_[what]); };
  EXPECT_EQ(global("static"), "bank::next_id::id");
  EXPECT_EQ(global("counter"), "bank::(anonymous namespace)::hidden_count");
  EXPECT_EQ(global("table[3].key[1]"), "bank::(anonymous namespace)::table[3].key[1]");
  EXPECT_EQ(global("table[0].next"), "bank::(anonymous namespace)::table[0].next");
  EXPECT_EQ(global("member"), "bank::Account::count_");
  EXPECT_EQ(global("order.id"), "bank::v1::order.customer.id");
  EXPECT_EQ(global("order.name"), "bank::v1::order.customer.name");
  EXPECT_EQ(global("order.age"), "bank::v1::order.customer.age");
  EXPECT_EQ(global("order.amounts"), "bank::v1::order.amounts[1][2]");
  EXPECT_EQ(global("order.people"), "bank::v1::order.people[2].initials[1]");
  EXPECT_EQ(global("order.pair"), "bank::v1::order.pair.second.id");
  EXPECT_EQ(global("order.items"), "bank::v1::order.items");
  EXPECT_EQ(global("lock"), "bank::v1::lock");
  EXPECT_EQ(library_.symbols.global(library_.bias), "");
  EXPECT_EQ(library_.symbols.global(1), "");
}

TEST_P(SymbolsOf, AllocatedTypes) {
  EXPECT_EQ(library_.allocated("new-vector"), "bank::Order");
  EXPECT_EQ(library_.allocated("new-list"), "std::_List_node<bank::Person>");
  EXPECT_TRUE(library_.allocated("new-map").starts_with("std::_Rb_tree_node<std::pair<"));
  EXPECT_EQ(library_.allocated("new-shared"), "std::_Sp_counted_ptr_inplace<bank::Order>");
  EXPECT_EQ(library_.allocated("new-unique"), "bank::Person");
  EXPECT_EQ(library_.allocated("new-declared"), "bank::Person");
  EXPECT_EQ(library_.allocated("new-recorded"), "bank::Hidden")
      << library_.frame("new-recorded").line << ":" << library_.frame("new-recorded").column;
  EXPECT_EQ(library_.allocated("new-template"), "bank::Person")
      << library_.frame("new-template").line << ":" << library_.frame("new-template").column;
  EXPECT_EQ(library_.allocated("new-unknown"), "");
  EXPECT_EQ(library_.allocated("deposit"), "");
}

// What is handed on is of the type it is received as only if it has that type's size.
TEST_P(SymbolsOf, ReceivedTypes) {
  const std::uint64_t recorded = library_["new-recorded"];
  EXPECT_EQ(library_.symbols.received_type(recorded, 8), "bank::Hidden");
  EXPECT_EQ(library_.symbols.received_type(recorded, 24), "bank::Hidden") << "malloc rounds up";
  EXPECT_EQ(library_.symbols.received_type(recorded, 40), "");
  EXPECT_EQ(library_.symbols.received_type(recorded, 4), "");
  EXPECT_EQ(library_.symbols.received_type(library_["new-declared"], 8), "");
}

TEST_P(SymbolsOf, FieldsOfTypes) {
  Symbols& symbols = library_.symbols;
  EXPECT_EQ(symbols.field("bank::Account", 0), "bank::Account::m_");
  EXPECT_EQ(symbols.field("bank::Account", 39), "bank::Account::m_");
  EXPECT_EQ(symbols.field("bank::Account", 40), "bank::Account::balance_");
  EXPECT_EQ(symbols.field("bank::Account", 52), "bank::Account::history_[2]");
  EXPECT_EQ(symbols.field("const bank::Account", 42), "bank::Account::balance_");
  EXPECT_EQ(symbols.field("bank::Account", 64 * 3 + 40), "bank::Account[3]::balance_");
  EXPECT_EQ(symbols.field("bank::Customer", 0), "bank::Customer::vptr");
  EXPECT_EQ(symbols.field("bank::Customer", 8), "bank::Person::id");
  EXPECT_EQ(symbols.field("bank::Customer", 17), "bank::Person::initials[1]");
  EXPECT_EQ(symbols.field("bank::Customer", 30), "bank::Customer::name");
  EXPECT_EQ(symbols.field("bank::Customer", 56), "bank::Customer::age");
  EXPECT_EQ(symbols.field("bank::Customer", 60), "bank::Customer::gold");
  EXPECT_EQ(symbols.field("bank::Customer", 61), "bank::Customer::rank");
  EXPECT_EQ(symbols.field("bank::Order", 0), "bank::Order::number");
  EXPECT_EQ(symbols.field("bank::Order", 16), "bank::Order::customer.id");
  EXPECT_EQ(symbols.field("bank::Order", 4), "bank::Order+4");
  EXPECT_EQ(symbols.field("bank::(anonymous namespace)::Node", 12),
            "bank::(anonymous namespace)::Node::key[1]");
  EXPECT_EQ(symbols.field("bank::Node*", 24), "bank::Node*[3]");
  EXPECT_EQ(symbols.field("int", 0), "int");
  EXPECT_EQ(symbols.field("int", 8), "int[2]");
  EXPECT_EQ(symbols.field("bank::Nobody", 8), "");
  EXPECT_EQ(symbols.field("", 8), "");
}

TEST_P(SymbolsOf, NodesOfTheLibraryHoldTheUsersObject) {
  Symbols& symbols = library_.symbols;
  EXPECT_EQ(symbols.field(library_.allocated("new-list"), 16), "bank::Person::id");
  EXPECT_TRUE(symbols.field(library_.allocated("new-map"), 40).ends_with("::second.id"))
      << symbols.field(library_.allocated("new-map"), 40);
  EXPECT_EQ(symbols.field(library_.allocated("new-shared"), 16), "bank::Order::number");
  EXPECT_TRUE(symbols.field(library_.allocated("new-shared"), 8).ends_with("::_M_use_count"));
}

TEST_P(SymbolsOf, FunctionsOfAFile) {
  const Result<std::vector<Symbols::Function>> functions = Symbols::functions(library_.path);
  ASSERT_TRUE(functions) << functions.error().what;
  const auto find = [&](const std::string& name) {
    const auto found = std::ranges::find(*functions, name, &Symbols::Function::name);
    return found == functions->end() ? Symbols::Function{} : *found;
  };
  const Symbols::Function deposit = find("bank::Account::deposit");
  EXPECT_TRUE(deposit.external);
  EXPECT_FALSE(deposit.is_private || deposit.system);
  EXPECT_GT(deposit.line, 0U);
  EXPECT_TRUE(deposit.file.ends_with("bank.cpp"));
  EXPECT_LE(deposit.entry + library_.bias, library_["deposit"]);
  EXPECT_TRUE(find("bank::Account::check").is_private);
  EXPECT_FALSE(find("bank::Account::check").entry == 0);
  EXPECT_FALSE(find("bank::(anonymous namespace)::hidden").external);
  EXPECT_NE(find("bank::(anonymous namespace)::hidden").entry, 0U);
  // With g++ -O2 in two pieces; the one with the entry begins on the line of the function.
  const Symbols::Function allocations = find("allocations");
  ASSERT_NE(allocations.entry, 0U);
  const std::vector<Frame>& first = library_.symbols.frames(allocations.entry + library_.bias + 1);
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first.front().function, "allocations");
  EXPECT_EQ(first.front().line, allocations.line);
  EXPECT_TRUE(std::ranges::is_sorted(*functions, {}, &Symbols::Function::entry));
}

TEST(Symbols, InC) {
  for (const char* name : {"queue-gcc-O0", "queue-gcc-O2", "queue-clang-O0", "queue-clang-O2"}) {
    Library library(name);
    EXPECT_EQ(library.frame("push").function, "push");
    EXPECT_EQ(library.frame("push").line, marked("queue.c", "push"));
    EXPECT_EQ(library.symbols.global(library["queue.items[2].data"]), "queue.items[2].data");
    EXPECT_EQ(library.symbols.global(library["depth"]), "depth");
    EXPECT_EQ(library.allocated("malloc"), "item") << name;
    EXPECT_EQ(library.symbols.field("struct item", 8), "item::flags");
    // Nobody has written the names inside of a lock.
    EXPECT_EQ(library.symbols.global(library["guards.ready"]), "guards.ready");
    EXPECT_EQ(library.symbols.global(library["guards.locks[1]"]), "guards.locks[1]");
    EXPECT_EQ(library.symbols.field("pthread_mutex_t", 0), "pthread_mutex_t");
    EXPECT_EQ(library.symbols.field("queue_t", 4), "queue_t::tail");
    EXPECT_EQ(library.symbols.field("queue_t", 24), "queue_t::items[1].data");
  }
}

TEST(Symbols, WithoutDebuggingInformation) {
  Library library("bank-none");
  EXPECT_EQ(library.frame("deposit").function, "bank::Account::deposit");
  EXPECT_TRUE(library.frame("deposit").system);
  EXPECT_EQ(library.frame("deposit").line, 0U);
  EXPECT_EQ(library.symbols.global(library["member"]), "bank::Account::count_");
  EXPECT_EQ(library.symbols.global(library["order.id"] + 1).substr(0, 16), "bank::v1::order+");
  EXPECT_EQ(library.symbols.field("bank::Account", 0), "");
  ASSERT_EQ(library.symbols.problems().size(), 1U);
  EXPECT_TRUE(library.symbols.problems()[0].contains("no debugging information"));
  EXPECT_FALSE(Symbols::functions(library.path));
}

TEST(Symbols, WithLinesOnly) {
  Library library("bank-lines");
  EXPECT_EQ(library.frame("deposit").function, "bank::Account::deposit");
  EXPECT_EQ(library.frame("deposit").line, marked("bank.cpp", "deposit"));
  EXPECT_EQ(library.symbols.frames(library["inlined"]).size(), 3U);
}

TEST(Symbols, DebuggingInformationSplitOff) {
  Library library("bank-split");
  EXPECT_EQ(library.frame("deposit").function, "bank::Account::deposit");
  EXPECT_EQ(library.frame("deposit").line, marked("bank.cpp", "deposit"));
  EXPECT_EQ(library.symbols.field("bank::Account", 40), "bank::Account::balance_");
}

int of_this_process[3];

__attribute__((noinline)) std::uint64_t here() {
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

TEST(Symbols, OfThisProcess) {
  Symbols symbols;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        std::uint64_t end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          end = std::max(end, info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        }
        const std::string path = *info->dlpi_name == '\0' ? "/proc/self/exe" : info->dlpi_name;
        static_cast<Symbols*>(data)->add_module(path, info->dlpi_addr, info->dlpi_addr,
                                                info->dlpi_addr + end);
        return 0;
      },
      &symbols);
  const std::uint64_t pc = here();
  const std::vector<Frame>& frames = symbols.frames(pc);
  ASSERT_FALSE(frames.empty());
  EXPECT_TRUE(frames[0].function.ends_with("Symbols_OfThisProcess_Test::TestBody"))
      << frames[0].function;
  EXPECT_TRUE(frames[0].file.ends_with("symbols_test.cpp"));
  EXPECT_EQ(&frames, &symbols.frames(pc)) << "asked once, known";
  of_this_process[1] = 1;
  EXPECT_TRUE(symbols.global(reinterpret_cast<std::uint64_t>(&of_this_process[1]))
                  .contains("of_this_process"));
  // The C library: somebody else's, whether or not its debugging information is installed.
  const auto* code = reinterpret_cast<const char*>(dlsym(RTLD_DEFAULT, "qsort_r"));
  const std::vector<Frame>& system = symbols.frames(reinterpret_cast<std::uint64_t>(code) + 1);
  ASSERT_FALSE(system.empty());
  EXPECT_TRUE(system.front().system);
  EXPECT_TRUE(symbols.frames(1).empty());
  EXPECT_TRUE(symbols.frames(0).empty());
}

TEST(Symbols, AFileThatIsNotThere) {
  Symbols symbols;
  symbols.add_module("/nowhere/lib.so", 0x1000, 0x1000, 0x2000);
  ASSERT_EQ(symbols.frames(0x1800).size(), 1U);
  EXPECT_EQ(symbols.frames(0x1800)[0].function, "/nowhere/lib.so");
  EXPECT_TRUE(symbols.frames(0x1800)[0].system);
  EXPECT_EQ(symbols.global(0x1800), "");
  EXPECT_EQ(symbols.allocated_type(0x1800), "");
  EXPECT_EQ(symbols.problems().size(), 1U);
  EXPECT_FALSE(Symbols::functions("/nowhere/lib.so"));
}

class WaysToAWait : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Calls, WaysToAWait,
                         testing::Values("clang_O0", "clang_O2", "gcc_O0", "gcc_O2", "tables",
                                         "no_plt"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(WaysToAWait, AreFoundInTheCode) {
  std::string file = std::string("queue-") + GetParam();
  std::ranges::replace(file, '_', '-');
  constexpr std::array kWaits = {"cnd_wait", "pthread_cond_wait"};
  const auto functions =
      Symbols::functions(std::string(TOMOS_SYMBOLS_FIXTURES) + "/" + file + ".so", kWaits);
  ASSERT_TRUE(functions) << functions.error().what;
  std::map<std::string, bool> waits;
  for (const Symbols::Function& function : *functions) waits[function.name] = function.waits;
  EXPECT_TRUE(waits.at("await_item"));
  EXPECT_TRUE(waits.at("take"));
  EXPECT_TRUE(waits.at("take_two"));
  EXPECT_FALSE(waits.at("peek"));
  EXPECT_FALSE(waits.at("take_somehow"));  // through a pointer
  EXPECT_FALSE(waits.at("run"));
}

// Every question, to a file that is not what it should be: any answer will do.
void ask_everything(const std::string& path, const Library& library) {
  Symbols symbols;
  symbols.add_module(path, library.bias, library.bias, library.bias + (1U << 24));
  for (const auto& [what, address] : library.places) {
    symbols.frames(address);
    symbols.global(address);
    symbols.allocated_type(address);
  }
  for (const char* type : {"bank::Order", "bank::Account", "int", "std::mutex",
                           "std::_Sp_counted_ptr_inplace<bank::Order>"}) {
    for (std::uint64_t offset = 0; offset < 200; offset += 3) symbols.field(type, offset);
  }
  constexpr std::array kImported = {"_Znwm"};
  const Result<std::vector<Symbols::Function>> functions = Symbols::functions(path, kImported);
  EXPECT_TRUE(functions || !functions.error().what.empty());
  EXPECT_LE(symbols.problems().size(), 1U);
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Symbols, DamagedFiles) {
  std::mt19937 random(1);
  for (const char* name : {"bank-clang-O2", "bank-gcc-O2"}) {
    Library library(name);
    const std::string whole = read_file(library.path);
    const std::string path = testing::TempDir() + "tomos-damaged-" + name + ".so";
    for (int round = 0; round < 60; ++round) {
      std::string bytes = whole;
      if (round % 3 == 0) bytes.resize(random() % bytes.size());
      const std::size_t flips = round % 3 == 0 ? 0 : 1 + random() % 200;
      for (std::size_t i = 0; i < flips && !bytes.empty(); ++i) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      write_file(path, bytes);
      ask_everything(path, library);
    }
    std::filesystem::remove(path);
  }
}

// Each byte of the first unit's header, with each of a few values. Kinds of units that libdw does
// not know come without entries.
TEST(Symbols, DamagedUnitHeader) {
  constexpr std::size_t kHeader = 12;
  for (const char* name : {"bank-clang-O0", "bank-gcc-O0"}) {
    Library library(name);
    std::string bytes = read_file(library.path);
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto section = [&](std::size_t index) {
      ElfW(Shdr) found;
      std::memcpy(&found, bytes.data() + header.e_shoff + index * sizeof found, sizeof found);
      return found;
    };
    const std::size_t names = section(header.e_shstrndx).sh_offset;
    std::size_t info = 0;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      if (std::string_view(bytes.data() + names + section(i).sh_name) == ".debug_info") {
        info = section(i).sh_offset;
      }
    }
    ASSERT_NE(info, 0U);
    const std::string path = testing::TempDir() + "tomos-header-" + name + ".so";
    for (std::size_t at = info; at < info + kHeader; ++at) {
      const char original = bytes[at];
      for (const int value : {0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0xff}) {
        bytes[at] = static_cast<char>(value);
        write_file(path, bytes);
        ask_everything(path, library);
      }
      bytes[at] = original;
    }
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace tomos
