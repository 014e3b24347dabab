// A program as `tomos tm` sees it: what the core language leaves out (numbers, and where values
// come from and go to) is what this analysis lives on, so it has a form of its own. Plain data: the
// C++ front end fills it in, tests write it by hand.
//
// Every node is a place (something with an address), a value or a statement. A value of a class
// type is the address of an object; a reference is a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tomos::tm {

struct Position {
  std::uint32_t file = 0;  // index into Program::files
  std::uint32_t line = 0;  // 0: unknown
  std::uint32_t column = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

enum class NodeId : std::uint32_t {};
inline constexpr NodeId kNoNode{0xffffffff};

struct Node {
  enum class Kind : std::uint8_t {
    // Places.
    kLocal,    // number: the variable of the function
    kGlobal,   // number: the index of the global
    kField,    // name in the object at the place children[0]
    kElement,  // of the array at the place children[0], with index children[1] if there is one
    kDeref,    // where the value children[0] leads
    // Values.
    kConstant,  // `known`: it is `number`
    kLoad,      // of the place children[0]
    kAddress,   // of the place children[0]
    kOperator,  // depends on all children; `negated`: not children[0]
    kCompare,   // whether children[0] and children[1] are equal; `negated`: whether they are not
    kAssign,    // children[0] = children[1]
    kUpdate,    // children[0] += children[1]: read and written
    kCopy,      // the object at children[1] into the object at children[0]; name: their class
    kNew,       // a new object; its address
    kFunction,  // name: its address
    kCall,      // name(children)
    kIndirect,  // children[0](rest): a pointer to a function, or an object that can be called
    // A container or the like at the place children[0] is used, with the arguments that follow: its
    // elements are one with it. `writes`: it is changed.
    kContainer,
    kFork,  // children[0] (kNoNode: nobody keeps it) is the new thread; name(rest)
    kJoin,  // the thread at the place children[0] has ended; none: all of them
    // Statements.
    kSequence,  //
    kIf,        // condition, then, else; `negated`: condition || children[1]
    kLoop,      // condition, body; condition kNoNode: left by break only
    kDo,        // body, then condition
    kReturn,    // children[0], or nothing
    kBreak,     //
    kContinue,  //
    kEnd,       // nobody comes back from here: exit, abort, longjmp
    kAtomic,    // children[0] is a transaction
    // children[1] runs with the lock at the place children[0]. `known`: it may have been taken
    // already; `negated`: it is taken later, if at all. If there is a children[2], that gives back
    // in the end what is held then.
    kGuard,
    kScope,   // children[0], and then, however it is left, children[1]
    kLock,    // children[0]
    kTry,     // the same, if it is free: the value is not zero then; `negated`: is zero then
    kUnlock,  // children[0]; `quiet`: if that leads to one
    kWait,    // gives children[0] back, and takes it again when something has changed
  };
  Kind kind = Kind::kConstant;
  bool writes = false;  // kContainer
  bool negated = false;
  bool known = false;  // kConstant
  bool plain = false;  // kOperator: it leads nowhere, whatever it is made of
  // An access that needs no transaction: std::atomic. Of kNew: if it is given to a thread, that
  // thread alone has it.
  bool quiet = false;
  bool pointer = false;  // kContainer: the value leads into it
  bool shared = false;  // kGuard, kLock, kTry: others may have it at the same time, in the same way
  std::uint32_t number = 0;
  std::string name;
  std::vector<NodeId> children;
  Position position;
  Position end;  // of kAtomic and kGuard
};

// What initialises the globals of a translation unit is a function of this display name.
inline constexpr const char* kGlobals = "(globals)";

struct Function {
  std::string name;  // what it is linked by
  std::string display;
  std::string signature;                // as people write it: "StringBuffer::length() const"
  std::vector<std::string> overridden;  // names of the virtual functions that it may stand for
  std::uint32_t parameters = 0;         // `this` is the first; they are the first locals
  std::vector<std::string> locals;      // their names, for people
  NodeId body = kNoNode;                // none: defined elsewhere
  Position position;
};

// Whether people may mean this function by the name: for what initialises globals there is none.
inline bool is_called(const Function& function, const std::string& name) {
  return function.display != kGlobals &&
         (function.display == name || function.signature == name || function.name == name);
}

struct Field {
  std::string name;
  std::string type;  // the class of an object that is held by value; else empty
};

struct Global {
  std::string name;
  std::string display;
  bool is_thread_local = false;
};

struct Program {
  std::vector<std::string> files;
  std::vector<Node> nodes;
  std::vector<Function> functions;
  std::vector<Global> globals;
  std::map<std::string, std::vector<Field>> classes;  // with those of their bases

  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  }
  const Node& operator[](NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

}  // namespace tomos::tm
