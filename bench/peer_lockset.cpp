// The peer that `tomos infer` is compared with: a must-lockset intersection over a closed world. A
// field is guarded by whatever is held at all its accesses outside constructors and destructors, a
// method requires whatever all its callers hold. Nothing is weighed. It reads the summaries that
// `tomos infer` has kept in a folder and prints what it finds as `tomos infer --format json` does.
// It shares nothing with the inference but the core language.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "core/words.h"
#include "summary/stored.h"
#include "summary/summary.h"

namespace {

using tomos::core::Class;
using tomos::core::Expr;
using tomos::core::ExprId;
using tomos::core::Field;
using tomos::core::kNoExpr;
using tomos::core::LockId;
using tomos::core::Method;
using tomos::core::Program;
using Locks = std::set<std::string>;  // by their text: this.m, argument.m, global

struct Function {
  const Method* method = nullptr;
  const Class* owner = nullptr;
};
struct Access {
  std::size_t method = 0;
  std::string object;
  Locks held;
  bool writes = false;
};
struct Call {
  std::size_t caller = 0;
  Locks held;
  std::map<std::string, std::string> names;  // in the caller, to those in the callee
};
struct Value {
  std::string path;  // empty: unknown
  std::string type;
};

class Peer {
 public:
  explicit Peer(const Program& program) : program_(program) {
    for (const Class& of : program.classes) {
      classes_[of.name] = &of;
      for (const Field& field : of.fields) {
        if (field.is_static) globals_[of.name + "::" + field.name] = &field;
      }
      for (const Method& method : of.methods) {
        const bool is_static = method.kind == Method::Kind::kStatic;
        const std::string name = (is_static ? of.name + "::" : of.name + ".") + method.name;
        index_[name] = functions_.size();
        if (method.kind == Method::Kind::kConstructor) index_["new " + of.name] = functions_.size();
        functions_.push_back({&method, &of});
      }
    }
    for (const Field& global : program.globals) globals_[global.name] = &global;
    for (const Method& function : program.functions) {
      index_[function.name] = functions_.size();
      functions_.push_back({&function, nullptr});
    }
  }

  void run() {
    calls_.resize(functions_.size());
    for (current_ = 0; current_ < functions_.size(); ++current_) walk(functions_[current_]);
    find_entries();
    print();
  }

 private:
  // --- What is held where ---

  void walk(const Function& of) {
    types_.clear();
    aliases_.clear();
    held_.clear();
    reachable_ = true;
    if (of.method->body == kNoExpr) return;
    if (of.owner != nullptr) types_["this"] = of.owner->name;
    for (const auto& parameter : of.method->parameters) {
      types_[parameter.name] = parameter.type.name;
    }
    for (const LockId lock : of.method->releases) held_.insert(program_.locks.to_string(lock));
    value(of.method->body);
  }

  const Field* field(const std::string& type, const std::string& name) const {
    const auto of = classes_.find(type);
    if (of == classes_.end()) return nullptr;
    for (const Field& field : of->second->fields) {
      if (!field.is_static && field.name == name) return &field;
    }
    for (const auto& base : of->second->bases) {
      if (const Field* found = this->field(base.name, name)) return found;
    }
    return nullptr;
  }

  std::optional<std::size_t> method(const std::string& type, const std::string& name) const {
    if (const auto at = index_.find(type + "." + name); at != index_.end()) return at->second;
    const auto of = classes_.find(type);
    if (of == classes_.end()) return std::nullopt;
    for (const auto& base : of->second->bases) {
      if (const auto found = method(base.name, name)) return found;
    }
    return std::nullopt;
  }

  void note(const Field& of, const std::string& object, bool writes) {
    const auto kind = functions_[current_].method->kind;
    const bool initial = object == "this" &&
                         (kind == Method::Kind::kConstructor || kind == Method::Kind::kDestructor);
    if (reachable_ && !initial) accesses_[&of].push_back({current_, object, held_, writes});
  }

  void call(std::size_t callee, const Expr& of, const std::string& object, std::size_t first,
            bool forked) {
    Call made = {.caller = current_};
    if (!object.empty()) made.names[object] = "this";
    const auto& parameters = functions_[callee].method->parameters;
    for (std::size_t i = first; i < of.children.size(); ++i) {
      const Value argument = value(of.children[i]);
      if (i - first < parameters.size() && !argument.path.empty()) {
        made.names.emplace(argument.path, parameters[i - first].name);
      }
    }
    if (!forked) made.held = held_;
    if (forked) made.caller = functions_.size();
    if (reachable_) calls_[callee].push_back(std::move(made));
    for (const LockId lock : functions_[callee].method->acquires) {
      held_.insert(renamed(lock, object));
    }
    for (const LockId lock : functions_[callee].method->releases)
      held_.erase(renamed(lock, object));
  }

  std::string renamed(LockId lock, const std::string& object) const {
    const std::string text = program_.locks.to_string(lock);
    return text.starts_with("this") ? object + text.substr(4) : text;
  }

