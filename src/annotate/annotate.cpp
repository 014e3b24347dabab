#include "annotate/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "annotate/source.h"

namespace tomos::annotate {

using core::CompilerWarning;
using Kind = Annotation::Kind;
namespace fs = std::filesystem;

namespace {

// Every round but those for other headers takes something away, so there is an end; this is for
// people who wait for it. What is then still to be said is said.
constexpr int kMostRounds = 24;
// A guard or a requirement that Clang cannot follow in more functions is left out.
constexpr std::size_t kMostHelped = 4;

constexpr const char* kOwnHeader = "<tomos/thread_annotations.h>";

class Annotator {
 public:
  Annotator(Request request, const Check& check)
      : request_(std::move(request)), check_(check), program_(*request_.program) {}

  Result<Annotated> run() {
    read_sources();
    // Who has macros has lock classes with attributes.
    annotated_system_ = std::ranges::all_of(request_.macros, [](const core::AnnotationMacros& of) {
      return of.spelling == kOwnHeader;
    });
    std::set<std::string> units;
    for (int round = 0; round < kMostRounds; ++round) {
      edit();
      auto heard = check_(texts(), units, annotated_system_);
      if (!heard) return std::unexpected(heard.error());
      std::erase_if(*heard, [&](const CompilerWarning& warning) {
        return request_.left_out.contains(warning.unit);
      });
      if (needs_other_system(*heard)) continue;
      std::erase_if(kept_, [&](const CompilerWarning& warning) {
        return units.empty() || units.contains(warning.unit);
      });
      if (round + 1 == kMostRounds) {
        for (CompilerWarning& warning : *heard) keep(std::move(warning));
        break;
      }
      const std::vector<CompilerWarning> open = help(*std::move(heard));
      if (open.empty()) break;
      units.clear();
      if (std::exchange(all_again_, false)) continue;
      for (const CompilerWarning& warning : open) units.insert(warning.unit);
    }
    return result();
  }

 private:
  // A place of the old text: the index of its source, and an offset.
  using Spot = std::pair<std::size_t, std::size_t>;

  // Attributes on the locks of the system are used if they are needed, and if they compile.
  bool needs_other_system(const std::vector<CompilerWarning>& heard) {
    const bool wanted =
        annotated_system_
            ? std::ranges::none_of(heard, [&](const CompilerWarning& of) { return is_foreign(of); })
            : !system_fails_ && std::ranges::any_of(heard, is_about_type);
    if (wanted == annotated_system_) return false;
    system_fails_ = !wanted;
    annotated_system_ = wanted;
    return true;
  }
  bool is_foreign(const CompilerWarning& warning) const {
    return warning.kind == CompilerWarning::Kind::kError && !of_path_.contains(warning.where.file);
  }
  // A lock whose class has no attributes.
  static bool is_about_type(const CompilerWarning& warning) {
    return warning.kind == CompilerWarning::Kind::kAttribute &&
           warning.message.find("'capability'") != std::string::npos;
  }

  // --- Sources ---

  // Only what is below the folder we are in is ours to change.
  void read_sources() {
    const fs::path here = fs::current_path();
    std::map<std::string, std::size_t> known;
    for (const std::string& file : program_.files) {
      std::error_code error;
      const fs::path real = fs::weakly_canonical(file, error);
      const std::string relative = real.lexically_relative(fs::canonical(here, error)).string();
      std::size_t index = kNone;
      if (!error && !relative.empty() && !relative.starts_with("..")) {
        const auto [at, is_new] = known.emplace(relative, sources_.size());
        index = at->second;
        if (is_new) {
          std::ifstream in(real, std::ios::binary);
          std::stringstream text;
          text << in.rdbuf();
          sources_.emplace_back(relative, std::move(text).str());
        }
      }
      of_file_.push_back(index);
      if (index == kNone) continue;
      // The compiler may know it by either name.
      for (const fs::path& name : {fs::absolute(file).lexically_normal(), real}) {
        of_path_[name.string()] = index;
      }
    }
    for (std::size_t i = 0; i < request_.annotations.size(); ++i) {
      Annotation& one = request_.annotations[i];
      if (!one.left_out.empty()) continue;
      if (const auto spot = spot_of(one)) {
        at_[*spot].push_back(i);
      } else {
        one.left_out = "its file is not below this folder; run tomos infer where the sources are";
      }
    }
  }

