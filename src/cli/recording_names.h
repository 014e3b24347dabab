// Names for what a recording speaks of, from the debugging information of the recorded program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/symbols.h"
#include "trace/recording.h"

namespace tomos {

class ProgramNames : public RecordingNames {
 public:
  // `recording` must outlive it.
  explicit ProgramNames(const Recording& recording);

  std::string location(std::uint64_t pc) override;
  std::string location(std::uint64_t pc, std::span<const std::uint64_t> calls) override;
  std::string location(const recording::Label& label) override;
  Section section(std::span<const std::uint64_t> begin,
                  std::span<const std::uint64_t> end) override;
  bool is_users(std::uint64_t pc) override;
  std::string variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc,
                       const recording::Object* object) override;
  std::string lock(std::uint64_t address, std::uint64_t pc,
                   const recording::Object* object) override;
  std::string thread(const recording::Thread& thread) override;

  // The first pc that location() has called so; 0 if there is none.
  std::uint64_t pc_at(const std::string& location) const;

  // The thread that thread() has called so; null if there is none.
  const recording::Thread* thread_called(const std::string& name) const;
  // The name of a thread; "?" if thread() has not been asked about it.
  std::string thread_name(std::uint64_t number) const;

  // The user's place that a stack leads to: its innermost frame that is not the system's.
  std::string place(std::span<const std::uint64_t> stack);
  // "Account::get account.cpp:4:12", innermost first. Of the system's frames only the one that the
  // user's code has called is there.
  std::vector<std::string> frames(std::span<const std::uint64_t> stack);

  // What stands in the way of better names, one sentence each.
  std::vector<std::string> problems() const { return symbols_.problems(); }

 private:
  // All frames of a stack, outermost first.
  std::vector<Frame> from_outside(std::span<const std::uint64_t> stack);
  // What the memory is called: a global variable, or a member of an object on the heap. Empty if
  // nothing is known.
  std::string memory(std::uint64_t address, const recording::Object* object);
  // What was allocated, and where.
  struct Allocation {
    std::string type;  // empty: unknown
    std::string place;
  };
  Allocation allocation(const recording::Object& object);

  Symbols symbols_;
  std::unordered_map<std::string, std::uint64_t> pcs_;    // by location
  std::unordered_map<std::string, std::uint64_t> first_;  // a member's first object's address
  std::unordered_map<std::string, const recording::Thread*> threads_;
  std::unordered_map<std::uint64_t, std::string> thread_names_;
};

}  // namespace tomos
