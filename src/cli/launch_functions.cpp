// Which libraries a program will be linked with is for the system's dynamic linker to say, so it is
// asked (`LINKER --list PROGRAM`): search paths, caches and the environment are its business.
// Libraries beside the program are taken as well; one of them that is of no use is no error, for
// the program may never open it.
#include "cli/launch_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "runtime/abi.h"
#include "symbols/symbols.h"

namespace tomos {

namespace {

// Of gcc, and the name that it has in files with transactions (instrument/gcc_headers/tomos_tm.h).
constexpr std::array<std::string_view, 2> kHooks = {"__cyg_profile_func_enter",
                                                    "__tomos_profile_enter"};

// The little that has to be known of an ELF file. Nothing in it is trusted.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : in_(path, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) size_ = 0;
    const auto header = at<Elf64_Ehdr>(0);
    if (header &&
        std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) ==
            std::string_view(ELFMAG, SELFMAG) &&
        header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB) {
      header_ = header;
    }
  }

  // The dynamic linker it asks for; empty for what is not linked dynamically.
  std::string interpreter() {
    if (!header_) return "";
    for (std::uint64_t i = 0; i < header_->e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header_->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) break;
      if (segment->p_type != PT_INTERP) continue;
      const std::string name = bytes(segment->p_offset, segment->p_filesz);
      return name.substr(0, name.find('\0'));
    }
    return "";
  }

  bool imports(std::string_view symbol) {
    if (!header_) return false;
    for (std::uint64_t i = 0; i < header_->e_shnum; ++i) {
      const auto section = section_at(*header_, i);
      if (!section || section->sh_type != SHT_DYNSYM) continue;
      const auto strings = section_at(*header_, section->sh_link);
      return strings && undefined(bytes(section->sh_offset, section->sh_size),
                                  bytes(strings->sh_offset, strings->sh_size), symbol);
    }
    return false;
  }

 private:
  static bool undefined(std::string_view symbols, std::string_view names, std::string_view wanted) {
    for (std::size_t i = 0; i + sizeof(Elf64_Sym) <= symbols.size(); i += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::copy_n(symbols.data() + i, sizeof(symbol), reinterpret_cast<char*>(&symbol));
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= names.size()) continue;
      const std::string_view name = names.substr(symbol.st_name);
      if (name.substr(0, name.find('\0')) == wanted) return true;
    }
    return false;
  }

  std::optional<Elf64_Shdr> section_at(const Elf64_Ehdr& header, std::uint64_t number) {
    return at<Elf64_Shdr>(header.e_shoff + number * sizeof(Elf64_Shdr));
  }

  std::string bytes(std::uint64_t offset, std::uint64_t count) {
    if (offset > size_ || count > size_ - offset) return "";
    std::string result(count, '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(result.data(), static_cast<std::streamsize>(count));
    return in_ ? result : "";
  }

  template <class T>
  std::optional<T> at(std::uint64_t offset) {
    const std::string raw = bytes(offset, sizeof(T));
    if (raw.size() != sizeof(T)) return std::nullopt;
    T value;
    std::copy_n(raw.data(), sizeof(T), reinterpret_cast<char*>(&value));
    return value;
  }

  std::ifstream in_;
  std::uint64_t size_ = 0;
  std::optional<Elf64_Ehdr> header_;
};

// What a command prints; nothing if it cannot be started.
std::string output_of(std::vector<std::string> words) {
  std::array<int, 2> pipe = {};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return "";
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    if (null < 0) ::_exit(127);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string text;
  std::array<char, 4096> buffer = {};
  for (ssize_t got = 1; pid > 0 && got != 0;) {
    got = ::read(pipe[0], buffer.data(), buffer.size());
    if (got < 0 && errno != EINTR) break;
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return text;
}

// Lines like "  libz.so.1 => /lib/libz.so.1 (0x00007f...)".
std::vector<std::string> libraries(const std::string& linker, const std::string& program) {
  std::vector<std::string> result;
  for (const std::string& line : split(output_of({linker, "--list", program}), '\n')) {
    const std::size_t arrow = line.find("=> /");
    const std::size_t end = line.rfind(" (0x");
    if (arrow == std::string::npos || end == std::string::npos || end < arrow + 3) continue;
    result.push_back(line.substr(arrow + 3, end - arrow - 3));
  }
  return result;
}

// What a program opens while it runs (dlopen) nobody can list, but mostly it lies beside it.
std::vector<std::string> libraries_beside(const std::string& program) {
  namespace fs = std::filesystem;
  std::vector<std::string> result;
  std::error_code error;
  fs::directory_iterator entry(fs::path(program).parent_path(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    if (entry->path().filename().string().contains(".so") && entry->is_regular_file(unreadable)) {
      result.push_back(entry->path().string());
    }
  }
  return result;
}

std::uint32_t flags_of(const Symbols::Function& function) {
  std::uint32_t flags = function.system ? 0U : runtime::kUserCode;
  if (function.external && !function.is_private && !function.system && function.name != "main") {
    flags |= runtime::kCandidate;
  }
  if (flags != 0 && function.waits) flags |= runtime::kWaits;
  return flags;
}

std::string lines_for(const std::string& module, std::vector<Symbols::Function> functions) {
  std::ranges::sort(functions, {}, &Symbols::Function::entry);
  const auto cell = [](std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    return text;
  };
  std::string text;
  for (const Symbols::Function& function : functions) {
    if (flags_of(function) == 0) continue;  // what is not in the table is not the user's
    text += fmt::format("{}\t{:x}\t{:x}\t{}\t{}\t{}\n", module, function.entry, flags_of(function),
                        function.line, cell(function.name), cell(function.file));
  }
  return text;
}

}  // namespace

Result<bool> write_functions(const std::string& program, const std::string& table) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(program, error).string();
  if (error) return false;
  const std::string linker = ElfFile(real).interpreter();
  if (linker.empty()) return false;
  std::vector<std::string> linked = libraries(linker, real);
  linked.push_back(real);
  std::vector<std::string> modules = libraries_beside(real);
  modules.insert(modules.end(), linked.begin(), linked.end());
  std::erase_if(modules, [](const std::string& path) {
    ElfFile file(path);
    return std::ranges::none_of(kHooks, [&](std::string_view hook) { return file.imports(hook); });
  });
  if (modules.empty()) return false;
  std::ranges::sort(modules);
  const auto again = std::ranges::unique(modules);
  modules.erase(again.begin(), again.end());

  std::ofstream out(table, std::ios::binary);
  for (const std::string& module : modules) {
    auto functions = Symbols::functions(module, runtime::kConditionWaits);
    if (functions) {
      out << lines_for(module, std::move(*functions));
    } else if (contains(linked, module)) {
      return std::unexpected(std::move(functions.error()));
    }
  }
  if (!out.flush()) {
    return std::unexpected(
        Error{.where = table,
              .what = "cannot write the table of functions",
              .remedy = "Make room on the disk, or let TMPDIR name another folder."});
  }
  return true;
}

FunctionTable::FunctionTable(const std::string& program)
    : descriptor_(::memfd_create("tomos-functions", MFD_CLOEXEC)) {
  if (descriptor_ < 0) return;
  const std::string table = fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_);
  if (write_functions(program, table).value_or(false)) path_ = table;
}

FunctionTable::~FunctionTable() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FunctionTable::survive_exec() const {
  if (descriptor_ >= 0) (void)::fcntl(descriptor_, F_SETFD, 0);
}

}  // namespace tomos