  // Both ways of a branch: what is held on both.
  void meet(const Locks& held, bool reachable) {
    if (!reachable) return;
    if (!reachable_) {
      held_ = held;
    } else {
      std::erase_if(held_, [&](const std::string& lock) { return !held.contains(lock); });
    }
    reachable_ = true;
  }

  Value value(ExprId id, bool writes = false) {
    const Expr& of = program_[id];
    using enum Expr::Kind;
    switch (of.kind) {
      case kVariable: {
        const auto alias = aliases_.find(of.name);
        const std::string path = alias == aliases_.end() ? of.name : alias->second;
        if (const auto type = types_.find(of.name); type != types_.end()) {
          return {path, type->second};
        }
        const auto global = globals_.find(of.name);
        if (global == globals_.end()) return {};
        note(*global->second, "", writes);
        return {tomos::core::quoted(of.name), global->second->type.name};
      }
      case kField: {
        const Value object = value(of.children[0]);
        const Field* found = field(object.type, of.name);
        if (found == nullptr) return {};
        note(*found, object.path, writes);
        return {object.path.empty() ? "" : object.path + "." + tomos::core::quoted(of.name),
                found->type.name};
      }
      case kAssign:
      case kUpdate: {
        const Value right = value(of.children[1]);
        value(of.children[0], true);
        return right;
      }
      case kNew: {
        const auto callee = index_.find("new " + of.type.name);
        if (callee != index_.end()) call(callee->second, of, "", 0, false);
        return {"", of.type.name};
      }
      case kCall:
        return call_of(of, false);
      case kFork:
        return call_of(program_[of.children[0]], true);
      case kLet: {
        const Value bound = value(of.children[0]);
        types_[of.name] = of.type.name.empty() ? bound.type : of.type.name;
        if (!bound.path.empty()) aliases_[of.name] = bound.path;
        return value(of.children[1]);
      }
      case kIf: {
        const auto tried = tried_in(of.children[0]);
        value(of.children[0]);
        const Locks held = held_;
        const bool reachable = reachable_;
        if (tried && tried->second) held_.insert(tried->first);
        value(of.children[1]);
        const Locks then = std::exchange(held_, held);
        const bool ends = !std::exchange(reachable_, reachable);
        if (tried && !tried->second) held_.insert(tried->first);
        value(of.children[2]);
        meet(then, !ends);
        return {};
      }
      case kWhile: {
        value(of.children[0]);
        const Locks held = held_;
        const bool reachable = reachable_;
        value(of.children[1]);
        meet(held, reachable);
        return {};
      }
      case kSync: {
        const std::string lock = value(of.children[0]).path;
        const bool is_new = !lock.empty() && held_.insert(lock).second;
        const Value last = value(of.children[1]);
        if (is_new) held_.erase(lock);
        return last;
      }
      case kLock:
        if (const std::string lock = value(of.children[0]).path; !lock.empty()) held_.insert(lock);
        return {};
      case kUnlock:
        held_.erase(value(of.children[0]).path);
        return {};
      case kReturn:
      case kBreak:
      case kContinue:
        for (const ExprId child : of.children) value(child);
        reachable_ = false;
        return {};
      default: {
        Value last;
        for (const ExprId child : of.children) last = value(child);
        return last;
      }
    }
  }

  std::optional<std::pair<std::string, bool>> tried_in(ExprId id) {
    const Expr& of = program_[id];
    if (of.kind == Expr::Kind::kTryLock) return std::pair(value(of.children[0]).path, true);
    if (of.kind != Expr::Kind::kOperator || of.name != "!") return std::nullopt;
    auto inner = tried_in(of.children[0]);
    if (inner) inner->second = !inner->second;
    return inner;
  }

  Value call_of(const Expr& of, bool forked) {
    std::optional<std::size_t> callee;
    std::string object;
    if (of.children[0] != kNoExpr) {
      const Value receiver = value(of.children[0]);
      object = receiver.path;
      callee = method(receiver.type, of.name);
    } else if (const auto at = index_.find(of.name); at != index_.end()) {
      callee = at->second;
    }
    if (callee) {
      call(*callee, of, object, 1, forked);
      return {"", functions_[*callee].method->result.name};
    }
    for (std::size_t i = 1; i < of.children.size(); ++i) value(of.children[i]);
    return {};
  }

  // --- What all callers hold ---

