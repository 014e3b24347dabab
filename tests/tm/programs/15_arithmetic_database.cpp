// Arithmetic Database: a result is looked up and, if it is not there, gets a new key: four
// transactions that should be one.
#include <thread>
#include <vector>

struct Row {
  int key;
  int value;
};

class Table {
 public:
  int keyOf(int v) {
    __transaction_atomic {
      for (const Row& row : rows_) {
        if (row.value == v) return row.key;
      }
      return -1;
    }
  }
  int maxKey() {
    __transaction_atomic {
      int max = 0;
      for (const Row& row : rows_) {
        if (row.key > max) max = row.key;
      }
      return max;
    }
  }
  void insert(int key, int value) {
    __transaction_atomic { rows_.push_back(Row{key, value}); }
  }

 private:
  std::vector<Row> rows_;
};

Table res;
Table expressions;

void store(int e, int v) {
#ifdef FIXED
  __transaction_atomic {
#endif
    int k = res.keyOf(v);
    if (k < 0) {
      k = res.maxKey() + 1;
      res.insert(k, v);
    }
    expressions.insert(e, k);
#ifdef FIXED
  }
#endif
}

void client(int seed) {
  for (int i = 0; i < 10; ++i) store(seed + i, seed * i);
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) threads.emplace_back(client, i);
  for (std::thread& thread : threads) thread.join();
}
