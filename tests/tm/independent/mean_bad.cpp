// Samples: their sum and their number are written in two transactions, so that who asks for the
// mean can have one sample in the sum that is not in the number.
#include <cstdio>
#include <future>

struct Samples {
  double sum;
  long count;
};

static Samples samples;

static void add_sum(double value) {
  __transaction_atomic { samples.sum += value; }
}

static void add_one() {
  __transaction_atomic { samples.count += 1; }
}

static void sensor(double base) {
  for (int i = 0; i < 500; ++i) {
    add_sum(base + i);
    add_one();
  }
}

static double mean() {
  double result = 0;
  __transaction_atomic {
    if (samples.count > 0) result = samples.sum / samples.count;
  }
  return result;
}

int main() {
  auto a = std::async(std::launch::async, sensor, 1.0);
  auto b = std::async(std::launch::async, sensor, 2.0);
  std::printf("%f\n", mean());
  a.get();
  b.get();
  std::printf("%f\n", mean());
}
