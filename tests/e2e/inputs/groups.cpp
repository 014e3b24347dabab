// Objects whose fields are read and written together, of one thread and of two.
#include <thread>

struct Point {
  double x = 0;
  double y = 0;
  double z = 0;
};

static Point shared[256];

// All fields in one block, and one field behind a branch.
double sum(const Point* points, int count) {
  double total = 0;
  for (int i = 0; i < count; i++) {
    double x = points[i].x;
    if (x > 1) x = -x;
    total += x * points[i].y + points[i].z;
  }
  return total;
}

void move(Point* points, int count) {
  for (int i = 0; i < count; i++) {
    points[i].x += 1;
    points[i].y += points[i].x;
    points[i].z += points[i].y;
  }
}

// The store of `where` hands the point to other threads before its last field is written.
Point* where;
void hand_over(Point* point) {
  point->x = 1;
  point->y = 2;
  where = point;
  point->z = 3;
}

static void work() {
  Point own[16];
  move(own, 16);
  shared[0].x += sum(own, 16);
  move(shared, 256);
  shared[1].x += sum(shared, 256);
  hand_over(new Point);
}

int main() {
  std::thread first(work);
  first.join();
  std::thread second(work);
  std::thread third(work);
  second.join();
  third.join();
}
