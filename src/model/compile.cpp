// Statements become a graph: a location for each, and edges that are left dangling until it is
// known where the next statement stands. Locations are numbered as they are written, so that every
// cycle has an edge that leads back.
#include "model/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/declarations.h"
#include "model/expressions.h"
#include "model/facts.h"
#include "model/parser.h"
#include "model/relations.h"

namespace tomos::model {

namespace {

using Dangling = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  // location, edge

class Compiler {
 public:
  Compiler(const Ast& ast, std::string_view file) : ast_(ast), names_(program_, file) {
    program_.file = file;
    program_.blocks.emplace_back();
  }

  Program run() {
    names_.enter();
    first_thread_ = declare(ast_, program_, names_);
    for (std::size_t i = 0; i < ast_.threads.size(); ++i)
      code_of(ast_.threads[i], first_thread_[i]);
    finish();
    return std::move(program_);
  }

 private:
  // ---- code of a thread ----

  void code_of(const Thread& thread, std::size_t first) {
    const std::uint32_t count = thread.size.value_or(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      ThreadInfo& info = program_.threads[first + i];
      if (i > 0 && !names_.asked_for_self()) {
        info.code = program_.threads[first].code;
        info.group = program_.threads[first].group;
        continue;
      }
      names_.forget_self_asked();
      names_.set_self(thread.size ? static_cast<std::int32_t>(i) : -1);
      info.code = static_cast<std::uint16_t>(program_.codes.size());
      info.group = static_cast<std::uint16_t>(first + i);
      program_.codes.emplace_back();
      code_ = &program_.codes.back();
      labels_.clear();
      slots_ = 0;
      location({.line = 0, .column = 0});
      location({.line = 0, .column = 0});
      dangling_.clear();
      edge(kNotStarted, {.kind = Edge::Kind::kEntry, .place = thread.place});
      names_.enter();
      if (thread.transitions.empty()) {
        leading_ = true;
        statements(thread.body);
      } else {
        program_.blocks.push_back({.label = "", .place = thread.place});
        const std::uint16_t outside = next(thread.place);
        block_ = static_cast<std::uint32_t>(program_.blocks.size() - 1);
        const std::uint16_t inside = location(thread.place);
        block_ = 0;
        relate(thread, program_, names_, *code_, outside, inside);
      }
      names_.leave();
      patch(kEnded);
      resolve_labels();
    }
  }

  std::uint16_t location(Place place) {
    if (code_->locations.size() >= 0xfff0) {
      names_.fail(place, "the code of this thread is too long",
                  "Procedures are copied to where they are called: call fewer.");
    }
    code_->locations.push_back({.block = block_, .place = place});
    return static_cast<std::uint16_t>(code_->locations.size() - 1);
  }

  // A location for the next statement: what dangles leads there.
  std::uint16_t next(Place place) {
    leading_ = false;
    const std::uint16_t at = location(place);
    patch(at);
    return at;
  }

  Edge& edge(std::uint16_t at, Edge edge) {
    auto& edges = code_->locations[at].edges;
    dangling_.emplace_back(at, static_cast<std::uint16_t>(edges.size()));
    edges.push_back(std::move(edge));
    return edges.back();
  }

  Edge& edge_of(const Dangling::value_type& at) {
    return code_->locations[at.first].edges[at.second];
  }

  void patch(std::uint16_t target) {
    for (const auto& at : dangling_) edge_of(at).target = target;
    dangling_.clear();
  }

  // Those that dangle and come from inside the block `inside` leave it.
  void end_block(std::uint32_t inside) {
    for (const auto& at : dangling_) {
      if (code_->locations[at.first].block == inside) edge_of(at).ends = true;
    }
  }

  void statements(const Block& block) {
    const std::size_t slots = slots_;
    names_.enter();
    for (const Statement& one : block) statement(one);
    names_.leave();
    slots_ = slots;
  }

