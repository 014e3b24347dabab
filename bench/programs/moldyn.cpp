// Molecular dynamics: particles in a periodic box that attract and repel each other as Lennard and
// Jones have it. Each thread adds up the forces of its share of the pairs in an array of its own;
// then each sums all arrays for its share of the particles, and moves them. Barriers part the
// phases.
//
//   moldyn [STEPS]
#include <pthread.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr std::size_t kThreads = 2;
constexpr std::size_t kEdge = 12;  // particles along each edge of the box at the start
constexpr std::size_t kParticles = kEdge * kEdge * kEdge;
constexpr double kSpacing = 1.2;
constexpr double kBox = kEdge * kSpacing;
constexpr double kCutoff = 3.0;  // particles further apart do not feel each other
constexpr double kStep = 0.002;

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;
};

struct Particle {
  Vector position;
  Vector velocity;
};

struct System {
  std::vector<Particle> particles{kParticles};
  std::vector<std::vector<Vector>> forces{kThreads, std::vector<Vector>(kParticles)};
  std::vector<double> potential = std::vector<double>(kThreads);
  std::vector<double> kinetic = std::vector<double>(kThreads);
};

static double shortest(double difference) {
  if (difference > kBox / 2) return difference - kBox;
  if (difference < -kBox / 2) return difference + kBox;
  return difference;
}

static double back_into_box(double place) { return place - kBox * std::floor(place / kBox); }

static void place_particles(System& system) {
  unsigned seed = 1;
  const auto speed = [&seed] {
    seed = seed * 1103515245U + 12345U;
    return static_cast<double>(seed >> 16 & 0x7fffU) / 0x7fff - 0.5;
  };
  for (std::size_t i = 0; i < kParticles; i++) {
    Particle& particle = system.particles[i];
    const std::size_t x = i % kEdge;
    const std::size_t y = i / kEdge % kEdge;
    const std::size_t z = i / kEdge / kEdge;
    particle.position = {static_cast<double>(x) * kSpacing, static_cast<double>(y) * kSpacing,
                         static_cast<double>(z) * kSpacing};
    particle.velocity = {speed(), speed(), speed()};
  }
}

// The pairs whose first particle falls to this thread: every kThreads-th one, since the first
// particles have more partners behind them than the last.
static void add_up_forces(System& system, std::size_t thread) {
  const std::vector<Particle>& particles = system.particles;
  std::vector<Vector>& forces = system.forces[thread];
  double potential = 0;
  for (Vector& force : forces) force = {};
  for (std::size_t i = thread; i < kParticles; i += kThreads) {
    const Vector here = particles[i].position;
    Vector sum;
    for (std::size_t j = i + 1; j < kParticles; j++) {
      const Vector& there = particles[j].position;
      const double dx = shortest(here.x - there.x);
      const double dy = shortest(here.y - there.y);
      const double dz = shortest(here.z - there.z);
      const double square = dx * dx + dy * dy + dz * dz;
      if (square > kCutoff * kCutoff) continue;
      const double inverse = 1 / square;
      const double sixth = inverse * inverse * inverse;
      const double push = 48 * inverse * sixth * (sixth - 0.5);
      potential += 4 * sixth * (sixth - 1);
      sum = {sum.x + push * dx, sum.y + push * dy, sum.z + push * dz};
      forces[j].x -= push * dx;
      forces[j].y -= push * dy;
      forces[j].z -= push * dz;
    }
    forces[i].x += sum.x;
    forces[i].y += sum.y;
    forces[i].z += sum.z;
  }
  system.potential[thread] = potential;
}

static void move_particles(System& system, std::size_t thread) {
  double kinetic = 0;
  const std::size_t end = kParticles * (thread + 1) / kThreads;
  for (std::size_t i = kParticles * thread / kThreads; i < end; i++) {
    Vector force;
    for (const std::vector<Vector>& share : system.forces) {
      force = {force.x + share[i].x, force.y + share[i].y, force.z + share[i].z};
    }
    Vector& velocity = system.particles[i].velocity;
    velocity = {velocity.x + kStep * force.x, velocity.y + kStep * force.y,
                velocity.z + kStep * force.z};
    Vector& position = system.particles[i].position;
    position = {back_into_box(position.x + kStep * velocity.x),
                back_into_box(position.y + kStep * velocity.y),
                back_into_box(position.z + kStep * velocity.z)};
    kinetic += (velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z) / 2;
  }
  system.kinetic[thread] = kinetic;
}

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
  System system;
  place_particles(system);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::size_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&system, &barrier, steps, t] {
      for (long step = 0; step < steps; step++) {
        add_up_forces(system, t);
        pthread_barrier_wait(&barrier);
        move_particles(system, t);
        pthread_barrier_wait(&barrier);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  pthread_barrier_destroy(&barrier);
  double potential = 0;
  double kinetic = 0;
  for (std::size_t t = 0; t < kThreads; t++) {
    potential += system.potential[t];
    kinetic += system.kinetic[t];
  }
  std::printf("potential energy %.6f, kinetic energy %.6f\n", potential, kinetic);
}
