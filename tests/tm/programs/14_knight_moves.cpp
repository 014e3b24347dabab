// Knight Moves: a thread for every move. Whether a square was reached before is asked in one
// transaction and noted in another. What main does to `sol` is before the first and after the last
// thread: no race.
#include <cstdio>
#include <thread>
#include <vector>

int sol[8][8];

struct Square {
  int x;
  int y;
};

int get(Square p) {
  __transaction_atomic { return sol[p.x][p.y]; }
}

void set(Square p, int m) {
  __transaction_atomic { sol[p.x][p.y] = m; }
}

bool improve(Square p, int m) {
#ifdef FIXED
  __transaction_atomic {
    if (get(p) <= m) return false;
    set(p, m);
    return true;
  }
#else
  if (get(p) <= m) return false;
  set(p, m);
  return true;
#endif
}

void solver(Square p, int m) {
  static const int kX[8] = {1, 2, 2, 1, -1, -2, -2, -1};
  static const int kY[8] = {2, 1, -1, -2, -2, -1, 1, 2};
  if (!improve(p, m)) return;
  if (p.x == 7 && p.y == 7) return;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    Square q = {p.x + kX[i], p.y + kY[i]};
    if (q.x < 0 || q.y < 0 || q.x > 7 || q.y > 7) continue;
    threads.emplace_back(solver, q, m + 1);
  }
  for (std::thread& thread : threads) thread.join();
}

int main() {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) sol[i][j] = 1000;
  }
  Square start = {0, 0};
  std::thread first(solver, start, 0);
  first.join();
  std::printf("%d\n", sol[7][7]);
}
