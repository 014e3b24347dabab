// Leases run out at some time. Who renews asks first whether the lease is still its own, and then
// sets the time: in between it may have run out and be somebody else's.
#include <thread>

namespace {

struct Lease {
  int owner = 0;
  long until = 0;
};

Lease lease;

bool is_mine(int me, long now) {
  __transaction_atomic { return lease.owner == me && lease.until > now; }
}

void extend(long until) {
  __transaction_atomic { lease.until = until; }
}

bool take(int me, long now) {
  bool taken = false;
  __transaction_atomic {
    if (lease.until <= now) {
      lease.owner = me;
      lease.until = now + 10;
      taken = true;
    }
  }
  return taken;
}

void hold(int me) {
  for (long now = 0; now < 1000; ++now) {
    if (is_mine(me, now)) {
      extend(now + 10);
    } else {
      take(me, now);
    }
  }
}

}  // namespace

int main() {
  std::thread one(hold, 1);
  std::thread two(hold, 2);
  one.join();
  two.join();
}