  std::optional<Spot> spot_of(const Annotation& one) const {
    if (one.at.file >= of_file_.size() || of_file_[one.at.file] == kNone) return std::nullopt;
    const std::size_t source = of_file_[one.at.file];
    const auto offset = sources_[source].offset(one.at.line, one.at.column);
    return offset ? std::optional(Spot(source, *offset)) : std::nullopt;
  }

  // The macros that the file sees; or those that it could include; or ours.
  struct Chosen {
    const core::AnnotationMacros* macros = nullptr;
    std::string include;
  };
  Chosen macros_for(const std::string& path) const {
    Chosen chosen;
    bool sees = false;
    for (const core::AnnotationMacros& one : request_.macros) {
      const bool visible = one.visible_in.contains(path);
      if (!visible && (sees || one.spelling.empty())) continue;
      const auto rank = [](const core::AnnotationMacros& of) {
        return std::pair(of.names.size(), of.visible_in.size());
      };
      if (chosen.macros == nullptr || (visible && !sees) || rank(one) > rank(*chosen.macros)) {
        chosen = {.macros = &one, .include = visible ? "" : one.spelling};
      }
      sees |= visible;
    }
    if (chosen.macros == nullptr) chosen.include = kOwnHeader;
    return chosen;
  }

  std::string text_of(const Annotation& one, const Chosen& chosen) const {
    static const std::map<std::string, std::string, std::less<>> kOwnNames = {
        {"guarded_by", "GUARDED_BY"},
        {"pt_guarded_by", "PT_GUARDED_BY"},
        {"requires_capability", "REQUIRES"},
        {"requires_shared_capability", "REQUIRES_SHARED"},
        {"locks_excluded", "EXCLUDES"},
        {"acquire_capability", "ACQUIRE"},
        {"release_capability", "RELEASE"},
        {"no_thread_safety_analysis", "NO_THREAD_SAFETY_ANALYSIS"}};
    const std::string attribute(attribute_of(one.kind));
    const std::string arguments =
        one.kind == Kind::kNoAnalysis ? "" : fmt::format("({})", one.argument);
    if (chosen.macros == nullptr) return kOwnNames.at(attribute) + arguments;
    const auto name = chosen.macros->names.find(attribute);
    return name != chosen.macros->names.end()
               ? name->second + arguments
               : fmt::format("__attribute__(({}{}))", attribute, arguments);
  }

  // --- Texts ---

  void edit() {
    edited_.clear();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = sources_[i];
      const Chosen chosen = macros_for(source.path());
      std::multimap<std::size_t, Insertion> ordered;
      const auto insert = [&](Insertion made) { ordered.emplace(made.offset, std::move(made)); };
      bool has_macro = false;
      for (auto at = at_.lower_bound({i, 0}); at != at_.end() && at->first.first == i; ++at) {
        const bool unanalysed = std::ranges::any_of(at->second, [&](std::size_t index) {
          return stands(index) && request_.annotations[index].kind == Kind::kNoAnalysis;
        });
        for (const std::size_t index : at->second) {
          const Annotation& one = request_.annotations[index];
          if (!stands(index)) continue;
          if (one.kind == Kind::kComment) {
            if (is_there(source, at->first.second, one.argument)) continue;
            insert(comment(at->first.second, one, index));
            continue;
          }
          // Nobody calls it but where it is made: there is nothing else to say.
          if (unanalysed && one.of_lambda && one.kind != Kind::kNoAnalysis) continue;
          has_macro = true;
          insert(attribute(source, at->first.second, one, text_of(one, chosen), index));
        }
      }
      std::vector<Insertion> insertions;
      for (auto& [offset, made] : ordered) insertions.push_back(std::move(made));
      if (has_macro && !chosen.include.empty()) {
        insertions.insert(insertions.begin(),
                          source.include(chosen.include, insertions.front().offset));
      }
      edited_.emplace_back(source, std::move(insertions));
    }
  }

