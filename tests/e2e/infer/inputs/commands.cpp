// Commands are pointers to methods, kept in a queue, and run by whoever empties it.
#include <mutex>

class Dispatcher {
 public:
  void run();
  void shut();

 private:
  struct Entry;
  using Command = void (Dispatcher::*)(Entry* entry);
  struct Entry {
    explicit Entry(Command of) : command(of) {}
    Command command;
    Entry* next = nullptr;
  };

  void post(Command command);
  void tell(Entry* entry);
  void close(Entry* entry);
  void close_all();

  std::mutex m_;
  Entry* head_ = nullptr;
  int told_ = 0;
  int closed_ = 0;
};

void Dispatcher::post(Command command) {
  auto* made = new Entry(command);
  made->next = head_;
  head_ = made;
}

void Dispatcher::run() {
  const std::lock_guard<std::mutex> guard(m_);
  while (head_ != nullptr) {
    Entry* entry = head_;
    head_ = entry->next;
    const Command command = entry->command;
    (this->*command)(entry);
    delete entry;
  }
}

void Dispatcher::tell(Entry*) { ++told_; }
void Dispatcher::close(Entry*) { close_all(); }
void Dispatcher::close_all() { ++closed_; }

void Dispatcher::shut() {
  const std::lock_guard<std::mutex> guard(m_);
  post(&Dispatcher::tell);
  post(&Dispatcher::close);
}