  void statement(const Statement& one) {
    using Kind = Statement::Kind;
    switch (one.kind) {
      case Kind::kSkip:
        edge(next(one.place), {.place = one.place});
        return;
      case Kind::kDeclare:
        for (const Declaration& declaration : one.declarations) declare_local(declaration);
        return;
      case Kind::kAssign:
        return assign(one);
      case Kind::kAssume: {
        const std::uint16_t at = next(one.place);
        code_->locations[at].assumes = true;
        edge(at, {.guard = names_.condition(*one.condition), .place = one.place});
        return;
      }
      case Kind::kAssert:
        edge(next(one.place), {.kind = Edge::Kind::kAssert,
                               .guard = names_.condition(*one.condition),
                               .place = one.place});
        return;
      case Kind::kIf:
        return branch(one);
      case Kind::kWhile:
        return loop(one);
      case Kind::kGoto: {
        Label& label = labels_[one.name];
        if (label.jumps.empty()) label.first_jump = one.place;
        for (const auto& at : dangling_) label.jumps.emplace_back(at, block_);
        label.wanted = true;
        dangling_.clear();
        return;
      }
      case Kind::kLabel:
        return label(one);
      case Kind::kAtomic:
        return atomic(one);
      case Kind::kBlock:
        return statements(one.body);
      case Kind::kAcquire:
        return acquire(one);
      case Kind::kRelease:
        edge(next(one.place), {.kind = Edge::Kind::kRelease,
                               .object = names_.cell(one.references[0], Binding::Kind::kLock),
                               .place = one.place});
        return;
      case Kind::kStart:
      case Kind::kJoin:
        return start_or_join(one);
      case Kind::kWait:
        return wait(one);
      case Kind::kNotify:
      case Kind::kNotifyAll:
        edge(next(one.place),
             {.kind = one.kind == Kind::kNotify ? Edge::Kind::kNotify : Edge::Kind::kNotifyAll,
              .object = names_.numbered(one.references[0], Binding::Kind::kCondition),
              .place = one.place});
        return;
      case Kind::kCall:
        return call(one);
      case Kind::kReturn:
        if (block_ != outer_block_) end_block(block_);
        returns_.insert(returns_.end(), dangling_.begin(), dangling_.end());
        dangling_.clear();
        return;
    }
  }

  std::uint16_t slots(const Type& type, std::uint32_t count, Place place) {
    const std::size_t first = slots_;
    slots_ += count;
    if (slots_ > kMostLocals) {
      names_.fail(place, fmt::format("more than {} local variables at a time", kMostLocals),
                  "Elements of arrays count, and those of the callers.");
    }
    // Variables that are not there at the same time share their place, which must hold any of them.
    for (std::size_t i = first; i < slots_; ++i) {
      if (i == code_->locals.size()) {
        code_->locals.push_back(type);
        code_->initial.push_back(0);
      }
      Type& slot = code_->locals[i];
      if (type.high - type.low > slot.high - slot.low) slot = type;
    }
    return static_cast<std::uint16_t>(first);
  }

  void declare_local(const Declaration& one) {
    Binding binding;
    binding.is_array = one.size.has_value();
    const std::uint32_t count = one.size.value_or(1);
    std::int32_t value = -1;
    if (one.initial) value = names_.node(*one.initial, one.type);
    binding.cell = {.local = true,
                    .first = slots(one.type, count, one.place),
                    .count = static_cast<std::uint16_t>(count),
                    .type = one.type};
    names_.bind(one.name, one.place, binding);
    if (value < 0) {
      const std::int32_t zero = std::clamp(0, one.type.low, one.type.high);
      value = names_.add(Node{.op = Node::Op::kConstant, .a = zero});
    }
    const Node& initial = program_.nodes[static_cast<std::size_t>(value)];
    // At the very beginning nobody can see that it takes a step.
    if (leading_ && initial.op == Node::Op::kConstant) {
      if (initial.a < one.type.low || initial.a > one.type.high) {
        names_.fail(one.place,
                    fmt::format("{} is not in {}..{}", initial.a, one.type.low, one.type.high), "");
      }
      for (std::uint32_t i = 0; i < count; ++i) {
        code_->initial[binding.cell.first + i] = static_cast<Value>(initial.a - one.type.low);
      }
      return;
    }
    Edge step{.place = one.place};
    for (std::uint32_t i = 0; i < count; ++i) {
      Cell element = binding.cell;
      element.first = static_cast<std::uint16_t>(element.first + i);
      element.count = 1;
      step.assignments.push_back({.cell = names_.add(element), .node = value});
    }
    edge(next(one.place), std::move(step));
  }

  void assign(const Statement& one) {
    const std::uint16_t at = next(one.place);
    Edge step{.place = one.place};
    if (one.condition) {
      code_->locations[at].assumes = true;
      step.guard = names_.condition(*one.condition);
    }
    for (std::size_t i = 0; i < one.references.size(); ++i) {
      const Reference& to = one.references[i];
      const Binding& binding = names_.find(to.name, to.place, Binding::Kind::kVariable);
      const std::int32_t value = names_.node(*one.expressions[i], binding.cell.type);
      step.assignments.push_back(
          {.cell = names_.cell(to, Binding::Kind::kVariable), .node = value});
    }
    edge(at, std::move(step));
  }

  void acquire(const Statement& one) {
    const std::uint16_t at = next(one.place);
    const std::int32_t lock = names_.cell(one.references[0], Binding::Kind::kLock);
    edge(at, {.kind = Edge::Kind::kAcquire, .object = lock, .place = one.place});
    if (!one.tries) return;
    const Dangling then = std::exchange(dangling_, {});
    edge(at, {.kind = Edge::Kind::kHeld, .object = lock, .place = one.place});
    statements(one.otherwise);
    dangling_.insert(dangling_.end(), then.begin(), then.end());
  }

