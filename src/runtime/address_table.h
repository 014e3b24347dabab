// A table from addresses (or other words) to small records, for the interposition layer: which
// thread a pthread_t is, how many threads meet at a barrier.
//
// Chained, with a fixed number of buckets and one lock: it is asked at operations that cost far
// more. Records come from mapped pages and are used again; they stay where they are. Two records
// may have the same key (a pthread_t that is already used again): the newest is found.
#pragma once

#include <cstddef>

#include "runtime/interpose.h"
#include "runtime/spin_lock.h"

namespace tomos::runtime {

template <class Value>
class AddressTable {
 public:
  struct Record {
    Address key;
    Record* next;
    Value value;
  };

  // The caller holds the lock in all that follows.
  SpinLock& lock() { return lock_; }

  // Not in the table yet; nullptr if there is no memory.
  Record* make() {
    if (spare_ == nullptr) {
      auto* const page = static_cast<Record*>(map_memory(kRecords * sizeof(Record)));
      if (page == nullptr) return nullptr;
      for (std::size_t i = 0; i < kRecords; ++i) give_back(&page[i]);
    }
    Record* const record = spare_;
    spare_ = record->next;
    *record = Record{};
    return record;
  }
  void give_back(Record* record) {
    record->next = spare_;
    spare_ = record;
  }

  void insert(Record* record, Address key) {
    record->key = key;
    Record*& first = bucket(key);
    record->next = first;
    first = record;
  }
  void remove(Record* record) {
    Record** link = &bucket(record->key);
    while (*link != nullptr && *link != record) link = &(*link)->next;
    if (*link != nullptr) *link = record->next;
  }
  Record* find(Address key) {
    Record* record = bucket(key);
    while (record != nullptr && record->key != key) record = record->next;
    return record;
  }

 private:
  static constexpr std::size_t kBuckets = 1024;
  static constexpr std::size_t kRecords = 256;

  Record*& bucket(Address key) {
    constexpr Address kMultiplier = 0x9e37'79b9'7f4a'7c15;
    return buckets_[(key * kMultiplier) >> 54];
  }
  static_assert(kBuckets == std::size_t{1} << (64 - 54));

  SpinLock lock_;
  Record* spare_ = nullptr;
  Record* buckets_[kBuckets] = {};
};

}  // namespace tomos::runtime
