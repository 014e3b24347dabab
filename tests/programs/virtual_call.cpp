// Virtual calls, through a pointer to the base.
// FINDS: label=Sensor::refresh variable=thermometer.value_ at=measure,store
#include <mutex>

#include "threads.h"

class Sensor {
 public:
  virtual ~Sensor() = default;
  virtual int measure() = 0;
  virtual void store(int value) = 0;
  virtual void refresh() { store(measure() + 1); }
};

class Thermometer : public Sensor {
 public:
  int measure() override {
    std::lock_guard lock(mutex_);
    return value_;  // @measure
  }
  void store(int value) override {
    std::lock_guard lock(mutex_);
    value_ = value;  // @store
  }
#ifndef BAD
  void refresh() override {
    std::lock_guard lock(mutex_);
    Sensor::refresh();
  }
#endif

 private:
  std::recursive_mutex mutex_;
  int value_ = 0;
};

Thermometer thermometer;
Sensor* sensor = &thermometer;

int main() {
  in_threads({[] { sensor->refresh(); }, [] { sensor->refresh(); }});
}
