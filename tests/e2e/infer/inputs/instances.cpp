// What is another thing in each instantiation of a template.
struct __attribute__((capability("mutex"))) Mutex {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};
struct __attribute__((scoped_lockable)) Lock {
  explicit Lock(Mutex& mutex) __attribute__((acquire_capability(mutex)));
  ~Lock() __attribute__((release_capability()));
};

// One has a base with a field of the same name.
template <class T, bool kPointers = T::kPointers>
struct Link {
  T* next(T* of) const { return of->following; }
};
template <class T>
struct Link<T, false> {
  T* next(T* of) const { return first + of->following; }

 protected:
  int size = 0;
  T* first = nullptr;
};
template <class T>
struct List : Link<T> {
  void clear() { size = 0; }
  void push() { ++size; }

 private:
  int size = 0;
};
struct Numbered {
  static const bool kPointers = false;
  int following;
};
struct Linked {
  static const bool kPointers = true;
  Linked* following;
};
struct Lists {
  void clear() {
    Lock lock(mutex);
    numbered.clear();
    linked.clear();
  }
  void push() {
    Lock lock(mutex);
    linked.push();
    numbered.push();
  }

 private:
  Mutex mutex;
  List<Linked> linked;
  List<Numbered> numbered;
};

// A field of a class that the parameter names.
template <class Config>
struct Cache {
  void store(int value) {
    Lock lock(mutex);
    last = value;
  }
  Mutex mutex;
  int last = 0;
};
template <class Config>
struct NoCache {
  void store(int) {}
};
struct Cached {
  template <class Config>
  using CacheOf = Cache<Config>;
};
struct Plain {
  template <class Config>
  using CacheOf = NoCache<Config>;
};
template <class T>
struct Node {
  T* next = nullptr;
  int uses = 0;
  struct Part {
    int parts = 0;
  };
};
template <class Config>
struct Allocator {
  void allocate(int size) {
    Lock lock(mutex);
    used += size;
    cache.store(size);
  }
  void use() {
    Lock lock(mutex);
    ++node->uses;
    ++part.parts;
  }
  // The lock can be named only here.
  void exchange(int value) {
    if constexpr (requires { other.last; }) {
      Lock lock(other.mutex);
      exchanged = value;
    }
  }

 private:
  Mutex mutex;
  typename Config::template CacheOf<Config> cache;
  typename Config::template CacheOf<Config> other;
  Node<Config>* node = new Node<Config>;
  typename Node<Config>::Part part;
  int used = 0;
  int exchanged = 0;
};

void use(Lists& lists, Allocator<Cached>& cached, Allocator<Plain>& plain) {
  lists.clear();
  lists.push();
  plain.allocate(1);
  cached.allocate(1);
  plain.use();
  cached.use();
  plain.exchange(1);
  cached.exchange(1);
}
