// Which bytes form a variable, and which variables matter.
//
// A variable is a stretch of bytes that are only ever accessed together: every access puts a bound
// where it starts and where it ends, and the variables are what lies between two bounds. A free
// ends the lives of the bytes in its range (and puts bounds at its ends): whatever is accessed
// there later is another variable. A variable that only one thread accesses in one life, or that
// nobody writes, can influence no verdict; nor, where the recording leaves out what has to do with
// order, one that no transaction accesses.
//
// All bytes of a variable have seen the same accesses, so it is enough to keep a state for each
// byte, without knowing yet what the variables will be: untouched, one thread's, or several
// threads'; and a bit each for written, for accessed in a transaction, and for a bound. One
// thread's is a number in a small list that each page has of its threads. That takes 5.5 KB for a
// page of 4 KB, nothing for pages that are only accessed as a whole.
//
// What was found out about a life is known when it ends, and wanted when it begins. So the survey
// keeps a log for each page of the lives that ended; finish() turns it around.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/recording_merge.h"
#include "trace/recording_pages.h"
#include "trace/recording_table.h"

namespace tomos::recording {

class Survey {
 public:
  // With `everything`, whatever is accessed matters.
  Survey(bool everything, std::size_t max_pages) : everything_(everything), max_pages_(max_pages) {}

  // How memory is accessed, and by whom.
  struct How {
    std::uint32_t thread;
    bool writes;
    bool inside;  // a transaction, or wherever else it counts as much
  };
  // Accesses and frees in the order of the recording.
  void access(How how, std::uint64_t address, std::uint64_t size);
  // One access to each of `count` neighbouring elements.
  void accesses(How how, std::uint64_t address, std::uint64_t size, std::uint64_t count);
  void free(std::uint64_t address, std::uint64_t size);

  // Of a kTouched record: whether the same was seen not long ago, and nothing in its range was
  // freed since. Then its accesses, which make no difference any more, need not be told.
  bool is_repeated(const Record& record, bool inside);

  // More pages were touched than is allowed; nothing was noted of those.
  bool overflown() const { return overflown_; }

  // What was found out. The survey is empty afterwards.
  std::vector<SurveyedPage> finish();

 private:
  using Code = std::uint8_t;  // 0, the place of a thread in Page::threads + 1, or kSeveral
  static constexpr Code kUntouched = 0;
  static constexpr Code kSeveral = 255;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Bytes {
    std::array<Code, kPageSize + 8> codes = {};  // eight more: they are compared by the word
    PageBits written;
    PageBits inside;
    PageBits bounds;
  };
  struct Page {
    std::unique_ptr<Bytes> bytes;  // null: all of them are as follows
    Code code = kUntouched;
    bool written = false;
    bool inside = false;
    bool bound = false;  // at the first byte
    Code last_code = kUntouched;
    std::uint32_t last_thread = kNobody;
    std::vector<std::uint32_t> threads;
    Changes log;
    std::size_t squeeze_at = 16;  // entries in the log
    std::uint64_t ended = 0;      // how many lives, of some bytes or other
  };
  struct Seen {
    std::uint64_t digest = 0;
    std::uint64_t ended = 0;  // of the pages in its range
  };

  Page* page(std::uint64_t number);
  static Bytes& bytes(Page& page);
  static Code code(Page& page, std::uint32_t thread);
  static void forget_threads(Page& page);
  static Code meet(Code now, Code code);
  static void touch(Page& page, std::size_t first, std::size_t end, How how);
  void put_bound(std::uint64_t address);
  bool touched(std::uint64_t address);
  PageMap map_of(const Page& page, std::size_t first, std::size_t end) const;
  void end_life(Page& page, std::size_t first, std::size_t end);
  static void squeeze(Page& page);

  bool everything_;
  std::size_t max_pages_;
  bool overflown_ = false;
  std::uint64_t frees_ = 0;
  AddressTable<Page> pages_;
  std::vector<Seen> seen_ = std::vector<Seen>(std::size_t{1} << 15);  // by digest
};

}  // namespace tomos::recording
