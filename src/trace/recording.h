// Makes events of a recording (recording_format.h says what stands in one).
//
// open_recording() walks over the file once and collects what needs no order: which thread wrote
// which part of it, modules, labels, stacks, thread names, notes. RecordedEvents then goes through
// all threads' slots twice, merged by stamp: first to find out which bytes form a variable and
// which variables matter (recording_variables.h), then to deliver the events; sometimes once more
// in between, to find variables that need not be told of (recording_guards.h). A file may be larger
// than memory: at any time one chunk of each running thread is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/error.h"
#include "event/source.h"
#include "trace/recording_format.h"

namespace tomos {

namespace recording {

struct Module {
  std::string path;
  std::uint64_t bias = 0;  // what to subtract from an address to get one of the file
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool instrumented = false;

  friend bool operator==(const Module&, const Module&) = default;
};

struct Label {
  std::string name;
  std::string file;  // empty: unknown
  std::uint64_t line = 0;
  std::uint8_t flags = 0;  // LabelFlags
};

struct Thread {
  std::uint64_t number = 0;  // 0: the main thread
  std::string name;          // the program's own, else "main", "T1", ...
  bool forked = false;       // the recording has its creation; what follows says where
  std::uint64_t parent = 0;
  std::uint64_t creation_pc = 0;
  std::vector<std::uint64_t> creation_stack;  // return addresses, innermost first
};

struct NoteText {
  Note note = {};
  std::uint64_t address = 0;
  std::string text;
};

// A heap object.
struct Object {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t pc = 0;      // where it was allocated
  std::uint64_t caller = 0;  // who called the function there; 0: unknown
  std::uint64_t thread = 0;  // the number of the thread that allocated it

  friend bool operator==(const Object&, const Object&) = default;
};

}  // namespace recording

// Where names come from. Each is asked for once an object (once a pc for locations); an empty
// answer means unknown. Two objects may get one name: they are told apart by "#2", "#3" behind it.
class RecordingNames {
 public:
  virtual ~RecordingNames() = default;

  // "file:line:column" of a return address.
  virtual std::string location(std::uint64_t pc) = 0;
  // The same for code that is not the user's own: where the user has called it. `calls` are the
  // return addresses that led there, innermost first. Asked for once a pc and stack.
  virtual std::string location(std::uint64_t pc, std::span<const std::uint64_t> /*calls*/) {
    return location(pc);
  }
  // Whether the code at `pc` is the user's own. An atomic operation that is not (a count inside
  // std::shared_ptr) orders, but is no access.
  virtual bool is_users(std::uint64_t pc) = 0;
  // `object` is the heap object it lies in, or null; `pc` is the first access that mattered.
  virtual std::string variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc,
                               const recording::Object* object) = 0;
  // Locks and barriers; `pc` is the first operation on it.
  virtual std::string lock(std::uint64_t address, std::uint64_t pc,
                           const recording::Object* object) = 0;
  virtual std::string thread(const recording::Thread& thread) { return thread.name; }
  // The critical section between two places, each with the calls that led there, innermost first.
  // The end may be unknown (empty). Asked for once a begin and stack.
  struct Section {
    std::string name;   // "critical section in f"; empty: unknown
    std::string place;  // where it begins; empty: where the lock is taken
  };
  virtual Section section(std::span<const std::uint64_t> /*begin*/,
                          std::span<const std::uint64_t> /*end*/) {
    return {};
  }
  // Where the transactions of a label with a file begin.
  virtual std::string location(const recording::Label& label) {
    return label.file + ":" + std::to_string(label.line);
  }
};

// The events of a recording: always a valid trace (validate.h). What does not fit (a release
// without its acquire, because the thread was killed or began before the recording) is left out or
// completed, and counted.
class RecordedEvents : public Source {
 public:
  // How many slots were left out or had to be completed, so far.
  virtual std::uint64_t repaired() const = 0;

  // The calls that led to the first event delivered with this location: return addresses, innermost
  // first. Empty if unknown. Like names(), not to be used while another thread is in next().
  virtual std::span<const std::uint64_t> stack(LocationId location) const = 0;

  // The GoogleTest tests so far, and the number of the first event at or after the start of each; a
  // test without a name stands for the time between two tests.
  struct Test {
    std::string name;
    std::uint64_t first_event = 0;
  };
  virtual std::span<const Test> tests() const = 0;
};

struct RecordingOptions {
  // Also deliver what can influence no verdict: variables that only one thread accesses or nobody
  // writes, transactions without events.
  bool keep_everything = false;
  // Leave out variables that no transaction accesses: analyses that do not ask for order have no
  // use for them. So it is anyway in a recording that was made for those.
  bool order_free = false;
  // Leave out variables that make no two transactions unserializable (recording_guards.h): for
  // analyses of pairs. To find them takes another pass, worth it only if there are many variables.
  bool pairs_only = false;
  std::size_t many_variables = std::size_t{1} << 15;
  // How many pages (4 KB) of memory the accesses may touch before the recording counts as damaged.
  std::size_t max_pages = std::size_t{1} << 24;
};

class Recording {
 public:
  virtual ~Recording() = default;

  // The file's header: how the process ended, whether something was lost, pid.
  virtual const recording::Header& header() const = 0;
  virtual std::span<const recording::Module> modules() const = 0;
  virtual std::span<const recording::NoteText> notes() const = 0;
  // In the order of their numbers.
  virtual std::span<const recording::Thread> threads() const = 0;
  // What is wrong with the file; the source gives the same error behind the last good event.
  virtual const std::optional<Error>& damage() const = 0;

  // `names` and this recording must outlive the source.
  virtual std::unique_ptr<RecordedEvents> events(RecordingNames& names,
                                                 RecordingOptions options = {}) const = 0;
};

// Fails when the file cannot be read or is no recording. A recording with damage further on opens.
Result<std::unique_ptr<Recording>> open_recording(const std::string& path);

}  // namespace tomos
