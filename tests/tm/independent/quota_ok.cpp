// Each user may have so many bytes. A claim is checked and made at once; what is shown is read on
// its own and decides nothing.
#include <cstdio>
#include <map>
#include <string>
#include <thread>

namespace {

class Quotas {
 public:
  bool claim(const std::string& user, long bytes) {
    bool granted = false;
    synchronized {
      long& used = used_[user];
      if (used + bytes <= kMost) {
        used += bytes;
        granted = true;
      }
    }
    return granted;
  }
  void give_back(const std::string& user, long bytes) {
    synchronized { used_[user] -= bytes; }
  }
  long used(const std::string& user) {
    synchronized { return used_[user]; }
  }

 private:
  static constexpr long kMost = 1000;
  std::map<std::string, long> used_;
};

Quotas quotas;

void upload(const std::string& user) {
  for (long size = 1; size < 100; ++size) {
    if (!quotas.claim(user, size)) continue;
    quotas.give_back(user, size);
  }
}

}  // namespace

int main() {
  std::thread one(upload, "ann");
  std::thread two(upload, "ann");
  std::printf("%ld\n", quotas.used("ann"));
  one.join();
  two.join();
}
