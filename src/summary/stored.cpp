#include "summary/stored.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

namespace tomos::cpp {

namespace {

// Both directions have one description of the data, below: a stream either puts a value at the end
// of its bytes or takes it from their beginning.
struct Out {
  static constexpr bool kReads = false;
  std::string bytes;

  void raw(void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
};

struct In {
  static constexpr bool kReads = true;
  std::string_view bytes;
  bool good = true;

  void raw(void* data, std::size_t size) {
    good &= size <= bytes.size();
    if (!good) return;
    std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  }
};

template <class Stream, class T>
  requires std::is_integral_v<T>
void pass(Stream& stream, T& value) {
  stream.raw(&value, sizeof value);
}

// Any byte could be there, and a bool or an enumerator cannot be just any.
template <class Stream>
void pass(Stream& stream, bool& value) {
  std::uint8_t byte = value ? 1 : 0;
  stream.raw(&byte, 1);
  if constexpr (Stream::kReads) {
    stream.good &= byte <= 1;
    value = byte == 1;
  }
}

constexpr core::Lock::Kind last_of(core::Lock::Kind) { return core::Lock::Kind::kField; }
constexpr core::Basic last_of(core::Basic) { return core::Basic::kError; }
constexpr core::Predicate::Kind last_of(core::Predicate::Kind) {
  return core::Predicate::Kind::kHeld;
}
constexpr core::Expr::Kind last_of(core::Expr::Kind) { return core::Expr::Kind::kContinue; }
constexpr core::Expr::Excused last_of(core::Expr::Excused) {
  return core::Expr::Excused::kReported;
}
constexpr core::Guard::Kind last_of(core::Guard::Kind) { return core::Guard::Kind::kAtomic; }
constexpr core::Method::Kind last_of(core::Method::Kind) { return core::Method::Kind::kDestructor; }
// Numbers of things, which are looked at when all are there.
constexpr core::LockId last_of(core::LockId) { return core::LockId{~0U}; }
constexpr core::TermId last_of(core::TermId) { return core::TermId{~0U}; }
constexpr core::ExprId last_of(core::ExprId) { return core::ExprId{~0U}; }

template <class Stream, class T>
  requires std::is_enum_v<T>
void pass(Stream& stream, T& value) {
  auto number = std::to_underlying(value);
  stream.raw(&number, sizeof number);
  if constexpr (Stream::kReads) {
    if (number > std::to_underlying(last_of(value))) {
      stream.good = false;
      number = 0;
    }
    value = static_cast<T>(number);
  }
}

template <class Stream>
void pass(Stream& stream, std::string& text) {
  auto size = static_cast<std::uint32_t>(text.size());
  pass(stream, size);
  if constexpr (Stream::kReads) {
    stream.good &= size <= stream.bytes.size();
    if (!stream.good) return;
    text.resize(size);
  }
  stream.raw(text.data(), size);
}

// The number of elements; a stream that is read holds at least a byte for each.
template <class Stream, class Container>
std::uint32_t pass_size(Stream& stream, const Container& all) {
  auto size = static_cast<std::uint32_t>(all.size());
  pass(stream, size);
  if constexpr (Stream::kReads) {
    stream.good &= size <= stream.bytes.size();
    if (!stream.good) size = 0;
  }
  return size;
}

// Declared before the containers that hold them. The bindings name every member: a new one that is
// not stored does not compile.
template <class Stream>
void pass(Stream& stream, core::Position& of) {
  auto& [file, line, column] = of;
  pass(stream, file);
  pass(stream, line);
  pass(stream, column);
}
template <class Stream>
void pass(Stream& stream, core::Type& of);
template <class Stream>
void pass(Stream& stream, core::Parameter& of);
template <class Stream>
void pass(Stream& stream, core::Field& of);
template <class Stream>
void pass(Stream& stream, core::Method& of);
template <class Stream>
void pass(Stream& stream, core::Class& of);
template <class Stream>
void pass(Stream& stream, core::Term& of);
template <class Stream>
void pass(Stream& stream, core::Expr& of);
template <class Stream>
void pass(Stream& stream, Source& of);
template <class Stream>
void pass(Stream& stream, core::AnnotationMacros& of);

template <class Stream, class T>
void pass(Stream& stream, std::vector<T>& all) {
  const std::uint32_t size = pass_size(stream, all);
  if constexpr (Stream::kReads) {
    // One at a time: a size that the bytes do not bear out costs nothing.
    for (std::uint32_t i = 0; i < size && stream.good; ++i) pass(stream, all.emplace_back());
  } else {
    for (T& one : all) pass(stream, one);
  }
}

template <class Stream, class T>
void pass(Stream& stream, std::optional<T>& of) {
  bool has = of.has_value();
  pass(stream, has);
  if constexpr (Stream::kReads) {
    if (has) of.emplace();
  }
  if (of) pass(stream, *of);
}

template <class Stream>
void pass(Stream& stream, core::Type& of) {
  auto& [name, locks] = of;
  pass(stream, name);
  pass(stream, locks);
}

template <class Stream>
void pass(Stream& stream, core::Parameter& of) {
  auto& [type, name, display, is_pointer, is_constant, is_guard, position] = of;
  pass(stream, type);
  pass(stream, name);
  pass(stream, display);
  pass(stream, is_pointer);
  pass(stream, is_constant);
  pass(stream, is_guard);
  pass(stream, position);
}

template <class Stream>
void pass(Stream& stream, core::Field& of) {
  auto& [type, name, display, guard, is_given, is_pt_given, is_constant, is_static, is_pointer,
         is_borrowed, is_role, is_own_lock, is_capability, keeps, position, end] = of;
  pass(stream, type);
  pass(stream, name);
  pass(stream, display);
  pass(stream, guard.kind);
  pass(stream, guard.lock);
  pass(stream, is_given);
  pass(stream, is_pt_given);
  pass(stream, is_constant);
  pass(stream, is_static);
  pass(stream, is_pointer);
  pass(stream, is_borrowed);
  pass(stream, is_role);
  pass(stream, is_own_lock);
  pass(stream, is_capability);
  pass(stream, keeps);
  pass(stream, position);
  pass(stream, end);
}

template <class Stream>
void pass(Stream& stream, core::Method& of) {
  auto& [kind, atomicity, result, name, display, ghosts, parameters, requires_held, unsaid,
         acquires, releases, excludes, is_given, is_constant, is_private, is_unknown, no_warn, body,
         position, begin, end] = of;
  pass(stream, kind);
  pass(stream, atomicity);
  pass(stream, result);
  pass(stream, name);
  pass(stream, display);
  pass(stream, ghosts);
  pass(stream, parameters);
  pass(stream, requires_held);
  static_cast<void>(unsaid);  // nothing that a front end knows of
  pass(stream, acquires);
  pass(stream, releases);
  pass(stream, excludes);
  pass(stream, is_given);
  pass(stream, is_constant);
  pass(stream, is_private);
  pass(stream, is_unknown);
  pass(stream, no_warn);
  pass(stream, body);
  pass(stream, position);
  pass(stream, begin);
  pass(stream, end);
}

template <class Stream>
void pass(Stream& stream, core::Class& of) {
  auto& [name, display, ghosts, bases, fields, methods, is_kept, position] = of;
  pass(stream, name);
  pass(stream, display);
  pass(stream, ghosts);
  pass(stream, bases);
  pass(stream, fields);
  pass(stream, methods);
  pass(stream, is_kept);
  pass(stream, position);
}

template <class Stream>
void pass(Stream& stream, core::Term& of) {
  auto& [basic, predicate, then, otherwise] = of;
  pass(stream, basic);
  bool has = predicate.has_value();
  pass(stream, has);
  if (has && !predicate) predicate.emplace();
  if (predicate) {
    pass(stream, predicate->kind);
    pass(stream, predicate->lock);
  }
  pass(stream, then);
  pass(stream, otherwise);
}

template <class Stream>
void pass(Stream& stream, core::Expr& of) {
  auto& [kind, position, end, name, display, children, locks, type, expected, excused, is_shared,
         is_callees, is_lent] = of;
  pass(stream, kind);
  pass(stream, position);
  pass(stream, end);
  pass(stream, name);
  pass(stream, display);
  pass(stream, children);
  pass(stream, locks);
  pass(stream, type);
  pass(stream, expected);
  pass(stream, excused);
  pass(stream, is_shared);
  pass(stream, is_callees);
  pass(stream, is_lent);
}

template <class Stream>
void pass(Stream& stream, Source& of) {
  auto& [path, content] = of;
  pass(stream, path);
  pass(stream, content);
}

// Locks have numbers in the order in which they were made, and get the same ones again.
template <class Stream>
void pass(Stream& stream, core::Locks& of) {
  std::uint32_t size = pass_size(stream, of);
  for (std::uint32_t i = static_cast<std::uint32_t>(core::Locks().size()); i < size; ++i) {
    core::Lock lock;
    if constexpr (!Stream::kReads) lock = of[static_cast<core::LockId>(i)];
    pass(stream, lock.kind);
    pass(stream, lock.base);
    pass(stream, lock.name);
    if constexpr (Stream::kReads) {
      if (!stream.good || static_cast<std::size_t>(lock.base) >= of.size()) {
        stream.good = false;
        return;
      }
      if (lock.kind == core::Lock::Kind::kField) {
        of.field(lock.base, lock.name);
      } else if (lock.kind == core::Lock::Kind::kGhost) {
        of.ghost(lock.name);
      } else {
        of.variable(lock.name);
      }
    }
  }
}

template <class Stream>
void pass(Stream& stream, std::set<std::string>& all) {
  std::vector<std::string> list(all.begin(), all.end());
  pass(stream, list);
  if constexpr (Stream::kReads) all.insert(list.begin(), list.end());
}

template <class Stream>
void pass(Stream& stream, std::map<std::string, std::string>& all) {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : all) {
    keys.push_back(key);
    values.push_back(value);
  }
  pass(stream, keys);
  pass(stream, values);
  if constexpr (Stream::kReads) {
    stream.good &= keys.size() == values.size();
    for (std::size_t i = 0; stream.good && i < keys.size(); ++i) all[keys[i]] = values[i];
  }
}

template <class Stream>
void pass(Stream& stream, core::AnnotationMacros& of) {
  auto& [header, spelling, names, visible_in] = of;
  pass(stream, header);
  pass(stream, spelling);
  pass(stream, names);
  pass(stream, visible_in);
}

template <class Stream>
void pass(Stream& stream, Summary& of) {
  auto& [program, lock_classes, unknown_calls, macros] = of;
  auto& [files, locks, terms, exprs, classes, globals, functions, main] = program;
  pass(stream, files);
  pass(stream, locks);
  pass(stream, terms);
  pass(stream, exprs);
  pass(stream, classes);
  pass(stream, globals);
  pass(stream, functions);
  pass(stream, main);
  pass(stream, lock_classes);
  pass(stream, unknown_calls);
  pass(stream, macros);
}

template <class Stream>
void pass(Stream& stream, Stored& of) {
  auto& [made_by, sources, summary] = of;
  pass(stream, made_by);
  pass(stream, sources);
  pass(stream, summary);
}

// Deeper or larger than the front end makes them: no walk over a program may run out of stack or
// time.
constexpr std::size_t kMostDepth = 4000;
constexpr std::size_t kMostExprs = 50'000'000;
constexpr std::size_t kLongestLock = 100;

// Whether everything that a program refers to is there, and expressions have the parts that their
// kinds have.
class Check {
 public:
  explicit Check(const core::Program& program) : program_(program) {}

