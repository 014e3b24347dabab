// Connection: disconnect() is cut in two, and trySend() checks before it acts.
#include <cstdlib>
#include <thread>
#include <vector>

struct Socket {
  int sent = 0;
};

class Counter {
 public:
  void reset() {
    __transaction_atomic { n_ = 0; }
  }
  void count() { n_ = n_ + 1; }

 private:
  int n_ = 0;
};

class Connection {
 public:
  void connect() {
    __transaction_atomic { socket_ = new Socket; }
  }
  bool isConnected() {
    __transaction_atomic { return socket_ != nullptr; }
  }
  void closeSocket() {
    __transaction_atomic {
      if (socket_ != nullptr) socket_ = nullptr;
    }
  }
  void send() {
    __transaction_atomic {
      if (socket_ != nullptr) counter_.count();
    }
  }
#ifdef FIXED
  void disconnect() {
    __transaction_atomic {
      closeSocket();
      counter_.reset();
    }
  }
  void trySend() {
    __transaction_atomic {
      if (isConnected()) send();
    }
  }
#else
  void disconnect() {
    closeSocket();
    counter_.reset();
  }
  void trySend() {
    if (isConnected()) send();
  }
#endif

 private:
  Socket* socket_ = nullptr;
  Counter counter_;
};

Connection connection;

void gui() {
  while (true) {
    if (std::rand() % 10 == 0) {
      connection.disconnect();
      return;
    }
    connection.trySend();
  }
}

int main() {
  connection.connect();
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i) threads.emplace_back(gui);
  for (std::thread& thread : threads) thread.join();
}
