// OpenMP: libgomp's threads spin and wait in ways of their own.
// COMPILER: gcc -fopenmp
#include "check.h"

int main(void) {
  long sum = 0;
  int inside = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    inside++;
#pragma omp barrier
    CHECK(inside == 3);
  }
  CHECK(sum == 4950);
  return ok();
}
