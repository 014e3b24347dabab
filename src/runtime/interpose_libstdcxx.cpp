// What libstdc++ does out of line to the program's data: it links nodes of lists and trees, and it
// guards static variables. The library is not instrumented; the templates in its headers are, so
// the rest of its containers needs no help.
//
// Told are the links that decide which nodes are in the container: those of the neighbours. That
// rebalancing turns other nodes round is left out: it changes no answer of the container.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/guards.h"
#include "runtime/interpose.h"

using namespace tomos::runtime;

namespace {

// As in libstdc++'s stl_tree.h and stl_list.h: their layout is part of its ABI.
struct TreeNode {
  int color;
  TreeNode* parent;
  TreeNode* left;
  TreeNode* right;
};
struct ListNode {
  ListNode* next;
  ListNode* previous;
};

template <class Function>
Function* real_library_function(RealFunction& function) {
  if (address_of_real(function) == nullptr) function.address = find_in_libstdcxx(function.name);
  return reinterpret_cast<Function*>(function.address);
}

template <class Node>
void tell_link(Node* const* link, Address pc) {
  write_range(link, sizeof *link, pc);
  stored_pointer(link, *link);
}

bool is_told(Address pc) { return !inside() && from_instrumented(pc); }

// The header of a tree: its root is what `parent` points to, first and last node are left and
// right.
class HeaderChange {
 public:
  explicit HeaderChange(const TreeNode& header) : header_(header), before_(header) {}
  void tell(Address pc) const {
    if (header_.parent != before_.parent) tell_link(&header_.parent, pc);
    if (header_.left != before_.left) tell_link(&header_.left, pc);
    if (header_.right != before_.right) tell_link(&header_.right, pc);
  }

 private:
  const TreeNode& header_;
  TreeNode before_;
};

}  // namespace

#define TOMOS_LIBRARY_REAL(name) (real_library_function<name##_function>(real_##name))

// --- std::thread: who makes one is the caller of its constructor, which is in a header.

namespace tomos::runtime {
thread_local constinit Address maker_of_thread = 0;
}

// std::thread::_M_start_thread(state, depend)
TOMOS_INTERPOSE(
    void, _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE,
    void* self, void* state, void (*depend)()) {
  maker_of_thread = TOMOS_CALLER();
  TOMOS_LIBRARY_REAL(
      _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE)
  (self, state, depend);
  maker_of_thread = 0;
}

// --- std::map, set, multimap, multiset.

// std::_Rb_tree_insert_and_rebalance(insert_left, node, parent, header)
TOMOS_INTERPOSE(void, _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_,
                bool insert_left, TreeNode* node, TreeNode* parent, TreeNode& header) {
  auto* const real =
      TOMOS_LIBRARY_REAL(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_);
  const Address pc = TOMOS_CALLER();
  if (!is_told(pc)) return real(insert_left, node, parent, header);
  const HeaderChange change(header);
  TreeNode** const link = insert_left ? &parent->left : &parent->right;
  real(insert_left, node, parent, header);
  if (parent != &header) {
    write_range(link, sizeof *link, pc);
    stored_pointer(link, node);
  }
  change.tell(pc);
}

// std::_Rb_tree_rebalance_for_erase(node, header)
TOMOS_INTERPOSE(TreeNode*, _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_,
                TreeNode* node, TreeNode& header) {
  auto* const real =
      TOMOS_LIBRARY_REAL(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_);
  const Address pc = TOMOS_CALLER();
  if (!is_told(pc)) return real(node, header);
  const HeaderChange change(header);
  TreeNode* const parent = node->parent;
  TreeNode** const link = parent->left == node ? &parent->left : &parent->right;
  TreeNode* const erased = real(node, header);
  if (parent != &header) write_range(link, sizeof *link, pc);
  change.tell(pc);
  return erased;
}

// std::_Rb_tree_increment and _Rb_tree_decrement, for iterators and for const ones.
#define TOMOS_TREE_STEP(name, direction)                                  \
  TOMOS_INTERPOSE(TreeNode*, name, TreeNode* node) {                      \
    auto* const real = TOMOS_LIBRARY_REAL(name);                          \
    const Address pc = TOMOS_CALLER();                                    \
    if (is_told(pc)) read_range(&node->direction, sizeof(TreeNode*), pc); \
    return real(node);                                                    \
  }
TOMOS_TREE_STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, right)
TOMOS_TREE_STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, right)
TOMOS_TREE_STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, left)
TOMOS_TREE_STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, left)

// --- std::list.

// node->_M_hook(position): before `position`.
TOMOS_INTERPOSE(void, _ZNSt8__detail15_List_node_base7_M_hookEPS0_, ListNode* node,
                ListNode* position) {
  TOMOS_LIBRARY_REAL(_ZNSt8__detail15_List_node_base7_M_hookEPS0_)(node, position);
  const Address pc = TOMOS_CALLER();
  if (!is_told(pc)) return;
  tell_link(&node->previous->next, pc);
  tell_link(&position->previous, pc);
}

