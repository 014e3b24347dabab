#include "cli/recording_details.h"

#include <algorithm>
#include <string_view>

namespace tomos {

std::vector<std::string> RecordingDetails::stack_at(const Location& location) {
  const Names& names = events_.names();
  if (locations_.empty()) {
    for (LocationId id = 1; id < names.count(NameKind::kLocation); ++id) {
      locations_.emplace(names.name(NameKind::kLocation, id), id);
    }
  }
  const std::string place = to_string(location);
  const auto id = locations_.find(place);
  if (id == locations_.end()) return {};
  // The stack holds the calls; the place itself is the innermost frame.
  std::vector<std::uint64_t> stack = {names_.pc_at(place)};
  const auto calls = events_.stack(id->second);
  stack.insert(stack.end(), calls.begin(), calls.end());
  return names_.frames(stack);
}

void RecordingDetails::add_thread(Finding& finding, const std::string& name) {
  const recording::Thread* thread = names_.thread_called(name);
  if (thread == nullptr || !thread->forked ||
      std::ranges::find(finding.threads, name, &Finding::Thread::name) != finding.threads.end()) {
    return;
  }
  std::vector<std::uint64_t> stack = {thread->creation_pc};
  stack.insert(stack.end(), thread->creation_stack.begin(), thread->creation_stack.end());
  // A place inside the library tells nobody where the thread was made.
  const bool users =
      std::ranges::any_of(stack, [&](std::uint64_t pc) { return names_.is_users(pc); });
  finding.threads.push_back({.name = name,
                             .creator = names_.thread_name(thread->parent),
                             .location = users ? parse_location(names_.place(stack)) : Location(),
                             .stack = names_.frames(stack)});
}

namespace {

// "Suite.Name" if the frame is in the body of a GoogleTest test, the class Suite_Name_Test; empty
// otherwise.
std::string test_of(std::string_view frame) {
  const std::size_t end = frame.find("_Test::TestBody");
  if (end == std::string_view::npos) return "";
  std::string name(frame.substr(0, end));
  if (const std::size_t dash = name.find('_'); dash != std::string::npos) name[dash] = '.';
  return name;
}

std::string test_of(const std::vector<std::string>& stack) {
  for (const std::string& frame : stack) {
    if (std::string test = test_of(frame); !test.empty()) return test;
  }
  return "";
}

}  // namespace

// The test that made the threads, or called what the finding is about. A process that ran a single
// test (as CTest starts them) needs no more.
std::string RecordingDetails::test_of_finding(const Finding& finding) const {
  for (const Finding::Thread& thread : finding.threads) {
    if (std::string test = test_of(thread.stack); !test.empty()) return test;
  }
  for (const Finding::Event& event : finding.events) {
    if (std::string test = test_of(event.stack); !test.empty()) return test;
  }
  std::string only;
  for (const RecordedEvents::Test& test : events_.tests()) {
    if (test.name.empty()) continue;
    if (!only.empty()) return "";
    only = test.name;
  }
  return only;
}

void RecordingDetails::add_to(Finding& finding) {
  for (Finding::Event& event : finding.events) {
    event.stack = stack_at(event.location);
    add_thread(finding, event.thread);
  }
  for (const Finding::Transaction& transaction : finding.transactions) {
    add_thread(finding, transaction.thread);
  }
  finding.test = test_of_finding(finding);
}

}  // namespace tomos
