// Loops that are told in advance (instrument/loops.cpp): where order does not matter, the accesses
// of all rounds are dealt with before the first.
//
// Each access of the loop is a stream. Streams are dealt with one after the other, which keeps the
// order of the accesses to each variable as long as no variable that is written is in two streams,
// but for two that go side by side. Where the addresses do not rule it out, the loop is gone
// through round by round.
//
// A stream is gone through by 64 elements at a time: one look at their cells, and one at the record
// of sweeps that is under way (repeat_filter.h).
#include "runtime/escape.h"
#include "runtime/runtime.h"
#include "runtime/shadow.h"

namespace tomos::runtime {

namespace {

constexpr std::uint32_t kBlock = 64;  // elements

struct Shape {
  std::uint32_t element;  // bytes
  std::uint32_t width;    // bytes of a piece
  std::uint32_t pieces;   // a round
  bool write;
};

Shape shape_of(const Stream& stream) {
  return {.element = stream.what & 0xff,
          .width = stream.what >> kStreamWidthShift,
          .pieces = stream.what >> kStreamPiecesShift & kMaxStreamPieces,
          .write = (stream.what & kStreamWrites) != 0};
}

// What `pieces` of a stream from its start on lie in.
Range range_of(const Stream& stream, std::uint64_t pieces) {
  const std::uint32_t width = shape_of(stream).width;
  const Address last = stream.start + static_cast<Address>(stream.step) * (pieces - 1);
  return stream.step < 0 ? Range{.start = last, .end = stream.start + width}
                         : Range{.start = stream.start, .end = last + width};
}

// Whether all accesses of `a` can go before those of `b`, which follow them in each round, without
// that two accesses to one variable change places.
bool keep_order(const Stream& a, const Stream& b, std::uint64_t rounds) {
  const Shape first = shape_of(a);
  const Shape second = shape_of(b);
  if (!first.write && !second.write) return true;
  const Range all_first = range_of(a, rounds * first.pieces);
  const Range all_second = range_of(b, rounds * second.pieces);
  if (all_first.end <= all_second.start || all_second.end <= all_first.start) return true;
  const std::int64_t round = a.step * first.pieces;
  if (round != b.step * second.pieces || round == 0) return false;
  // They meet in the same round only.
  const auto window = static_cast<std::uint64_t>(round < 0 ? -round : round);
  const Range one = range_of(a, first.pieces);
  const Range other = range_of(b, second.pieces);
  const Address low = one.start < other.start ? one.start : other.start;
  const Address high = one.end > other.end ? one.end : other.end;
  if (high - low <= window) return true;
  // They go through the gaps of each other.
  if (a.step != b.step) return false;
  const auto step = static_cast<std::uint64_t>(a.step < 0 ? -a.step : a.step);
  const std::uint64_t ahead =
      b.start > a.start ? (b.start - a.start) % step : (step - (a.start - b.start) % step) % step;
  return ahead >= first.width && ahead + second.width <= step;
}

bool keep_order(const Stream* streams, std::size_t count, std::uint64_t rounds) {
  for (std::size_t b = 1; b < count; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (!keep_order(streams[a], streams[b], rounds)) return false;
    }
  }
  return true;
}

// An element, and whether others can reach it. `following`: how many there are from here on.
bool take_element(Thread& thread, Address address, const Shape& shape, Address pc,
                  std::uint32_t following = 1) {
  const std::uint32_t room = 8 - (address & 7);
  if (shape.element <= room) {
    return take_access(thread, address, shape.element, shape.write, pc, following);
  }
  const bool front = take_access(thread, address, room, shape.write, pc);
  return take_access(thread, address + room, shape.element - room, shape.write, pc) || front;
}

bool take_piece(Thread& thread, Address start, const Shape& shape, Address pc) {
  bool shared = false;
  for (std::uint32_t at = 0; at < shape.width; at += shape.element) {
    shared |= take_element(thread, start + at, shape, pc);
  }
  return shared;
}

// The cells of neighbouring elements. Compilers do not put atomic loads together; each of these
// reads an aligned word, and what others do meanwhile can be missed by any look.
struct Cells {
  const Cell* first;
  std::size_t count;

