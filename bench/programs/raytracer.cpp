// Ray tracing of a cube of mirroring spheres with shadows: threads take rows of the picture from a
// shared counter, and add the checksum of each row to a total that a lock guards.
//
//   raytracer [ROWS OF THE PICTURE]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

constexpr int kThreads = 2;
constexpr int kEdge = 4;  // spheres along each edge of the cube
constexpr int kReflections = 4;

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;
};

static Vector operator+(const Vector& a, const Vector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
static Vector operator-(const Vector& a, const Vector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
static Vector operator*(const Vector& a, double factor) {
  return {a.x * factor, a.y * factor, a.z * factor};
}
static double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vector unit(const Vector& a) { return a * (1 / std::sqrt(dot(a, a))); }

struct Ray {
  Vector from;
  Vector direction;  // of length 1
};

class Sphere {
 public:
  Sphere(const Vector& centre, double radius, const Vector& colour)
      : centre_(centre), radius_(radius), colour_(colour) {}

  // How far along the ray it is met, if it is met in front.
  std::optional<double> meet(const Ray& ray) const {
    const Vector away = centre_ - ray.from;
    const double nearest = dot(away, ray.direction);
    const double half_chord = radius_ * radius_ - dot(away, away) + nearest * nearest;
    if (nearest < 0 || half_chord < 0) return std::nullopt;
    const double distance = nearest - std::sqrt(half_chord);
    if (distance < 1e-6) return std::nullopt;
    return distance;
  }
  Vector normal(const Vector& point) const { return (point - centre_) * (1 / radius_); }
  const Vector& colour() const { return colour_; }

 private:
  Vector centre_;
  double radius_;
  Vector colour_;
};

class Scene {
 public:
  Scene() {
    for (int i = 0; i < kEdge * kEdge * kEdge; i++) {
      const int x = i % kEdge;
      const int y = i / kEdge % kEdge;
      const int z = i / kEdge / kEdge;
      spheres_.emplace_back(Vector{x * 2.0, y * 2.0, z * 2.0}, 0.8,
                            Vector{0.3 + 0.2 * x, 0.3 + 0.2 * y, 0.3 + 0.2 * z});
    }
    lights_ = {{20, 30, -20}, {-20, 10, -10}};
  }

  Vector trace(const Ray& ray, int reflections) const {
    double distance = 0;
    const Sphere* sphere = nearest(ray, &distance);
    if (!sphere) return {0.1, 0.1, 0.2};
    const Vector point = ray.from + ray.direction * distance;
    const Vector normal = sphere->normal(point);
    Vector colour = sphere->colour() * 0.1;
    for (const Vector& light : lights_) {
      const Vector to_light = unit(light - point);
      const double bright = dot(normal, to_light);
      if (bright > 0 && !shadowed({point, to_light})) {
        colour = colour + sphere->colour() * (bright * 0.5);
      }
    }
    if (reflections == 0) return colour;
    const Vector mirrored = ray.direction - normal * (2 * dot(normal, ray.direction));
    return colour + trace({point, mirrored}, reflections - 1) * 0.3;
  }

 private:
  const Sphere* nearest(const Ray& ray, double* distance) const {
    const Sphere* found = nullptr;
    for (const Sphere& sphere : spheres_) {
      const std::optional<double> met = sphere.meet(ray);
      if (met && (!found || *met < *distance)) {
        found = &sphere;
        *distance = *met;
      }
    }
    return found;
  }
  bool shadowed(const Ray& to_light) const {
    return std::ranges::any_of(
        spheres_, [&](const Sphere& sphere) { return sphere.meet(to_light).has_value(); });
  }

  std::vector<Sphere> spheres_;
  std::vector<Vector> lights_;
};

// What the threads share besides the scene.
class Picture {
 public:
  explicit Picture(int rows) : rows_(rows) {}
  bool take(int* row) {
    const std::lock_guard lock(mutex_);
    if (next_row_ == rows_) return false;
    *row = next_row_++;
    return true;
  }
  void add(std::uint64_t checksum) {
    const std::lock_guard lock(mutex_);
    checksum_ += checksum;
  }
  int rows() const { return rows_; }
  std::uint64_t checksum() {
    const std::lock_guard lock(mutex_);
    return checksum_;
  }

 private:
  const int rows_;
  std::mutex mutex_;
  int next_row_ = 0;
  std::uint64_t checksum_ = 0;
};

static std::uint64_t byte_of(double bright) {
  return static_cast<std::uint64_t>(std::clamp(bright, 0.0, 1.0) * 255);
}

static void render(const Scene& scene, Picture& picture) {
  const Vector eye = {3, 3, -12};
  const int side = picture.rows();
  for (int row = 0; picture.take(&row);) {
    std::uint64_t checksum = 0;
    for (int column = 0; column < side; column++) {
      const Vector target = {-1 + 8.0 * column / side, -1 + 8.0 * row / side, 0};
      const Vector colour = scene.trace({eye, unit(target - eye)}, kReflections);
      checksum += byte_of(colour.x) + byte_of(colour.y) + byte_of(colour.z);
    }
    picture.add(checksum);
  }
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 200;
  const Scene scene;
  Picture picture(rows);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] { render(scene, picture); });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("checksum %llu\n", static_cast<unsigned long long>(picture.checksum()));
}
