// Guards (RAII) that are passed on, and other places where a lock is given back that are easily
// overlooked. Each deposit() reads the balance under the lock, and writes it under the lock;
// whether it has given that back in between is the question.
// clang-format off
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using G = std::unique_lock<std::mutex>;
using L = std::lock_guard<std::mutex>;
static std::mutex m, m2;
static std::shared_mutex sm;
static int extra;

static void step(G& l) { l.unlock(); l.lock(); }
static void finish(G l) { extra = 1; }
struct Locker { explicit Locker(std::mutex& on) : on_(on) { on_.lock(); } ~Locker() { on_.unlock(); } std::mutex& on_; };
struct Session { explicit Session(std::mutex& on) : l(on) {} void pause() { l.unlock(); l.lock(); } void rest() { extra = 1; } G l; };

namespace ref_between {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; step(l); balance = b + amount; }
}
namespace ref_untouched {  // whole
static int balance;
static void step(G& l) { if (l.owns_lock()) extra = 1; }
void deposit(int amount) { G l(m); int b = balance; step(l); balance = b + amount; }
}
namespace ref_twice {  // cut
static int balance;
static void outer(G& x) { step(x); }
void deposit(int amount) { G l(m); int b = balance; outer(l); balance = b + amount; }
}
namespace ptr_between {  // cut
static int balance;
static void step(G* l) { l->unlock(); l->lock(); }
void deposit(int amount) { G l(m); int b = balance; step(&l); balance = b + amount; }
}
namespace ref_local {  // cut
static int balance;
void deposit(int amount) { G l(m); G& r = l; int b = balance; r.unlock(); r.lock(); balance = b + amount; }
}
namespace forward {  // cut
static int balance;
template <class T> static void step(T&& l) { G o(std::forward<T>(l)); }
void deposit(int amount) { G l(m); int b = balance; step(std::move(l)); G again(m); balance = b + amount; }
}
namespace value_finish {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; finish(std::move(l)); G again(m); balance = b + amount; }
}
namespace value_ok {  // whole
static int balance;
static void finish(G l, int b) { balance = b; }
void deposit(int amount) { G l(m); int b = balance; finish(std::move(l), b + amount); }
}
namespace value_temp {  // cut
static int balance;
void deposit(int amount) { int b; { L l(m); b = balance; } finish(G(m)); L again(m); balance = b + amount; }
}
namespace value_through {  // whole
static int balance;
static G through(G l) { extra = 1; return l; }
void deposit(int amount) { G l(m); int b = balance; l = through(std::move(l)); balance = b + amount; }
}
namespace rvalue_untouched {  // whole
static int balance;
static void step(G&&) { extra = 1; }
void deposit(int amount) { G l(m); int b = balance; step(std::move(l)); balance = b + amount; }
}
namespace rvalue_takes {  // cut
static int balance;
static void step(G&& l) { G mine(std::move(l)); }
void deposit(int amount) { G l(m); int b = balance; step(std::move(l)); G again(m); balance = b + amount; }
}
namespace returned {  // whole
static int balance;
static G obtain() { return G(m); }
void deposit(int amount) { auto l = obtain(); int b = balance; balance = b + amount; }
}
namespace returned_named {  // whole
static int balance;
static G obtain() { G l(m); extra = 2; return l; }
void deposit(int amount) { auto l = obtain(); int b = balance; balance = b + amount; }
}
namespace returned_with {  // whole
static int balance;
static std::pair<int, int> p; static G obtain(int& b) { G l(m); b = balance; return l; }
void deposit(int amount) { int b; auto l = obtain(b); balance = b + amount; }
}
namespace returned_between {  // cut
static int balance;
static G obtain() { G l(m); extra = 2; return l; }
void deposit(int amount) { int b; { auto l = obtain(); b = balance; } auto l = obtain(); balance = b + amount; }
}
namespace returned_step {  // cut
static int balance;
static G obtain() { return G(m); }
void deposit(int amount) { auto l = obtain(); int b = balance; step(l); balance = b + amount; }
}
namespace returned_ref {  // cut
static int balance;
static G& same(G& l) { return l; }
void deposit(int amount) { G l(m); int b = balance; same(l).unlock(); l.lock(); balance = b + amount; }
}
namespace returned_assigned {  // whole
static int balance;
static G obtain() { return G(m); }
void deposit(int amount) { G l; l = obtain(); int b = balance; balance = b + amount; }
}
namespace returned_lambda {  // whole
static int balance;
void deposit(int amount) { auto obtain = [] { return G(m); }; auto l = obtain(); int b = balance; balance = b + amount; }
}
namespace returned_one_way {  // whole
static int balance;
static G obtain(int amount) { G l(m); if (amount > 1) return l; extra = 1; return l; }
void deposit(int amount) { auto l = obtain(amount); int b = balance; balance = b + amount; }
}
namespace returned_dropped {  // cut
static int balance;
static G obtain() { return G(m); }
void deposit(int amount) { (void)obtain(); int b; { L l(m); b = balance; } { L l(m); balance = b + amount; } }
}
namespace temp_guard {  // cut
static int balance;
void deposit(int amount) { std::unique_lock<std::mutex>{m}; int b; { L l(m); b = balance; } { L l(m); balance = b + amount; } }
}
namespace temp_arg {  // cut
static int balance;
static int get(const G&) { return balance; }
void deposit(int amount) { int b = get(G(m)); L l(m); balance = b + amount; }
}
namespace temp_arg_ok {  // whole
static int balance;
static void add(const G&, int amount) { int b = balance; balance = b + amount; }
void deposit(int amount) { add(G(m), amount); }
}
namespace temp_comma {  // cut
static int balance;
void deposit(int amount) { int b = (L(m), balance); (L(m), balance = b + amount); }
}
namespace temp_comma_ok {  // whole
static int balance;
void deposit(int amount) { int b; (L(m), b = balance, balance = b + amount); }
}
namespace temp_extended {  // whole
static int balance;
void deposit(int amount) { const G& l = G(m); int b = balance; balance = b + amount; (void)l; }
}
namespace temp_extended_rr {  // cut
static int balance;
void deposit(int amount) { G&& l = G(m); int b = balance; l.unlock(); l.lock(); balance = b + amount; }
}
namespace temp_member {  // cut
static int balance;
void deposit(int amount) { int b; { L l(m); b = balance; } G(m).unlock(); L l(m); balance = b + amount; }
}
namespace temp_user {  // cut
static int balance;
void deposit(int amount) { Locker{m}; int b; { L l(m); b = balance; } { L l(m); balance = b + amount; } }
}
namespace default_arg {  // cut
static int balance;
static int get(G l = G(m)) { return balance; }
void deposit(int amount) { int b = get(); L l(m); balance = b + amount; }
}
namespace lambda_capture {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; auto step = [&] { l.unlock(); l.lock(); }; step(); balance = b + amount; }
}
namespace lambda_param {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; [](G& g) { g.unlock(); g.lock(); }(l); balance = b + amount; }
}
namespace lambda_value {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; [](G g) { extra = 1; }(std::move(l)); G again(m); balance = b + amount; }
}
namespace lambda_init {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; [g = std::move(l)]() mutable { g.unlock(); }(); G again(m);
    balance = b + amount; }
}
namespace lambda_init_dies {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; { auto keep = [g = std::move(l)] { extra = 1; }; keep();
    } G again(m); balance = b + amount; }
}
namespace lambda_function {  // cut
static int balance;
static void run(const std::function<void()>& f) { f(); }
void deposit(int amount) { G l(m); int b = balance; run([&] { l.unlock(); l.lock(); }); balance = b + amount; }
}
namespace lambda_scope {  // cut
static int balance;
void deposit(int amount) { int b = [&] { L l(m); return balance; }(); L l(m); balance = b + amount; }
}
namespace std_swap_ok {  // whole
static int balance;
void deposit(int amount) { G l(m); G o; int b = balance; std::swap(l, o); balance = b + amount; }
}
namespace swap_dies {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; { G o; std::swap(l, o); } G again(m); balance = b + amount; }
}
namespace member_swap {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; { G o; l.swap(o); } G again(m); balance = b + amount; }
}
namespace release {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; std::mutex* p = l.release(); p->unlock(); G again(m);
    balance = b + amount; }
}
namespace release_ok {  // whole
static int balance;
void deposit(int amount) { G l(m); std::mutex* p = l.release(); int b = balance; balance = b + amount; p->unlock(); }
}
namespace release_late {  // whole
static int balance;
void deposit(int amount) { { G l(m); l.release(); } int b = balance; balance = b + amount; m.unlock(); }
}
namespace deferred_helper {  // whole
static int balance;
static void take(G& l) { l.lock(); }
void deposit(int amount) { G l(m, std::defer_lock); take(l); int b = balance; balance = b + amount; }
}
namespace deferred_bad {  // cut
static int balance;
static void take(G& l) { l.lock(); }
void deposit(int amount) { G l(m, std::defer_lock); take(l); int b = balance; l.unlock(); take(l); balance = b + amount; }
}
namespace adopted {  // cut
static int balance;
void deposit(int amount) { m.lock(); G l(m, std::adopt_lock); int b = balance; step(l); balance = b + amount; }
}
namespace adopted_helper {  // cut
static int balance;
static int get() { L l(m, std::adopt_lock); return balance; }
void deposit(int amount) { m.lock(); int b = get(); L l(m); balance = b + amount; }
}
namespace adopted_temp {  // cut
static int balance;
void deposit(int amount) { int b; m.lock(); b = balance; L{m, std::adopt_lock}; L l(m); balance = b + amount; }
}
namespace tried {  // cut
static int balance;
void deposit(int amount) { G l(m, std::try_to_lock); if (!l) l.lock(); int b = balance; step(l); balance = b + amount; }
}
namespace tried_ok {  // whole
static int balance;
void deposit(int amount) { G l(m, std::try_to_lock); if (!l) return; int b = balance; balance = b + amount; }
}
namespace tried_helper {  // whole
static int balance;
static bool take(G& l) { return l.try_lock(); }
void deposit(int amount) { G l(m, std::defer_lock); if (!take(l)) return; int b = balance; balance = b + amount; }
}
namespace tried_returned {  // whole
static int balance;
static G attempt() { return G(m, std::try_to_lock); }
void deposit(int amount) { auto l = attempt(); if (!l) return; int b = balance; balance = b + amount; }
}
namespace optional {  // cut
static int balance;
void deposit(int amount) { std::optional<G> o; o.emplace(m); int b = balance; o.reset(); o.emplace(m); balance = b + amount; }
}
namespace optional_ok {  // whole
static int balance;
void deposit(int amount) { std::optional<G> o; o.emplace(m); int b = balance; balance = b + amount; }
}
namespace optional_scope {  // cut
static int balance;
void deposit(int amount) { int b; { std::optional<G> o(std::in_place, m); b = balance; } L l(m); balance = b + amount; }
}
namespace pointer {  // cut
static int balance;
void deposit(int amount) { auto p = std::make_unique<L>(m); int b = balance; p.reset(); p = std::make_unique<L>(m);
    balance = b + amount; }
}
namespace pointer_ok {  // whole
static int balance;
void deposit(int amount) { auto p = std::make_unique<G>(m); int b = balance; balance = b + amount; }
}
namespace pointer_step {  // cut
static int balance;
void deposit(int amount) { auto p = std::make_unique<G>(m); int b = balance; step(*p); balance = b + amount; }
}
namespace new_delete {  // cut
static int balance;
void deposit(int amount) { auto* p = new L(m); int b = balance; delete p; L l(m); balance = b + amount; }
}
namespace vector {  // cut
static int balance;
void deposit(int amount) { std::vector<G> v; v.emplace_back(m); int b = balance; v.clear(); L l(m); balance = b + amount; }
}
namespace array {  // cut
static int balance;
void deposit(int amount) { int b; { G v[1] = {G(m)}; b = balance; } L l(m); balance = b + amount; }
}
namespace tuple {  // cut
static int balance;
void deposit(int amount) { int b; { std::tuple<G> v{G(m)}; b = balance; } L l(m); balance = b + amount; }
}
namespace pair_returned {  // whole
static int balance;
static std::pair<G, int> obtain() { G l(m); int b = balance; return {std::move(l), b}; }
void deposit(int amount) { auto [l, b] = obtain(); balance = b + amount; }
}
namespace member {  // cut
static int balance;
void deposit(int amount) { Session s(m); int b = balance; s.pause(); balance = b + amount; }
}
namespace member_ok {  // whole
static int balance;
void deposit(int amount) { Session s(m); int b = balance; s.rest(); balance = b + amount; }
}
namespace member_scope {  // cut
static int balance;
void deposit(int amount) { int b; { Session s(m); b = balance; } Session s(m); balance = b + amount; }
}
namespace member_temp {  // cut
static int balance;
void deposit(int amount) { Session{m}; int b; { L l(m); b = balance; } { L l(m); balance = b + amount; } }
}
namespace member_moved {  // cut
static int balance;
struct Session { explicit Session(G g) : l(std::move(g)) {} G l; };
void deposit(int amount) { G l(m); int b = balance; { Session s(std::move(l)); } G again(m); balance = b + amount; }
}
namespace member_moved_ok {  // whole
static int balance;
struct Session { explicit Session(G g) : l(std::move(g)) {} G l; };
void deposit(int amount) { G l(m); int b = balance; Session s(std::move(l)); balance = b + amount; }
}
namespace member_aggregate {  // cut
static int balance;
struct Box { G l; };
void deposit(int amount) { int b; { Box s{G(m)}; b = balance; } L l(m); balance = b + amount; }
}
namespace member_user {  // cut
static int balance;
struct Outer { Outer() : l(m) {} Locker l; };
void deposit(int amount) { int b; { Outer s; b = balance; } Outer s; balance = b + amount; }
}
namespace member_ref {  // cut
static int balance;
struct Uses { explicit Uses(G& g) : l(g) {} void pause() { l.unlock(); l.lock(); } G& l; };
void deposit(int amount) { G l(m); Uses u(l); int b = balance; u.pause(); balance = b + amount; }
}
namespace base_guard {  // cut
static int balance;
struct Base { Base() : l(m) {} G l; }; struct Derived : Base { };
void deposit(int amount) { int b; { Derived d; b = balance; } Derived d; balance = b + amount; }
}
namespace keep_longer {  // whole
static int balance;
void deposit(int amount) { G keep; int b; { G l(m); b = balance; keep = std::move(l); } balance = b + amount; }
}
namespace keep_longer_bad {  // cut
static int balance;
void deposit(int amount) { G keep; int b; { G l(m); b = balance; keep = std::move(l); } keep.unlock(); keep.lock();
    balance = b + amount; }
}
namespace assign_empty {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; l = G(); G again(m); balance = b + amount; }
}
namespace moved_new {  // whole
static int balance;
void deposit(int amount) { G l(m); G k(std::move(l)); int b = balance; balance = b + amount; }
}
namespace moved_dies {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; { G k(std::move(l)); } L again(m); balance = b + amount; }
}
namespace moved_one_way {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; if (amount > 1) { finish(std::move(l)); l = G(m); } balance = b + amount; }
}
namespace shared {  // cut
static int balance;
static void upgrade(std::shared_lock<std::shared_mutex>& l) { l.unlock(); }
void deposit(int amount) { std::shared_lock l(sm); int b = balance; upgrade(l); std::unique_lock w(sm); balance = b + amount; }
}
namespace shared_value {  // cut
static int balance;
static void upgrade(std::shared_lock<std::shared_mutex> l) { extra = 0; }
void deposit(int amount) { std::shared_lock l(sm); int b = balance; upgrade(std::move(l)); std::unique_lock w(sm);
    balance = b + amount; }
}
namespace inner_way {  // cut
static int balance;
static void step(G& l, int a) { if (a > 1) { l.unlock(); l.lock(); } }
void deposit(int amount) { G l(m); int b = balance; step(l, amount); balance = b + amount; }
}
namespace inner_early {  // cut
static int balance;
static void step(G& l, int a) { l.unlock(); if (a > 1) return; l.lock(); }
void deposit(int amount) { G l(m); int b = balance; step(l, amount); if (!l) l.lock(); balance = b + amount; }
}
namespace loop_break_unlocked {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; while (true) { if (balance >= 0) { l.unlock(); break;
    } } l.lock(); balance = b + amount; }
}
namespace loop_break {  // cut
static int balance;
void deposit(int amount) { int b; for (;;) { G l(m); b = balance; break; } L l(m); balance = b + amount; }
}
namespace loop_continue {  // cut
static int balance;
void deposit(int amount) { int b = 0; for (int i = 0; i < 2; ++i) { L l(m); if (i == 0) { b = balance; continue;
    } balance = b + amount; } }
}
namespace loop_return {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; while (true) { if (balance > 0) { step(l); balance = b; return;
    } balance = b + 2; } }
}
namespace loop_may_unlock {  // whole
static int balance;
void deposit(int amount) { G l(m); int b = balance; balance = b + amount; while (l) { if (extra > 2) l.unlock(); } }
}
namespace if_init {  // cut
static int balance;
void deposit(int amount) { int b; if (L l(m); (b = balance) >= 0) { extra = b; } L l(m); balance = b + amount; }
}
namespace if_init_ok {  // whole
static int balance;
void deposit(int amount) { if (L l(m); balance >= 0) { int b = balance; balance = b + amount; } }
}
namespace if_moved {  // cut
static int balance;
void deposit(int amount) { int b; if (G l(m); (b = balance) >= 0) { G k(std::move(l)); } L l(m); balance = b + amount; }
}
namespace switch_init {  // cut
static int balance;
void deposit(int amount) { int b = 0; switch (L l(m); balance) { case 0: b = balance; break; default: b = balance;
    } L l(m); balance = b + amount; }
}
namespace switch_init_ok {  // whole
static int balance;
void deposit(int amount) { switch (L l(m); balance) { default: { int b = balance; balance = b + amount; } } }
}
namespace switch_break {  // cut
static int balance;
void deposit(int amount) { int b = 0; switch (amount) { case 1: { L l(m); b = balance; break; } default: { L l(m);
    b = balance; } } L l(m); balance = b + amount; }
}
namespace for_init {  // cut
static int balance;
void deposit(int amount) { int b = 0; for (G l(m); l; l.unlock()) b = balance; L l(m); balance = b + amount; }
}
namespace for_init2 {  // cut
static int balance;
void deposit(int amount) { int b = 0; bool go = true; for (L l(m); go; go = false) b = balance; L l(m); balance = b + amount; }
}
namespace for_init_ok {  // whole
static int balance;
void deposit(int amount) { bool go = true; for (L l(m); go; go = false) { int b = balance; balance = b + amount; } }
}
namespace range_init {  // cut
static int balance;
static int one[1];
void deposit(int amount) { int b = 0; for (L l(m); int& x : one) { b = balance + x; } L l(m); balance = b + amount; }
}
namespace range_init_ok {  // whole
static int balance;
static int one[1];
void deposit(int amount) { for (L l(m); int& x : one) { int b = balance + x; balance = b + amount; } }
}
namespace while_cond {  // cut
static int balance;
void deposit(int amount) { int b = 0; while (G l{m}) { b = balance; break; } L l(m); balance = b + amount; }
}
namespace statement_expr {  // cut
static int balance;
void deposit(int amount) { int b = ({ L l(m); balance; }); L l(m); balance = b + amount; }
}
namespace two_decls_bad {  // cut
static int balance;
void deposit(int amount) { int b; { int x = 0; L l(m), k(m2); b = balance + x; } L l(m); balance = b + amount; }
}
namespace mutex_ptr {  // cut
static int balance;
void deposit(int amount) { G l(m); int b = balance; l.mutex()->unlock(); l.mutex()->lock(); balance = b + amount; }
}
namespace destructor_unlock {  // cut
static int balance;
struct Reverse { explicit Reverse(G& g) : l(g) { l.unlock(); } ~Reverse() { l.lock(); } G& l; };
void deposit(int amount) { G l(m); int b = balance; { Reverse r(l); } balance = b + amount; }
}
namespace destructor_unlock_temp {  // cut
static int balance;
struct Reverse { explicit Reverse(G& g) : l(g) { l.unlock(); } ~Reverse() { l.lock(); } G& l; };
void deposit(int amount) { G l(m); int b = balance; Reverse{l}; balance = b + amount; }
}
namespace user_returned {  // whole
static int balance;
static Locker obtain() { return Locker(m); }
void deposit(int amount) { auto l = obtain(); int b = balance; balance = b + amount; }
}
namespace user_returned_bad {  // cut
static int balance;
static Locker obtain() { return Locker(m); }
void deposit(int amount) { int b; { auto l = obtain(); b = balance; } L l(m); balance = b + amount; }
}
namespace function_pointer {  // cut
static int balance;
static void (*how)(G&) = step;
void deposit(int amount) { G l(m); int b = balance; how(l); balance = b + amount; }
}
namespace keep_loop {  // whole
static int balance;
void deposit(int amount) { G keep; int i = 0; while (i < extra) { ++i; keep = G(m); } }
}
namespace base_guard2 {  // cut
static int balance;
struct Own : G { Own() : G(m) {} };
void deposit(int amount) { int b; { Own d; b = balance; } Own d; balance = b + amount; }
}
namespace deadlock_members {  // deadlock
static int balance;
void deposit(int amount) { if (amount > 1) { Session a(m); Session b(m2); } else { Session b(m2); Session a(m); } }
}
namespace deadlock_returned {  // deadlock
static int balance;
static G of(std::mutex& on) { return G(on); }
void deposit(int amount) { if (amount > 1) { auto a = of(m); auto b = of(m2); } else { auto b = of(m2); auto a = of(m); } }
}
namespace deadlock_kept {  // deadlock
static int balance;
void deposit(int amount) { G k(m2, std::defer_lock); G l(m); if (amount > 1) { finish(std::move(l)); k.lock();
    L again(m); } else { k.lock(); } }
}
namespace deadlock_range {  // deadlock
static int balance;
static int one[1];
void deposit(int amount) { if (amount > 1) { for (L a(m); int& x : one) { L b(m2); extra = x; } } else { L b(m2); L a(m); } }
}
namespace deadlock_temp_ref {  // deadlock
static int balance;
static void use(const G&, const G&) {}
void deposit(int amount) { if (amount > 1) use(G(m), G(m2)); else use(G(m2), G(m)); }
}
namespace released_twice_way {  // whole
static int balance;
static void maybe(G& g, int a) { if (balance > a) g.unlock(); }
void deposit(int amount) { G l(m); int b = balance; balance = b + amount; maybe(l, amount); if (l) balance = b + 2; }
}
[[maybe_unused]] static void all(int amount) {
  ref_untouched::deposit(amount);
  value_ok::deposit(amount);
  value_through::deposit(amount);
  rvalue_untouched::deposit(amount);
  returned::deposit(amount);
  returned_named::deposit(amount);
  returned_with::deposit(amount);
  returned_assigned::deposit(amount);
  returned_lambda::deposit(amount);
  returned_one_way::deposit(amount);
  temp_arg_ok::deposit(amount);
  temp_comma_ok::deposit(amount);
  temp_extended::deposit(amount);
  std_swap_ok::deposit(amount);
  release_ok::deposit(amount);
  release_late::deposit(amount);
  deferred_helper::deposit(amount);
  tried_ok::deposit(amount);
  tried_helper::deposit(amount);
  tried_returned::deposit(amount);
  member_ok::deposit(amount);
  member_moved_ok::deposit(amount);
  keep_longer::deposit(amount);
  moved_new::deposit(amount);
  loop_may_unlock::deposit(amount);
  if_init_ok::deposit(amount);
  switch_init_ok::deposit(amount);
  for_init_ok::deposit(amount);
  range_init_ok::deposit(amount);
  user_returned::deposit(amount);
  released_twice_way::deposit(amount);
}

#ifdef FORM
static void teller(int amount) { FORM(amount); }
int main() {
  std::thread first(teller, 1), second(teller, 2);
  first.join();
  second.join();
}
#endif