  bool run() {
    const auto& exprs = program_.exprs;
    for (std::size_t i = 0; i < program_.locks.size(); ++i) {
      good_ &= program_.locks.root(static_cast<core::LockId>(i)).second <= kLongestLock;
      if (!good_) return false;
    }
    depths_.resize(exprs.size());
    sizes_.resize(exprs.size());
    for (std::size_t i = 0; i < program_.terms.size(); ++i) {
      const core::Term& term = program_.terms[i];
      if (!term.predicate) continue;
      good_ &= is_lock(term.predicate->lock) && index(term.then) < i && index(term.otherwise) < i;
    }
    for (std::size_t i = 0; i < exprs.size() && good_; ++i) expr(i);
    for (const core::Class& of : program_.classes) {
      position(of.position);
      for (const core::Type& base : of.bases) type(base);
      for (const core::Field& field : of.fields) this->field(field);
      for (const core::Method& method : of.methods) this->method(method);
    }
    for (const core::Field& global : program_.globals) field(global);
    for (const core::Method& function : program_.functions) method(function);
    body(program_.main);
    return good_;
  }

 private:
  static std::size_t index(auto id) { return static_cast<std::size_t>(id); }
  bool is_lock(core::LockId id) const { return index(id) < program_.locks.size(); }
  void lock(core::LockId id) { good_ &= is_lock(id); }
  void locks(const std::vector<core::LockId>& all) {
    for (const core::LockId one : all) lock(one);
  }
  void type(const core::Type& of) { locks(of.locks); }
  void position(const core::Position& at) {
    good_ &= at.line == 0 || at.file < program_.files.size();
  }
  void term(core::TermId id) { good_ &= index(id) < program_.terms.size(); }
  void body(core::ExprId id) { good_ &= id == core::kNoExpr || index(id) < program_.exprs.size(); }