  bool all_are(Cell value) const {
    Cell difference = 0;
    for (std::size_t i = 0; i < count; ++i) difference |= first[i] ^ value;
    return difference == 0;
  }
  // Shared, and of a version before `since`.
  bool all_shared_before(std::uint64_t since) const {
    Cell all = kShared;
    for (std::size_t i = 0; i < count; ++i) all &= first[i] & ((first[i] & kVersionMask) - since);
    return all != 0;
  }
};

// Elements of one block: bit i is the one at `block` + i * element. Whether others can reach any.
bool take_block(Thread& thread, Region& region, Address block, std::uint64_t elements,
                const Shape& shape, Address pc) {
  const auto size = static_cast<unsigned>(__builtin_ctz(shape.element));
  const auto lowest = static_cast<unsigned>(__builtin_ctzll(elements));
  const auto highest = 63U - static_cast<unsigned>(__builtin_clzll(elements));
  const Address first = block + (Address{lowest} << size);
  const Address last = block + (Address{highest} << size);
  const Cells cells{.first = reinterpret_cast<const Cell*>(&cell_in(region, first)),
                    .count = (last >> 3) - (first >> 3) + 1};
  if (cells.first[0] == thread.local_cell && cells.all_are(thread.local_cell)) return false;
  const bool alone = unjoined.load(std::memory_order_relaxed) == 0;
  if (alone && cells.all_shared_before(kVersionMask + 1)) return true;
  bool shared = false;
  bool together = !alone;
  while (elements != 0) {
    if (together) {
      switch (thread.filter.sweeps_all(
          block, shape.element, elements, shape.write, thread.opened != Opened::kNothing,
          [&](std::uint64_t since) { return cells.all_shared_before(since); })) {
        case RepeatFilter::Swept::kDone:
          return true;
        case RepeatFilter::Swept::kNotTogether:
          together = false;
          break;
        case RepeatFilter::Swept::kNotUnderWay:
          break;
      }
    }
    const auto next = static_cast<unsigned>(__builtin_ctzll(elements));
    shared |= take_element(thread, block + (Address{next} << size), shape, pc,
                           static_cast<std::uint32_t>(__builtin_popcountll(elements)));
    elements &= elements - 1;
  }
  return shared;
}

// Bits 0, step, 2 step, ...
std::uint64_t every(std::uint32_t step) {
  std::uint64_t bits = 1;
  for (; step < kBlock; step *= 2) bits |= bits << step;
  return bits;
}

// A stream whose elements lie `step` elements apart. Whether others can reach any.
bool take_regular(Thread& thread, Address start, std::uint64_t count, std::uint32_t step,
                  const Shape& shape, Address pc) {
  const auto size = static_cast<unsigned>(__builtin_ctz(shape.element));
  const std::uint64_t pattern = every(step);
  const Address bytes = Address{kBlock} << size;
  const Address stride = Address{step} << size;
  bool shared = false;
  while (count != 0) {
    Region* const region = region_at(start);
    if (region == nullptr) return shared;
    const PageState page = page_in(*region, start).load(std::memory_order_relaxed);
    std::uint64_t here = 0;
    if (is_uniform(page)) {
      const Address rest = kPageSize - start % kPageSize;
      here = count * stride <= rest ? count : (rest + stride - 1) / stride;
      const bool local = page == static_cast<PageState>(thread.local_cell);
      shared |= !local;
      for (std::uint64_t i = 0; i < here && !local && page != kIgnored; ++i) {
        take_element(thread, start + i * stride, shape, pc);
      }
    } else {
      const Address block = start & ~(bytes - 1);
      const std::uint64_t first = (start - block) >> size;
      std::uint64_t elements = pattern << first;
      if (count < kBlock && first + count * step < kBlock) {
        elements &= (1ULL << (first + count * step)) - 1;
      }
      here = static_cast<std::uint64_t>(__builtin_popcountll(elements));
      shared |= take_block(thread, *region, block, elements, shape, pc);
    }
    start += here * stride;
    count -= here;
  }
  return shared;
}

// All rounds of a stream. Whether others can reach any of it.
bool take_stream(Thread& thread, const Stream& stream, std::uint64_t rounds) {
  const Shape shape = shape_of(stream);
  const std::uint64_t pieces = rounds * shape.pieces;
  const Address start = range_of(stream, pieces).start;
  const auto step = static_cast<std::uint64_t>(stream.step < 0 ? -stream.step : stream.step);
  const auto size = static_cast<unsigned>(__builtin_ctz(shape.element));  // no divisions
  if ((start & (shape.element - 1)) == 0) {
    if (step == shape.width) {
      return take_regular(thread, start, pieces * (shape.width >> size), 1, shape, stream.pc);
    }
    if (shape.width == shape.element && step != 0 && (step & (shape.element - 1)) == 0 &&
        step >> size < kBlock / 2) {
      return take_regular(thread, start, pieces, static_cast<std::uint32_t>(step >> size), shape,
                          stream.pc);
    }
  }
  // No analysis asks for more than a second access to the same variable.
  const std::uint64_t needed = step == 0 && pieces > 2 ? 2 : pieces;
  bool shared = false;
  for (std::uint64_t piece = 0; piece < needed; ++piece) {
    shared |= take_piece(thread, start + piece * step, shape, stream.pc);
  }
  return shared;
}

// Every access at its place.
bool take_rounds(Thread& thread, const Stream* streams, std::size_t count, std::uint64_t rounds) {
  bool shared = false;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const Stream* stream = streams; stream < streams + count; ++stream) {
      const Shape shape = shape_of(*stream);
      for (std::uint64_t i = 0; i < shape.pieces; ++i) {
        const std::uint64_t piece = round * shape.pieces + i;
        const Address start = stream->start + static_cast<Address>(stream->step) * piece;
        shared |= take_piece(thread, start, shape, stream->pc);
      }
    }
  }
  return shared;
}

