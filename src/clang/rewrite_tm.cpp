#include "clang/rewrite_tm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace tomos::cpp {

namespace {

// A word before a block, the word that stands for it there, and what that means.
struct BlockWord {
  std::string_view word;
  std::string_view replacement;
};
constexpr std::array kBlockWords = {
    BlockWord{"synchronized", "__tomos_sync"},
    BlockWord{"atomic_noexcept", "__tomos_noexcep"},
    BlockWord{"atomic_commit", "__tomos_commt"},
    BlockWord{"atomic_cancel", "__tomos_cancl"},
};
struct TransactionWord {
  std::string_view word;
  std::string_view expression;
  std::string_view function;
};
constexpr std::array kTransactionWords = {
    TransactionWord{"__transaction_atomic", "__tomos_tm_atomic_ex", "__tomos_tm_atomic_fn"},
    TransactionWord{"__transaction_relaxed", "__tomos_tm_relaxed_ex", "__tomos_tm_relaxed_fn"},
};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Words and single characters with their places; comments and literals are left out.
struct WordAt {
  std::string_view text;
  std::size_t at = 0;
};

std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::vector<WordAt> words_in(std::string_view text) {
  std::vector<WordAt> words;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = text.find('(', at);
      if (open == std::string_view::npos) break;
      const std::string close = ")" + std::string(text.substr(at + 2, open - at - 2)) + "\"";
      const std::size_t end = text.find(close, open);
      at = end == std::string_view::npos ? text.size() : end + close.size();
    } else if (c == '"' || c == '\'') {
      at = end_of_literal(text, at);
    } else if (is_word_character(c)) {
      std::size_t end = at;
      // 1'000 is one number.
      while (end < text.size() &&
             (is_word_character(text[end]) ||
              (text[end] == '\'' && std::isdigit(static_cast<unsigned char>(c)) != 0 &&
               end + 1 < text.size() && is_word_character(text[end + 1])))) {
        ++end;
      }
      words.push_back({.text = text.substr(at, end - at), .at = at});
      at = end;
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        words.push_back({.text = text.substr(at, 1), .at = at});
      }
      ++at;
    }
  }
  return words;
}

// Whether the block that follows word i is the body of a function: what stands before it closes
// its parameters, and no `if` or loop stands before these.
bool begins_function(const std::vector<WordAt>& words, std::size_t i) {
  constexpr std::array kBetween = {"const", "noexcept", "override", "final", "volatile"};
  while (i > 0 && std::ranges::find(kBetween, words[i - 1].text) != kBetween.end()) --i;
  if (i == 0 || words[i - 1].text != ")") return false;
  std::size_t open = i - 1;
  for (int depth = 0;; --open) {
    if (words[open].text == ")") ++depth;
    if (words[open].text == "(" && --depth == 0) break;
    if (open == 0) return false;
  }
  if (open == 0) return false;
  constexpr std::array kBefore = {"if", "while", "for", "switch", "constexpr"};
  const std::string_view before = words[open - 1].text;
  return is_word_character(before.front()) && std::ranges::find(kBefore, before) == kBefore.end();
}

bool may_hold_transactions(std::string_view text, const TransactionStyles& styles) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return has("__transaction_") || std::ranges::any_of(kBlockWords, has, &BlockWord::word) ||
         std::ranges::any_of(styles.macros, [&](const auto& macro) {
           return has(macro.first) || has(macro.second);
         });
}

class RewrittenFile : public llvm::vfs::File {
 public:
  RewrittenFile(std::unique_ptr<llvm::vfs::File> original, std::string text)
      : original_(std::move(original)), text_(std::move(text)) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return original_->status(); }
  llvm::ErrorOr<std::string> getName() override { return original_->getName(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name,
                                                               std::int64_t /*size*/,
                                                               bool /*terminated*/,
                                                               bool /*is_volatile*/) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_, name);
  }
  std::error_code close() override { return original_->close(); }

 private:
  std::unique_ptr<llvm::vfs::File> original_;
  std::string text_;
};