  bool stands(std::size_t index) const { return request_.annotations[index].left_out.empty(); }

  static bool is_behind(const Annotation& one) { return one.argument.starts_with("/* writes"); }

  static bool is_there(const Source& source, std::size_t offset, const std::string& comment) {
    const std::string_view before = std::string_view(source.text()).substr(0, offset);
    const std::size_t last = before.find_last_not_of(" \t\r\n");
    return last != std::string_view::npos && before.substr(0, last + 1).ends_with(comment);
  }

  static Insertion comment(std::size_t offset, const Annotation& one, std::size_t index) {
    return {.offset = offset,
            .text = is_behind(one) ? " " + one.argument : one.argument + " ",
            .annotation = index};
  }

  static Insertion attribute(const Source& source, std::size_t offset, const Annotation& one,
                             const std::string& text, std::size_t index) {
    const bool of_data = one.kind == Kind::kGuardedBy || one.kind == Kind::kPtGuardedBy;
    if (of_data) return {.offset = offset, .text = " " + text, .annotation = index};
    if (!one.of_lambda) {
      const bool is_before_name = offset == 0 || source.text()[offset - 1] != ')';
      return {.offset = is_before_name ? offset : source.behind_qualifiers(offset),
              .text = is_before_name ? text + " " : " " + text,
              .annotation = index};
    }
    // [this] { ... }: the body is what we have, and attributes need parameters before them.
    const std::size_t last =
        source.text().find_last_not_of(" \t\r\n", offset == 0 ? 0 : offset - 1);
    const bool is_bare = last != std::string::npos && source.text()[last] == ']';
    return {.offset = is_bare ? last + 1 : offset,
            .text = (is_bare ? "() " : " ") + text,
            .annotation = index};
  }

  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> made;
    for (const auto& [path, index] : of_path_) {
      if (!edited_[index].insertions().empty()) made.emplace(path, edited_[index].text());
    }
    return made;
  }

  // --- Help ---

  struct Found {
    std::optional<Spot> spot;
    std::size_t annotation = kNone;
  };
  Found find(const core::Place& place) const {
    const auto source = of_path_.find(place.file);
    if (place.line == 0 || source == of_path_.end()) return {};
    const auto origin = edited_[source->second].origin(place.line, place.column);
    if (!origin) return {};
    return {.spot = Spot(source->second, origin->offset), .annotation = origin->annotation};
  }

  bool is_finding(const core::Place& where) const {
    const Found found = find(where);
    if (!found.spot) return false;
    const Source& source = sources_[found.spot->first];
    return request_.findings.contains({source.path(), source.line(found.spot->second)});
  }

  // People look for it in the source as it is.
  void keep(CompilerWarning warning) {
    if (const Found found = find(warning.where); found.spot) {
      const Source& source = sources_[found.spot->first];
      warning.where = {.file = source.path(), .line = source.line(found.spot->second)};
    }
    const bool known = std::ranges::any_of(kept_, [&](const CompilerWarning& other) {
      return other.where == warning.where && other.message == warning.message;
    });
    if (!known) kept_.push_back(std::move(warning));
  }

  void leave_out(std::size_t index, const std::string& why) {
    Annotation& one = request_.annotations[index];
    if (!one.left_out.empty()) return;
    one.left_out = why;
    changed_ = true;
  }

  // Of the declaration whose annotations stand there, those of these kinds.
  std::vector<std::size_t> standing(const std::optional<Spot>& spot,
                                    std::initializer_list<Kind> kinds) const {
    std::vector<std::size_t> found;
    const auto at = spot ? at_.find(*spot) : at_.end();
    if (at == at_.end()) return found;
    for (const std::size_t index : at->second) {
      const Kind kind = request_.annotations[index].kind;
      if (stands(index) && std::ranges::find(kinds, kind) != kinds.end()) found.push_back(index);
    }
    return found;
  }

