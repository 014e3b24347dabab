// The main thread: a capability that is asserted everywhere and acquired nowhere.
struct __attribute__((capability("role"))) Role {};
extern Role main_thread;
void assert_main_thread() __attribute__((assert_capability(main_thread)));
void need_main_thread() __attribute__((requires_capability(main_thread)));

class __attribute__((capability("mutex"))) Mutex {
 public:
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};

int windows = 0;
class Window {
 public:
  void open() {
    assert_main_thread();
    ++windows;
    open_ = true;
  }
  void close() {
    assert_main_thread();
    --windows;
    open_ = false;
  }
  void hide() { open(); }

 private:
  bool open_ = false;
};
