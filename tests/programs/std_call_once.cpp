// A table that is built when first needed: by std::call_once, or by a home-made flag.
// FINDS: label=Squares::of variable=squares.built_
#include <mutex>

#include "threads.h"

class Squares {
 public:
  int of(int i) {
#ifdef BAD
    if (!built_) build();
    built_ = true;
#else
    std::call_once(once_, [this] { build(); });
#endif
    return table_[i];
  }

 private:
  void build() {
    for (int i = 0; i < 10; i++) table_[i] = i * i;
  }

  [[maybe_unused]] bool built_ = false;
  [[maybe_unused]] std::once_flag once_;
  int table_[10] = {};
};

Squares squares;

int main() {
  in_threads({[] { squares.of(3); }, [] { squares.of(4); }});
}