  void find_entries() {
    std::vector<std::optional<Locks>> entry(functions_.size() + 1);  // none: not known yet
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (calls_[i].empty()) entry[i].emplace();
    }
    entry.back().emplace();
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < functions_.size(); ++i) {
        std::optional<Locks> now;
        for (const Call& call : calls_[i]) {
          const std::optional<Locks>& before = entry[call.caller];
          if (!before) continue;
          Locks here = translated(call.held, call.names);
          here.merge(translated(*before, call.names));
          if (!now) {
            now = std::move(here);
          } else {
            std::erase_if(*now, [&](const std::string& lock) { return !here.contains(lock); });
          }
        }
        if (!now || now == entry[i]) continue;
        entry[i] = std::move(now);
        more = true;
      }
    }
    for (const auto& locks : entry) entries_.push_back(locks.value_or(Locks()));
  }

  bool is_global(const std::string& lock) const {
    std::string name =
        lock.substr(0, lock.find('.', lock.starts_with('`') ? lock.find('`', 1) : 0));
    std::erase(name, '`');
    return globals_.contains(name);
  }

  Locks translated(const Locks& held, const std::map<std::string, std::string>& names) const {
    Locks made;
    for (const std::string& lock : held) {
      if (is_global(lock)) made.insert(lock);
      for (const auto& [from, to] : names) {
        if (lock.starts_with(from + ".")) made.insert(to + lock.substr(from.size()));
      }
    }
    return made;
  }

  // --- What follows ---

  std::string guard_of(const Field& of) const {
    const auto at = accesses_.find(&of);
    if (at == accesses_.end() || of.type.name == "mutex" || of.type.name == "recursive_mutex" ||
        of.guard.kind != tomos::core::Guard::Kind::kUnset) {
      return {};
    }
    if (std::ranges::none_of(at->second, &Access::writes)) return {};
    Locks all;
    bool is_first = true;
    for (const Access& access : at->second) {
      Locks held = access.held;
      held.insert(entries_[access.method].begin(), entries_[access.method].end());
      Locks here;
      for (const std::string& lock : held) {
        if (is_global(lock)) here.insert(lock);
        if (!access.object.empty() && lock.starts_with(access.object + ".")) {
          here.insert("this" + lock.substr(access.object.size()));
        }
      }
      if (std::exchange(is_first, false)) {
        all = std::move(here);
      } else {
        std::erase_if(all, [&](const std::string& lock) { return !here.contains(lock); });
      }
    }
    const auto own =
        std::ranges::find_if(all, [](const auto& lock) { return lock.starts_with("this"); });
    return all.empty() ? "" : own != all.end() ? *own : *all.begin();
  }

  static std::string escaped(const std::string& text) {
    std::string made;
    for (const char letter : text) {
      if (letter == '"' || letter == '\\') made += '\\';
      made += letter;
    }
    return made;
  }

  std::string location(const tomos::core::Position& at) const {
    return fmt::format(R"({{"file":"{}","line":{},"column":{}}})",
                       at.file < program_.files.size() ? escaped(program_.files[at.file]) : "",
                       at.line, at.column);
  }

  void print() const {
    std::string text;
    const auto guards = [&](const std::string& owner, const std::vector<Field>& fields) {
      for (const Field& field : fields) {
        const std::string lock = guard_of(field);
        text += fmt::format(
            R"({}{{"class":"{}","field":"{}","access":"{}","guard":"{}","given":false,"location":{}}})",
            text.empty() ? "" : ",\n", escaped(owner), escaped(field.name),
            lock.empty() ? "none" : "guarded_by", escaped(lock), location(field.position));
      }
    };
    for (const Class& of : program_.classes) guards(of.name, of.fields);
    guards("", program_.globals);
    std::string methods;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const Method& of = *functions_[i].method;
      methods +=
          fmt::format(R"({}{{"name":"{}","given":false,"requires":[)", methods.empty() ? "" : ",\n",
                      escaped(of.display.empty() ? of.name : of.display));
      const char* comma = "";
      for (const std::string& lock : entries_[i]) {
        methods += fmt::format(R"({}"{}")", std::exchange(comma, ","), escaped(lock));
      }
      methods += "]}";
    }
    fmt::print("{{\"guards\":[{}],\n\"methods\":[{}]}}\n", text, methods);
  }

  const Program& program_;
  std::map<std::string, const Class*> classes_;
  std::map<std::string, const Field*> globals_;
  std::map<std::string, std::size_t> index_;
  std::vector<Function> functions_;
  std::map<const Field*, std::vector<Access>> accesses_;
  std::vector<std::vector<Call>> calls_;  // of each function
  std::vector<Locks> entries_;

  std::size_t current_ = 0;
  std::map<std::string, std::string> types_;
  std::map<std::string, std::string> aliases_;
  Locks held_;
  bool reachable_ = true;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 || !std::filesystem::is_directory(arguments[1])) {
    fmt::print(stderr, "Usage: peer_lockset FOLDER, where tomos infer has kept its summaries\n");
    return 2;
  }
  std::set<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(arguments[1])) {
    files.insert(file.path());
  }
  tomos::cpp::Merger merger;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string bytes = text.str();
    // After a checksum.
    if (bytes.size() < sizeof(std::uint64_t)) continue;
    const auto stored = tomos::cpp::unpack(std::string_view(bytes).substr(sizeof(std::uint64_t)));
    if (!stored) {
      fmt::print(stderr, "{}: not a summary of this version. Build both: ninja bench_programs\n",
                 path.string());
      return 1;
    }
    merger.add(stored->summary);
  }
  const tomos::cpp::Summary whole = merger.take();
  Peer(whole.program).run();
}