// node->_M_unhook()
TOMOS_INTERPOSE(void, _ZNSt8__detail15_List_node_base9_M_unhookEv, ListNode* node) {
  TOMOS_LIBRARY_REAL(_ZNSt8__detail15_List_node_base9_M_unhookEv)(node);
  const Address pc = TOMOS_CALLER();
  if (!is_told(pc)) return;
  tell_link(&node->previous->next, pc);
  tell_link(&node->next->previous, pc);
}

// position->_M_transfer(first, last): [first, last) out of its list, to before `position`.
TOMOS_INTERPOSE(void, _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_, ListNode* position,
                ListNode* first, ListNode* last) {
  ListNode* const before_first = first->previous;
  TOMOS_LIBRARY_REAL(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_)(position, first, last);
  const Address pc = TOMOS_CALLER();
  if (position == last || !is_told(pc)) return;
  tell_link(&before_first->next, pc);
  tell_link(&last->previous, pc);
  tell_link(&first->previous->next, pc);
  tell_link(&first->previous, pc);
  tell_link(&position->previous->next, pc);
  tell_link(&position->previous, pc);
}

namespace {

void tell_head(ListNode& head, Address pc) {
  if (!is_told(pc)) return;
  tell_link(&head.next, pc);
  tell_link(&head.previous, pc);
}

}  // namespace

// head->_M_reverse()
TOMOS_INTERPOSE(void, _ZNSt8__detail15_List_node_base10_M_reverseEv, ListNode* head) {
  TOMOS_LIBRARY_REAL(_ZNSt8__detail15_List_node_base10_M_reverseEv)(head);
  tell_head(*head, TOMOS_CALLER());
}

// _List_node_base::swap(one, other)
TOMOS_INTERPOSE(void, _ZNSt8__detail15_List_node_base4swapERS0_S1_, ListNode& one,
                ListNode& other) {
  TOMOS_LIBRARY_REAL(_ZNSt8__detail15_List_node_base4swapERS0_S1_)(one, other);
  tell_head(one, TOMOS_CALLER());
  tell_head(other, TOMOS_CALLER());
}

// --- Guards of static variables.

namespace {

constexpr std::size_t kGuards = std::size_t{16} * 1024;
constexpr std::size_t kGuardProbes = 16;
// Only ever grows: a guard that finds no place is taken for an atomic variable, as it looks.
constinit std::atomic<Address> set_guards[kGuards] = {};

// Those that this thread has waited for: once is enough.
constexpr std::size_t kSeenGuards = 64;
constinit thread_local Address seen_guards[kSeenGuards] = {};

std::size_t guard_hash(Address guard) { return (guard * 0x9e37'79b9'7f4a'7c15) >> 40; }

Address& seen_guard(Address guard) { return seen_guards[guard_hash(guard) % kSeenGuards]; }

void note_set_guard(Address guard) {
  const std::size_t start = guard_hash(guard);
  for (std::size_t probe = 0; probe < kGuardProbes; ++probe) {
    std::atomic<Address>& place = set_guards[(start + probe) % kGuards];
    Address there = 0;
    if (place.compare_exchange_strong(there, guard) || there == guard) return;
  }
}

bool is_noted_guard(Address guard) {
  const std::size_t start = guard_hash(guard);
  for (std::size_t probe = 0; probe < kGuardProbes; ++probe) {
    const Address there = set_guards[(start + probe) % kGuards].load(std::memory_order_relaxed);
    if (there == guard) return true;
    if (there == 0) return false;
  }
  return false;
}

}  // namespace

namespace tomos::runtime {

bool has_waited_before(const volatile void* flag) {
  const auto address = reinterpret_cast<Address>(flag);
  if (seen_guard(address) == address) return true;
  seen_guard(address) = address;
  return false;
}

bool waited_for_guard(const volatile void* guard, Address pc) {
  const auto address = reinterpret_cast<Address>(guard);
  if (seen_guard(address) == address) return true;
  if (!is_noted_guard(address)) return false;
  seen_guard(address) = address;
  wait_over(const_cast<const void*>(guard), pc);
  return true;
}

}  // namespace tomos::runtime

TOMOS_INTERPOSE(int, __cxa_guard_acquire, std::int64_t* guard) {
  const int is_mine = TOMOS_LIBRARY_REAL(__cxa_guard_acquire)(guard);
  if (is_mine == 0 && !inside()) wait_over(guard, TOMOS_CALLER());
  return is_mine;
}
TOMOS_INTERPOSE(void, __cxa_guard_release, std::int64_t* guard) {
  if (!inside()) signal(guard, TOMOS_CALLER());
  note_set_guard(reinterpret_cast<Address>(guard));
  TOMOS_LIBRARY_REAL(__cxa_guard_release)(guard);
}