class RewrittenFiles : public llvm::vfs::ProxyFileSystem {
 public:
  RewrittenFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below, TransactionStyles styles)
      : ProxyFileSystem(std::move(below)), styles_(std::move(styles)) {}

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    auto file = ProxyFileSystem::openFileForRead(path);
    const std::string name = path.str();
    if (!file || name.starts_with("/usr/include") || name.starts_with("/usr/lib")) return file;
    auto buffer = (*file)->getBuffer(path, -1, true, false);
    if (!buffer) return ProxyFileSystem::openFileForRead(path);
    const llvm::StringRef text = (*buffer)->getBuffer();
    const std::string_view view(text.data(), text.size());
    std::string rewritten = may_hold_transactions(view, styles_)
                                ? rewrite_transactions(view, styles_)
                                : std::string(view);
    return std::make_unique<RewrittenFile>(std::move(*file), std::move(rewritten));
  }

 private:
  TransactionStyles styles_;
};

}  // namespace

std::string rewrite_transactions(std::string_view text, const TransactionStyles& styles) {
  std::string out(text);
  const std::vector<WordAt> words = words_in(text);
  const auto put = [&](std::size_t i, std::string_view with) {
    out.replace(words[i].at, words[i].text.size(), with);
  };
  const auto is = [&](std::size_t i, std::string_view word) {
    return i < words.size() && words[i].text == word;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    for (const TransactionWord& known : kTransactionWords) {
      if (word != known.word) continue;
      if (is(i + 1, "(")) {
        put(i, known.expression);
      } else if ((is(i + 1, "{") || is(i + 1, "try")) && begins_function(words, i)) {
        put(i, known.function);
      }
    }
    for (const BlockWord& known : kBlockWords) {
      if (word == known.word && is(i + 1, "{")) put(i, known.replacement);
    }
    if (word == "define" && i > 0 && is(i - 1, "#") && i + 1 < words.size()) {
      const bool ours = std::ranges::any_of(styles.macros, [&](const auto& macro) {
        return words[i + 1].text == macro.first || words[i + 1].text == macro.second;
      });
      if (ours) put(i, "pragma");
    }
  }
  return out;
}

std::vector<std::string> transaction_macros(const TransactionStyles& styles) {
  const std::string block = "[[clang::suppress(\"tm.atomic\")]]";
  const std::string expression = "(...)=({ typedef int tomos_tm_atomic; __VA_ARGS__; })";
  const std::string function = "=__attribute__((annotate(\"tm.atomic\")))";
  std::vector<std::string> macros;
  for (const TransactionWord& word : kTransactionWords) {
    macros.push_back("-D" + std::string(word.word) + "=" + block);
    macros.push_back("-D" + std::string(word.expression) + expression);
    macros.push_back("-D" + std::string(word.function) + function);
  }
  for (const BlockWord& word : kBlockWords) {
    macros.push_back("-D" + std::string(word.replacement) + "=" + block);
  }
  macros.emplace_back("-D__transaction_cancel=((void)0)");
  for (const std::string_view word :
       {"transaction_safe", "transaction_unsafe", "transaction_callable", "transaction_pure",
        "transaction_safe_dynamic"}) {
    macros.push_back("-D" + std::string(word) + "=");
  }
  for (const auto& [begin, end] : styles.macros) {
    // No block: what is declared inside is known afterwards, unless the library's own is one.
    macros.push_back(
        fmt::format("-D{}(...)=__builtin_annotation(0, \"{}\");", begin, kMacroCalls.first));
    macros.push_back(
        fmt::format("-D{}(...)=__builtin_annotation(0, \"{}\");", end, kMacroCalls.second));
  }
  return macros;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> rewritten_files(
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below, const TransactionStyles& styles) {
  return llvm::makeIntrusiveRefCnt<RewrittenFiles>(std::move(below), styles);
}

}  // namespace tomos::cpp