  // True: from now on the function is not analysed.
  bool give_up(const CompilerWarning& warning) {
    const Found found = find(warning.function);
    if (!found.spot) return false;
    if (!standing(found.spot, {Kind::kNoAnalysis}).empty()) return false;
    request_.annotations.push_back({.kind = Kind::kNoAnalysis,
                                    .argument = warning.message,
                                    .of = warning.function_name,
                                    .at = {},
                                    .of_lambda = warning.in_lambda});
    at_[*found.spot].push_back(request_.annotations.size() - 1);
    return changed_ = true;
  }

  // A requirement that is not met: perhaps by a reader's lock. If that was tried already, it was no
  // help.
  bool try_shared(const std::vector<std::size_t>& ours) {
    bool tried = false;
    for (const std::size_t index : ours) {
      Annotation& one = request_.annotations[index];
      if (one.kind == Kind::kRequiresShared) one.kind = Kind::kRequires;
      if (one.kind == Kind::kRequires && tried_shared_.insert(index).second) {
        one.kind = Kind::kRequiresShared;
        tried = changed_ = all_again_ = true;
      }
    }
    return tried;
  }
  // True: the function that the warning is in writes, and so must require the whole lock.
  bool take_back_shared(const CompilerWarning& warning) {
    const std::vector<std::size_t> shared =
        standing(find(warning.function).spot, {Kind::kRequiresShared});
    for (const std::size_t index : shared) {
      request_.annotations[index].kind = Kind::kRequires;
      changed_ = true;
    }
    return !shared.empty();
  }

  // What is declared there is followed in too many functions, or in one that cannot be marked: then
  // the annotation goes.
  void help_guarded(const std::vector<const CompilerWarning*>& about,
                    std::initializer_list<Kind> kinds) {
    const Found declared = find(about.front()->declared);
    const std::vector<std::size_t> ours = standing(declared.spot, kinds);
    std::set<core::Place> functions;
    bool helpless = false;
    for (const CompilerWarning* warning : about) {
      if (!warning->in_lambda) functions.insert(warning->function);
      helpless |= !find(warning->function).spot.has_value();
    }
    if (about.front()->kind == CompilerWarning::Kind::kCall && try_shared(ours)) return;
    const bool of_lambda = std::ranges::any_of(
        ours, [&](std::size_t index) { return request_.annotations[index].of_lambda; });
    if (!ours.empty() && (helpless || of_lambda || functions.size() > kMostHelped)) {
      for (const std::size_t index : ours) {
        leave_out(index, "Clang cannot follow it: " + about.front()->message);
      }
      // Its own body still counts on the lock.
      if (about.front()->kind == CompilerWarning::Kind::kCall) {
        CompilerWarning own = *about.front();
        own.function = own.declared;
        own.function_name = request_.annotations[ours.front()].of;
        own.in_lambda = of_lambda;
        give_up(own);
      }
      return;
    }
    for (const CompilerWarning* warning : about) give_up(*warning);
  }

  void help_excluded(const CompilerWarning& warning) {
    bool helped = false;
    for (std::size_t i = 0; i < request_.annotations.size(); ++i) {
      const Annotation& one = request_.annotations[i];
      const bool same = one.of == warning.callee || one.of.ends_with("::" + warning.callee);
      if (!stands(i) || one.kind != Kind::kExcludes || !same) continue;
      leave_out(i, "Clang sees it called with the lock: " + warning.message);
      helped = true;
    }
    if (!helped) give_up(warning);
  }

