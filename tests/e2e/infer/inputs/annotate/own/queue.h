#pragma once
#include "mutex.h"
class Queue {
 public:
  void push();
  void pop();
  int size();

 private:
  void grow();
  Mutex mu_;
  int size_ = 0;
};