  void branch(const Statement& one) {
    const std::uint16_t at = next(one.place);
    const std::int32_t holds = names_.condition(*one.condition);
    const std::int32_t fails = names_.add(Node{.op = Node::Op::kNot, .a = holds});
    edge(at, {.guard = holds, .place = one.place});
    statements(one.body);
    Dangling then = std::exchange(dangling_, {});
    edge(at, {.guard = fails, .place = one.place});
    statements(one.otherwise);
    dangling_.insert(dangling_.end(), then.begin(), then.end());
  }

  void loop(const Statement& one) {
    const std::uint16_t at = next(one.place);
    const std::int32_t holds = names_.condition(*one.condition);
    const std::int32_t fails = names_.add(Node{.op = Node::Op::kNot, .a = holds});
    edge(at, {.guard = holds, .place = one.place});
    statements(one.body);
    patch(at);
    edge(at, {.guard = fails, .place = one.place});
  }

  struct Label {
    std::vector<std::pair<Dangling::value_type, std::uint32_t>> jumps;  // and from which block
    Place first_jump;
    bool wanted = false;
    std::uint16_t location = kNotStarted;
    std::uint32_t block = 0;
  };

  void label(const Statement& one) {
    Label& known = labels_[one.name];
    if (known.location != kNotStarted) {
      names_.fail(one.place, fmt::format("there is a label '{}' already", one.name),
                  "Labels of a procedure that is called twice count twice: use while.");
    }
    known.location = next(one.place);
    known.block = block_;
    edge(known.location, {.place = one.place});
  }

  void resolve_labels() {
    for (const auto& [name, label] : labels_) {
      if (label.wanted && label.location == kNotStarted) {
        names_.fail(label.first_jump, fmt::format("no label '{}' in this thread", name), "");
      }
      for (const auto& [at, block] : label.jumps) {
        if (label.block != 0 && block != label.block) {
          names_.fail(label.first_jump, "goto leads into an atomic block",
                      "Let the label stand in the same block, or outside.");
        }
        Edge& jump = edge_of(at);
        jump.target = label.location;
        if (code_->locations[at.first].block != label.block) jump.ends = true;
      }
    }
  }

  void atomic(const Statement& one) {
    if (block_ != 0) return statements(one.body);
    program_.blocks.push_back({.label = one.name, .place = one.place});
    block_ = static_cast<std::uint32_t>(program_.blocks.size() - 1);
    statements(one.body);
    end_block(block_);
    block_ = 0;
  }

  void start_or_join(const Statement& one) {
    const bool starts = one.kind == Statement::Kind::kStart;
    const Reference& of = one.references[0];
    Edge step{.kind = starts ? Edge::Kind::kStart : Edge::Kind::kJoin,
              .ends = block_ != 0,
              .place = one.place};
    const std::int32_t which = names_.numbered(of, Binding::Kind::kThread);
    const Binding& all = names_.find(of.name, of.place, Binding::Kind::kThread);
    if (which >= 0) {
      step.threads.push_back(static_cast<std::uint16_t>(which));
      if (all.is_array) named_threads_.insert(static_cast<std::uint16_t>(which));
    } else {
      for (std::int32_t i = 0; i < all.cell.count; ++i) {
        step.threads.push_back(static_cast<std::uint16_t>(all.value + i));
      }
    }
    if (starts) {
      for (const std::uint16_t thread : step.threads) program_.threads[thread].started = false;
    }
    edge(next(one.place), std::move(step));
  }

  void wait(const Statement& one) {
    const std::int32_t condition = names_.numbered(one.references[0], Binding::Kind::kCondition);
    const std::int32_t lock = names_.cell(one.references[1], Binding::Kind::kLock);
    if (program_.cells[static_cast<std::size_t>(lock)].index >= 0) {
      names_.fail(one.references[1].place, "which lock it is must be known beforehand", "");
    }
    edge(next(one.place),
         {.kind = Edge::Kind::kWait, .ends = block_ != 0, .object = lock, .place = one.place});
    const std::uint16_t waiting = next(one.place);
    code_->locations[waiting].waits = condition;
    edge(waiting, {.kind = Edge::Kind::kNotified, .place = one.place});
    edge(next(one.place), {.kind = Edge::Kind::kAcquire, .object = lock, .place = one.place});
  }