  void field(const core::Field& of) {
    type(of.type);
    lock(of.guard.lock);
    position(of.position);
    position(of.end);
  }

  void method(const core::Method& of) {
    if (of.atomicity) term(*of.atomicity);
    type(of.result);
    for (const core::Parameter& parameter : of.parameters) {
      type(parameter.type);
      position(parameter.position);
    }
    locks(of.requires_held);
    locks(of.acquires);
    locks(of.releases);
    body(of.body);
    position(of.position);
    position(of.end);
  }

  // How many children it has, at least and at most.
  static std::pair<std::size_t, std::size_t> count(core::Expr::Kind kind) {
    using enum core::Expr::Kind;
    constexpr std::size_t kMany = ~std::size_t{0};
    switch (kind) {
      case kVariable:
      case kConstant:
      case kNull:
      case kBreak:
      case kContinue:
        return {0, 0};
      case kNew:
      case kOperator:
      case kSequence:
        return {0, kMany};
      case kCall:
        return {1, kMany};
      case kAssign:
      case kUpdate:
      case kLet:
      case kWhile:
      case kSync:
        return {2, 2};
      case kIf:
        return {3, 3};
      case kReturn:
        return {0, 1};
      case kField:
      case kLock:
      case kUnlock:
      case kTryLock:
      case kWait:
      case kAtomic:
      case kExpect:
      case kFork:
      case kNoWarn:
        return {1, 1};
    }
    return {1, 0};
  }

