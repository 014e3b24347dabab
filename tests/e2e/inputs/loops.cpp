// One function, so one transaction, for each shape of loop. Two threads run them all, one after the
// other.
#include <semaphore.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

constexpr int kCount = 150;
double doubles[kCount + 2];
double result;
int ints[kCount + 2];
int others[kCount + 2];
std::uint8_t bytes[kCount + 2];
std::uint16_t shorts[kCount + 2];
int matrix[24][24];
void* pointers[kCount];
struct [[gnu::packed]] Packed {
  char c;
  int value;
};
Packed packed[kCount];
struct Pair {
  std::int64_t first;
  std::int64_t second;
};
Pair pairs[kCount];

void sum() {
  double all = 0;
  for (const double one : doubles) all += one;
  result = all;
}
void add(int* to, const int* from, int count) {
  for (int i = 0; i < count; i++) to[i] += from[i];
}
void backwards(int* to, const int* from, int count) {
  for (int i = count - 1; i >= 0; i--) to[i] = from[i];
}
void every_third() {
  for (int i = 0; i < kCount; i += 3) ints[i]++;
}
void running(int count) {
  for (int i = 1; i < count; i++) ints[i] = ints[i - 1] + others[i];
}
void shift(int count) {
  for (int i = 0; i < count; i++) ints[i] = ints[i + 1];
}
void gather(double* to, const double* from, int count) {
  for (int i = 0; i < count; i++) *to += from[i];
}
int column(const int* first, std::ptrdiff_t width, int count) {
  int all = 0;
  for (int i = 0; i < count; i++) all += first[i * width];
  return all;
}
void invert() {
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(~byte);
}
void mix() {
  for (int i = 0; i < kCount; i++) shorts[i] = static_cast<std::uint16_t>(shorts[i] + bytes[i]);
}
void point(int count) {
  for (int i = 0; i < count; i++) pointers[i] = &ints[i];
}
void sometimes(int count) {
  for (int i = 0; i < count; i++) {
    if (others[i] > 3) ints[i] = 0;
  }
}
void relax(double* row, const double* above, int first) {
  for (int i = first; i < kCount; i += 2)
    row[i] = (row[i - 1] + row[i + 1] + above[i] + row[i]) / 4;
}
void unaligned() {
  for (Packed& one : packed) one.value++;
}
void neighbours() {
  for (int i = 0; i + 1 < kCount; i += 2) ints[i + 1] = ints[i];
}
void both_ends(int count) {
  for (int i = 0; i < count; i++) {
    const int one = ints[i];
    ints[i] = ints[count - 1 - i];
    ints[count - 1 - i] = one;
  }
}
int look_up() {
  int all = 0;
  for (int i = 0; i < kCount; i++) all += ints[bytes[i] & 7];
  return all;
}
void members() {
  for (Pair& pair : pairs) pair.second = pair.first;
}
void twice() {
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kCount; i++) others[i] += round;
  }
}
void short_one(int count) {
  for (int i = 0; i < count; i++) ints[i] = 1;
}

static int all() {
  sum();
  add(ints, others, kCount);
  add(ints + 1, ints, kCount);
  backwards(ints, others, kCount);
  backwards(ints, ints + 1, kCount);
  every_third();
  running(kCount);
  shift(kCount);
  gather(&result, doubles, kCount);
  gather(&doubles[70], doubles, kCount);
  int some = column(&matrix[0][3], 24, 24) + column(&matrix[0][0], 25, 20);
  invert();
  mix();
  point(kCount);
  sometimes(kCount);
  relax(doubles, doubles + 2, 1);
  unaligned();
  neighbours();
  both_ends(kCount);
  some += look_up();
  members();
  twice();
  short_one(3);
  short_one(0);
  return some;
}

int main() {
  sem_t first_is_done;
  sem_t may_end;
  sem_init(&first_is_done, 0, 0);
  sem_init(&may_end, 0, 0);
  for (int i = 0; i < kCount; i++) others[i] = i % 7;
  int some = 0;
  std::thread first([&] {
    some += all();
    sem_post(&first_is_done);
    sem_wait(&may_end);
  });
  std::thread second([&] {
    sem_wait(&first_is_done);
    some += all();
    sem_post(&may_end);
  });
  first.join();
  second.join();
  std::printf("%d\n", some);
}
