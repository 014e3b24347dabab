// What is said of a function by its declaration and again by its definition; and what constants
// decide.
struct __attribute__((capability("mutex"))) Mutex {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};

class Errors {
 public:
  void begin() __attribute__((acquire_capability(mutex_)));
  void end() __attribute__((release_capability(mutex_)));
  [[noreturn]] void end_all() __attribute__((release_capability(mutex_)));
  void add() __attribute__((requires_capability(mutex_)));
  void print(bool fatal);
  void print_if_possible();

 private:
  Mutex mutex_;
  int count_ = 0;
};

void Errors::begin() __attribute__((acquire_capability(mutex_))) {
  mutex_.lock();
  ++count_;
}
void Errors::end() __attribute__((release_capability(mutex_))) { mutex_.unlock(); }
void Errors::end_all() __attribute__((release_capability(mutex_))) {
  mutex_.unlock();
  __builtin_trap();
}
void Errors::add() __attribute__((requires_capability(mutex_))) { ++count_; }

void Errors::print(bool fatal) {
  begin();
  add();
  if (fatal) end_all();
  end();
}

#define CAN_PRINT 1
#define CAN_NOT_PRINT 0
void Errors::print_if_possible() {
  if (CAN_PRINT) begin();
  if (CAN_NOT_PRINT) end();
  add();
  if (CAN_PRINT) end();
}