  void call(const Statement& one) {
    names_.find(one.name, one.place, Binding::Kind::kProcedure);
    const auto procedure = std::ranges::find(ast_.procedures, one.name, &Procedure::name);
    if (std::ranges::find(calls_, one.name) != calls_.end()) {
      names_.fail(one.place, fmt::format("'{}' calls itself", one.name),
                  "Procedures are copied to where they are called; write a loop.");
    }
    if (one.expressions.size() != procedure->parameters.size()) {
      names_.fail(one.place,
                  fmt::format("'{}' has {} parameters, not {}", one.name,
                              procedure->parameters.size(), one.expressions.size()),
                  "");
    }
    const std::size_t slots_before = slots_;
    std::vector<Binding> bindings;
    bindings.reserve(one.expressions.size());
    Edge step{.place = one.place};
    for (std::size_t i = 0; i < one.expressions.size(); ++i) {
      bindings.push_back(argument(procedure->parameters[i], *one.expressions[i], step));
    }
    if (!step.assignments.empty()) edge(next(one.place), std::move(step));
    names_.hide_callers();
    names_.enter();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      names_.bind(procedure->parameters[i].name, procedure->parameters[i].place, bindings[i]);
    }
    calls_.push_back(one.name);
    Dangling returns = std::exchange(returns_, {});
    const std::uint32_t outer = std::exchange(outer_block_, block_);
    statements(procedure->body);
    dangling_.insert(dangling_.end(), returns_.begin(), returns_.end());
    outer_block_ = outer;
    returns_ = std::move(returns);
    calls_.pop_back();
    names_.leave();
    names_.show_callers();
    slots_ = slots_before;
  }

  Binding argument(const Declaration& parameter, const Expression& value, Edge& step) {
    Binding binding;
    if (parameter.by_name) {
      if (value.kind != Expression::Kind::kName) {
        names_.fail(value.place, "a variable is wanted here: the parameter is declared with &", "");
      }
      const std::int32_t cell = names_.cell(
          value.name, value.place, value.operands.empty() ? nullptr : value.operands[0].get(),
          Binding::Kind::kVariable);
      binding.cell = program_.cells[static_cast<std::size_t>(cell)];
      const Type& type = binding.cell.type;
      if (binding.cell.index >= 0) {
        names_.fail(value.place, "which element it is must be known beforehand", "");
      }
      if (type.is_bool != parameter.type.is_bool || type.low != parameter.type.low ||
          type.high != parameter.type.high) {
        names_.fail(value.place, "the variable is of another type than the parameter", "");
      }
      return binding;
    }
    const std::int32_t node = names_.node(value, parameter.type);
    binding.cell = {
        .local = true, .first = slots(parameter.type, 1, parameter.place), .type = parameter.type};
    step.assignments.push_back({.cell = names_.add(binding.cell), .node = node});
    return binding;
  }

  // ---- the whole ----

  void finish() {
    for (const std::uint16_t thread : named_threads_) {
      program_.threads[thread].group = thread;
    }
    // A group is named after a member; if that one has left it, the others need another name.
    for (std::size_t i = 0; i < program_.threads.size(); ++i) {
      if (named_threads_.contains(static_cast<std::uint16_t>(i))) continue;
      ThreadInfo& info = program_.threads[i];
      if (named_threads_.contains(info.group)) {
        info.group = static_cast<std::uint16_t>(info.group + kMostThreads);
      }
    }
    std::size_t field = program_.first_lock + program_.locks.size();
    for (ThreadInfo& info : program_.threads) {
      info.field = static_cast<std::uint16_t>(field);
      field += 1 + program_.codes[info.code].locals.size();
    }
    program_.fields = field;
    find_facts(program_);
    if (program_.tracked.size() > kMostTracked) {
      names_.fail({.line = 1, .column = 1},
                  fmt::format("threads share {} variables: too many", program_.tracked.size()),
                  fmt::format("At most {} are allowed; elements of arrays count.", kMostTracked));
    }
  }

  const Ast& ast_;
  Program program_;
  Expressions names_;
  std::vector<std::size_t> first_thread_;  // by thread of the source
  std::set<std::uint16_t> named_threads_;  // started or joined on their own
  Code* code_ = nullptr;
  Dangling dangling_;
  Dangling returns_;
  std::vector<std::string> calls_;
  std::map<std::string, Label> labels_;
  std::size_t slots_ = 0;
  std::uint32_t block_ = 0;
  std::uint32_t outer_block_ = 0;  // where the procedure was called
  bool leading_ = false;           // nothing but declarations so far
};

}  // namespace

Result<Program> compile(const Ast& ast, std::string_view file) {
  try {
    return Compiler(ast, file).run();
  } catch (Error& error) {
    return std::unexpected(std::move(error));
  }
}

Result<Program> load(std::string_view source, std::string_view file) {
  const auto ast = parse(source, file);
  if (!ast) return std::unexpected(ast.error());
  return compile(*ast, file);
}

}  // namespace tomos::model
