// What larger projects have of their own: macros that lock, pointer classes, one lock for many
// classes, functions that say what they need, objects that are found in containers.
struct __attribute__((capability("mutex"))) Mutex {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};
struct __attribute__((scoped_lockable)) Guard {
  explicit Guard(Mutex& m) __attribute__((acquire_capability(m)));
  ~Guard() __attribute__((release_capability()));
};
#define NAME2(a, b) a##b
#define NAME(a, b) NAME2(a, b)
#define LOCK(m) Guard NAME(guard, __COUNTER__)(m)
#define WITH_LOCK(m, code)   \
  ([&]() -> decltype(auto) { \
    LOCK(m);                 \
    code;                    \
  }())
template <class T>
void AssertLockHeld(const T& m) {}

template <class T>
class Ref {
 public:
  explicit Ref(T* object) : object_(object) {}
  T* operator->() const { return object_; }
  T* get() const { return object_; }
  void reset() { object_ = nullptr; }

 private:
  T* object_;
};

// One lock for the objects of several classes, which their callers hold.
Mutex main_lock;
class Index {
 public:
  int status() const {
    AssertLockHeld(main_lock);
    return status_;
  }
  void raise(int by) {
    AssertLockHeld(main_lock);
    status_ += by;
    height_ += by;
  }
  int height() const { return height_; }

 private:
  int status_ = 0;
  int height_ = 0;
};
int accept(Index* index) {
  LOCK(main_lock);
  index->raise(1);
  return index->status() + index->height();
}
void raise_all(Index* index) {
  LOCK(main_lock);
  index->raise(2);
  index->raise(index->height());
}

// The lock of the object that this one belongs to, through the project's own pointer.
struct Owner {
  Mutex mutex;
  int parts = 0;
};
class Part {
 public:
  explicit Part(Ref<Owner> owner) : owner_(owner) {}
  void use() {
    LOCK(owner_->mutex);
    ++uses_;
    ++owner_->parts;
  }
  int uses() {
    LOCK(owner_->mutex);
    return uses_;
  }
  void leave() {
    LOCK(owner_->mutex);
    uses_ = 0;
    owner_.reset();
  }

 private:
  Ref<Owner> owner_;
  int uses_ = 0;
};

// Objects with their own locks, in an array.
struct Peer {
  Mutex mutex;
  int sent = 0;
};
// The second one has no lock in `sum`, and `next` changes what the expression stands for.
struct Loose {
  Mutex mutex;
  int sent = 0;
};
class Several {
 public:
  int sum(int i) { return all_[i]->sent; }
  void next(int i) {
    LOCK(all_[i]->mutex);
    ++i;
    all_[i]->sent++;
  }

 private:
  Loose* all_[8];
};
class Peers {
 public:
  void send(int i) {
    LOCK(peers_[i]->mutex);
    peers_[i]->sent++;
  }
  int sent(int i) { return WITH_LOCK(peers_[i]->mutex, return peers_[i]->sent); }
  void clear() {
    for (int i = 0; i < 8; ++i) {
      LOCK(peers_[i]->mutex);
      peers_[i]->sent = 0;
    }
  }

 private:
  Peer* peers_[8];
};

// A part that leads back to what it belongs to: the owner's lock is the one that the owner holds.
class Store {
 public:
  class Entry {
   public:
    explicit Entry(Store* store) : store_(store) {}
    void hit() {
      ++hits_;
      stale_ = 0;
    }
    int age() {
      LOCK(store_->mutex_);
      stale_ += hits_;
      return stale_;
    }

   private:
    Store* const store_;
    int hits_ = 0;
    int stale_ = 0;
  };
  explicit Store(Entry* first) : first_(first) {}
  void hit_first() {
    LOCK(mutex_);
    first_->hit();
  }
  void hit_all() {
    LOCK(mutex_);
    for (Entry* entry : entries_) entry->hit();
  }

 private:
  Mutex mutex_;
  Entry* const first_;
  Entry* entries_[8];
};