  // Parts come before the whole, so that there are no circles.
  void expr(std::size_t i) {
    using enum core::Expr::Kind;
    const core::Expr& of = program_.exprs[i];
    const auto [least, most] = count(of.kind);
    good_ &= of.children.size() >= least && of.children.size() <= most;
    if (!good_) return;
    position(of.position);
    position(of.end);
    locks(of.locks);
    type(of.type);
    if (of.kind == kExpect) term(of.expected);
    depths_[i] = 1;
    sizes_[i] = 1;
    for (const core::ExprId child : of.children) {
      if (child == core::kNoExpr && of.kind == kCall && child == of.children[0]) continue;
      good_ &= index(child) < i;
      if (!good_) return;
      depths_[i] = std::max(depths_[i], depths_[index(child)] + 1);
      sizes_[i] = std::min(kMostExprs, sizes_[i] + sizes_[index(child)]);
    }
    good_ &= depths_[i] < kMostDepth && sizes_[i] < kMostExprs;
    const auto kind_of_first = [&] { return program_[of.children[0]].kind; };
    if (of.kind == kFork) good_ &= kind_of_first() == kCall;
    if (of.kind == kAssign || of.kind == kUpdate) {
      good_ &= kind_of_first() == kVariable || kind_of_first() == kField;
    }
  }

  const core::Program& program_;
  std::vector<std::size_t> depths_;
  std::vector<std::size_t> sizes_;  // as a tree
  bool good_ = true;
};

}  // namespace

std::string pack(Stored stored) {
  Out stream;
  pass(stream, stored);
  return std::move(stream.bytes);
}

std::optional<Stored> unpack(std::string_view bytes) {
  In stream = {.bytes = bytes};
  Stored stored;
  pass(stream, stored);
  if (!stream.good || !stream.bytes.empty() || !Check(stored.summary.program).run()) {
    return std::nullopt;
  }
  return stored;
}

}  // namespace tomos::cpp