  // What does not compile: the annotation that it is about, or else all on that line, in that file,
  // or anywhere.
  void help_error(const CompilerWarning& warning) {
    const Found found = find(warning.where);
    const std::string why = "it does not compile: " + warning.message;
    if (found.annotation != kNone) return leave_out(found.annotation, why);
    const auto leave_all = [&](const auto& wanted) {
      bool any = false;
      for (const auto& [spot, indexes] : at_) {
        if (!wanted(spot)) continue;
        for (const std::size_t index : indexes) {
          any |= stands(index);
          leave_out(index, why);
        }
      }
      return any;
    };
    if (found.spot) {
      const Source& source = sources_[found.spot->first];
      const std::uint32_t line = source.line(found.spot->second);
      if (leave_all([&](const Spot& spot) {
            return spot.first == found.spot->first && source.line(spot.second) == line;
          })) {
        return;
      }
      if (leave_all([&](const Spot& spot) { return spot.first == found.spot->first; })) return;
    }
    if (!is_foreign(warning)) leave_all([](const Spot&) { return true; });
  }

  // Returns the warnings that something was done about.
  std::vector<CompilerWarning> help(std::vector<CompilerWarning> heard) {
    std::vector<CompilerWarning> open;
    std::map<core::Place, std::vector<const CompilerWarning*>> guarded;
    std::map<core::Place, std::vector<const CompilerWarning*>> required;
    using enum CompilerWarning::Kind;
    const bool has_errors = std::ranges::any_of(
        heard, [](const CompilerWarning& warning) { return warning.kind == kError; });
    changed_ = false;
    for (CompilerWarning& warning : heard) {
      // Behind an error nothing else is certain.
      if (has_errors && warning.kind != kError && warning.kind != kAttribute) continue;
      if (is_finding(warning.where)) {
        keep(std::move(warning));
      } else {
        open.push_back(std::move(warning));
      }
    }
    for (const CompilerWarning& warning : open) {
      switch (warning.kind) {
        case kError:
          help_error(warning);
          break;
        case kAttribute: {
          const Found found = find(warning.where);
          if (found.annotation != kNone) leave_out(found.annotation, warning.message);
          break;
        }
        case kAccess:
          if (!take_back_shared(warning)) guarded[warning.declared].push_back(&warning);
          break;
        case kCall:
          if (!take_back_shared(warning)) required[warning.declared].push_back(&warning);
          break;
        case kExcluded:
          help_excluded(warning);
          break;
        case kLocking:
          give_up(warning);
          break;
      }
    }
    for (const auto& [place, about] : guarded) {
      help_guarded(about, {Kind::kGuardedBy, Kind::kPtGuardedBy});
    }
    for (const auto& [place, about] : required) {
      help_guarded(about, {Kind::kRequires, Kind::kRequiresShared, Kind::kReleases});
    }
    if (!changed_) {
      for (CompilerWarning& warning : open) keep(std::move(warning));
      open.clear();
    }
    return open;
  }

  Annotated result() {
    Annotated made;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (edited_[i].insertions().empty()) continue;
      made.files.push_back(
          {.path = sources_[i].path(), .text = edited_[i].text(), .patch = edited_[i].patch()});
    }
    std::ranges::sort(made.files, {}, &Annotated::File::path);
    made.annotations = std::move(request_.annotations);
    made.warnings = std::move(kept_);
    made.annotated_system = annotated_system_;
    return made;
  }

  Request request_;
  const Check& check_;
  const core::Program& program_;
  std::vector<Source> sources_;
  std::vector<std::size_t> of_file_;             // sources by the program's files
  std::map<std::string, std::size_t> of_path_;   // and by absolute paths
  std::map<Spot, std::vector<std::size_t>> at_;  // annotations by what they are about
  std::vector<Edited> edited_;
  std::vector<CompilerWarning> kept_;
  bool changed_ = false;
  bool all_again_ = false;
  bool annotated_system_ = false;
  bool system_fails_ = false;
  std::set<std::size_t> tried_shared_;
};

}  // namespace

Result<Annotated> annotate(Request request, const Check& check) {
  return Annotator(std::move(request), check).run();
}

}  // namespace tomos::annotate
