// Memory, strings and containers, as the interposition layer tells them.
#include <errno.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <list>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>

#include "log.h"

namespace tomos::test {
namespace {

// Not known to the compiler, which would see that no such object can be.
std::size_t too_much() {
  static volatile std::size_t size = std::size_t{1} << 46;
  return size;
}

TEST(InterposeMemory, MallocFamily) {
  void* aligned = nullptr;
  ASSERT_EQ(posix_memalign(&aligned, 256, 100), 0);
  for (void* object :
       {malloc(10), calloc(3, 7), realloc(nullptr, 5), reallocarray(nullptr, 2, 3), memalign(64, 9),
        aligned_alloc(64, 128), pvalloc(7), aligned, static_cast<void*>(strdup("text")),
        static_cast<void*>(strndup("text", 2))}) {
    ASSERT_NE(object, nullptr);
    EXPECT_TRUE(told_of(object).ends_with("allocated")) << told_of(object);
    const std::size_t start = told_so_far();
    free(object);
    EXPECT_EQ(told_of(object, start), "freeing");
  }
}

TEST(InterposeMemory, Realloc) {
  void* const object = malloc(10);
  std::size_t start = told_so_far();
  void* const moved = realloc(object, 100'000);
  EXPECT_TRUE(told_of(object, start).starts_with("freeing"));
  EXPECT_TRUE(told_of(moved, start).ends_with("allocated"));
  // An object that could not be moved is still there.
  start = told_so_far();
  EXPECT_EQ(realloc(moved, too_much()), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(told_of(moved, start), "freeing allocated");
  free(moved);
}

struct alignas(64) Wide {
  char bytes[128];
};

TEST(InterposeMemory, NewAndDelete) {
  const auto check = [](auto* object) {
    EXPECT_TRUE(told_of(object).ends_with("allocated")) << told_of(object);
    const void* const place = object;
    const std::size_t start = told_so_far();
    delete object;
    EXPECT_EQ(told_of(place, start), "freeing");
  };
  check(new int);
  check(new (std::nothrow) int);
  check(new Wide);
  check(new (std::nothrow) Wide);
}

TEST(InterposeMemory, NoMemory) {
  EXPECT_THROW(::operator delete(::operator new(too_much())), std::bad_alloc);
  EXPECT_THROW(::operator delete[](::operator new[](too_much(), std::align_val_t{64})),
               std::bad_alloc);
  EXPECT_EQ(::operator new(too_much(), std::nothrow), nullptr);
  static int asked = 0;
  asked = 0;
  std::set_new_handler([] {
    ++asked;
    std::set_new_handler(nullptr);
  });
  EXPECT_THROW(::operator delete(::operator new(too_much())), std::bad_alloc);
  EXPECT_EQ(asked, 1);
}

TEST(InterposeMemory, Mappings) {
  constexpr std::size_t kPage = 4096;
  const auto map = [](void* where, std::size_t size, int flags) {
    return static_cast<char*>(
        mmap(where, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
  };
  const std::size_t start = told_so_far();
  char* const pages = map(nullptr, 4 * kPage, 0);
  EXPECT_EQ(told_of(pages, start), "");
  map(pages + kPage, kPage, MAP_FIXED);
  EXPECT_EQ(told_of(pages + kPage, start), "unmapping:4096");
  mremap(pages, 4 * kPage, 2 * kPage, 0);
  EXPECT_EQ(told_of(pages + 2 * kPage, start), "unmapping:8192");
  munmap(pages, 2 * kPage);
  EXPECT_EQ(told_of(pages, start), "unmapping:8192");
}

// Each function on its own text, so that what is told of it is this function's.
struct Text {
  explicit Text(const char* value) : bytes(std::make_unique<char[]>(64)) {
    for (std::size_t i = 0; value[i] != 0; ++i) bytes[i] = value[i];
    start = told_so_far();
  }
  char* get() const { return bytes.get(); }
  std::string told(std::size_t offset = 0) const { return told_of(get() + offset, start); }
  std::unique_ptr<char[]> bytes;
  std::size_t start = 0;
};

#define EXPECT_TOLD(value, expression, expected, what) \
  do {                                                 \
    const Text text(value);                            \
    char* const s = text.get();                        \
    EXPECT_EQ(expression, expected);                   \
    EXPECT_EQ(text.told(), what) << #expression;       \
  } while (false)

TEST(InterposeStrings, ReadAsFarAsNeeded) {
  EXPECT_TOLD("hello", strlen(s), 5U, "read:6");
  EXPECT_TOLD("hello", strnlen(s, 3), 3U, "read:3");
  EXPECT_TOLD("hello", strcmp(s, "help") < 0, true, "read:4");
  EXPECT_TOLD("hello", strcmp(s, "hello"), 0, "read:6");
  EXPECT_TOLD("hello", strcmp(s, "hell") > 0, true, "read:5");
  EXPECT_TOLD("hello", strncmp(s, "help", 2), 0, "read:2");
  EXPECT_TOLD("hello", strncmp(s, "help", 0), 0, "");
  EXPECT_TOLD("hello", strcasecmp(s, "HELLO"), 0, "read:6");
  EXPECT_TOLD("hello", strncasecmp(s, "HELP", 4) < 0, true, "read:4");
  EXPECT_TOLD("hello", strchr(s, 'e'), s + 1, "read:2");
  EXPECT_TOLD("hello", strchr(s, 'z'), nullptr, "read:6");
  EXPECT_TOLD("hello", strrchr(s, 'l'), s + 3, "read:6");
  EXPECT_TOLD("hello", strchrnul(s, 'z'), s + 5, "read:6");
  EXPECT_TOLD("hello", strstr(s, "ll"), s + 2, "read:4");
  EXPECT_TOLD("hello", strstr(s, "lx"), nullptr, "read:6");
  EXPECT_TOLD("hello", strspn(s, "he"), 2U, "read:3");
  EXPECT_TOLD("hello", strcspn(s, "l"), 2U, "read:3");
  EXPECT_TOLD("hello", strpbrk(s, "lo"), s + 2, "read:3");
  EXPECT_TOLD("hello", memcmp(s, "hexxx", 5) < 0, true, "read:3");
  EXPECT_TOLD("hello", memcmp(s, "hello", 5), 0, "read:5");
  EXPECT_TOLD("hello", memchr(s, 'e', 5), s + 1, "read:2");
  EXPECT_TOLD("hello", memmem(s, 5, "ll", 2), s + 2, "read:4");
}

TEST(InterposeStrings, WritesWhatIsWritten) {
  EXPECT_TOLD("", memcpy(s, "ab", 2), s, "write:2");
  EXPECT_TOLD("ab", memcpy(s, s, 0), s, "");
  EXPECT_TOLD("ab", memmove(s + 1, s, 2), s + 1, "read:2");
  EXPECT_TOLD("", mempcpy(s, "ab", 2), s + 2, "write:2");
  EXPECT_TOLD("", memset(s, 1, 7), s, "write:7");
  EXPECT_TOLD("", strcpy(s, "ab"), s, "write:3");
  EXPECT_TOLD("", stpcpy(s, "ab"), s + 2, "write:3");
  EXPECT_TOLD("", strncpy(s, "ab", 9), s, "write:9");
  const Text text("ab");
  EXPECT_EQ(strcat(text.get(), "cd"), text.get());
  EXPECT_EQ(text.told(), "read:3");
  EXPECT_EQ(text.told(2), "write:3");
}

TEST(InterposeStrings, InputAndOutput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_TOLD("hello", write(ends[1], s, 5), 5, "read:5");
  EXPECT_TOLD("", read(ends[0], s, 64), 5, "write:5");
  EXPECT_TOLD("", read(-1, s, 64), -1, "");
  EXPECT_EQ(errno, EBADF);
  close(ends[0]);
  close(ends[1]);
}

// A map's links are told as they change, and the map is what it should be.
TEST(InterposeContainers, Map) {
  std::map<int, int> map;
  const auto* const header = reinterpret_cast<const char*>(&map) + 8;
  const std::size_t start = told_so_far();
  map[5] = 1;
  EXPECT_EQ(told_of(header + 8, start), "write:8 stored");   // root
  EXPECT_EQ(told_of(header + 16, start), "write:8 stored");  // first
  map[7] = 1;
  EXPECT_EQ(told_of(header + 16, start), "write:8 stored");
  EXPECT_EQ(told_of(header + 24, start), "write:8 stored write:8 stored");  // last
  map.erase(5);
  EXPECT_EQ(told_of(header + 16, start), "write:8 stored write:8 stored");

  std::mt19937 random(1);
  std::set<unsigned> set;
  std::set<unsigned, std::greater<>> mirror;
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<unsigned>(random() % 500);
    if (random() % 2 == 0) {
      EXPECT_EQ(set.insert(value).second, mirror.insert(value).second);
    } else {
      EXPECT_EQ(set.erase(value), mirror.erase(value));
    }
  }
  EXPECT_TRUE(std::equal(set.begin(), set.end(), mirror.rbegin(), mirror.rend()));
}

TEST(InterposeContainers, List) {
  std::list<int> list;
  const std::size_t start = told_so_far();
  list.push_back(1);
  EXPECT_EQ(told_of(&list, start), "write:8 stored");
  list.push_front(0);
  EXPECT_EQ(told_of(&list, start), "write:8 stored write:8 stored");
  std::list<int> other{7, 8};
  list.splice(list.begin(), other);
  list.reverse();
  EXPECT_EQ(list, (std::list<int>{1, 0, 8, 7}));
  list.swap(other);
  other.pop_front();
  EXPECT_EQ(other, (std::list<int>{0, 8, 7}));
}

}  // namespace
}  // namespace tomos::test