void take_loop(Thread& thread, const Stream* streams, std::size_t count, std::uint64_t rounds) {
  for (std::size_t i = 0; i < count; ++i) {
    const Range range = range_of(streams[i], rounds * shape_of(streams[i]).pieces);
    if (range.end < range.start || !has_shadow(range.start) || !has_shadow(range.end)) return;
  }
  const AtWork at_work(&thread);
  if (!at_work) return;
  look_at_stored_pointer(thread);
  abandon_familiar(thread);
  bool shared = false;
  if (keep_order(streams, count, rounds)) {
    for (std::size_t i = 0; i < count; ++i) shared |= take_stream(thread, streams[i], rounds);
  } else {
    shared = take_rounds(thread, streams, count, rounds);
  }
  if (!shared) return;
  for (std::size_t i = 0; i < count; ++i) {
    if ((streams[i].what & kStreamPointers) == 0) continue;
    const Range range = range_of(streams[i], rounds * shape_of(streams[i]).pieces);
    await_stored_range(thread, range.start, range.end - range.start);
  }
}

// Whether the accesses are nobody's business: the quick look.
bool is_quiet(const Thread& thread, const Stream& stream, std::uint64_t rounds) {
  const Range range = range_of(stream, rounds * shape_of(stream).pieces);
  if ((range.start ^ (range.end - 1)) >= kPageSize || !has_shadow(range.start)) return false;
  Region* const region = region_of(range.start);
  if (region == nullptr) return false;
  const PageState page = page_in(*region, range.start).load(std::memory_order_relaxed);
  return page == static_cast<PageState>(thread.local_cell) ||
         (page == kIgnored && (stream.what & kStreamPointers) == 0);
}

}  // namespace

}  // namespace tomos::runtime

using namespace tomos::runtime;

extern "C" {
#pragma GCC visibility push(default)

char __tomos_streams_wanted = 0;

void __tomos_stream(const void* start, std::int64_t step, std::uint64_t rounds,
                    std::uint32_t what) {
  Thread* const thread = observer;
  if (thread == nullptr) return;
  // A signal handler may come between the streams of a loop with a loop of its own, and leave by
  // longjmp.
  if ((what & kStreamFirst) != 0 && thread->stream_count + kMaxStreams > kStreamRoom) {
    thread->stream_count = 0;
  }
  if (thread->stream_count == kStreamRoom) return;
  Stream& stream = thread->streams[thread->stream_count++];
  stream = {.start = reinterpret_cast<Address>(start),
            .step = step,
            .pc = reinterpret_cast<Address>(__builtin_return_address(0)),
            .what = what};
  stream.quiet = rounds == 0 || is_quiet(*thread, stream, rounds);
  if ((what & kStreamLast) == 0) return;
  std::uint32_t first = thread->stream_count - 1;
  while (first > 0 && (thread->streams[first].what & kStreamFirst) == 0) --first;
  std::uint32_t end = first;
  for (std::uint32_t i = first; i < thread->stream_count; ++i) {
    if (!thread->streams[i].quiet) thread->streams[end++] = thread->streams[i];
  }
  if (end != first) take_loop(*thread, thread->streams + first, end - first, rounds);
  thread->stream_count = first;
}

#pragma GCC visibility pop
}
