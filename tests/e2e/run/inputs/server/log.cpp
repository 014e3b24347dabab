#include "log.h"

#include <algorithm>

void Log::add_once(int key) {
  if (!contains(key)) add(key);
}

bool Log::contains(int key) const {
  const std::lock_guard guard(mutex_);
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}

void Log::add(int key) {
  const std::lock_guard guard(mutex_);
  keys_.push_back(key);
}
