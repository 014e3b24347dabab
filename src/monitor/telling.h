// From ids to the words of a finding: what the predictive analyses share when they report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "event/event.h"
#include "event/names.h"
#include "monitor/locksets.h"
#include "report/finding.h"

namespace tomos {

std::string_view op_word(Op op);  // "read", "acquire", ...; "?" for what no finding speaks of

// `begin` is where the transaction begins; for an access outside any, the access.
Finding::Transaction tell_transaction(const Names& names, ThreadId thread, LabelId label,
                                      LocationId begin);

// `locks` are those held, with the way they are held ("L", "L for reading").
Finding::Event tell_event(const Names& names, ThreadId thread, Op op, std::uint32_t object,
                          LocationId location, std::span<const ModeLock> locks,
                          std::size_t transaction);

// A label as it stands in a sentence: "withdraw", "the critical section in withdraw".
std::string in_sentence(const std::string& label);

// "withdraw (T1, account.cpp:12)"; "the write of T2 at account.cpp:20" for one outside any.
std::string describe_transaction(const Finding& finding, std::size_t which);

}  // namespace tomos
