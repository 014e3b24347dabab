// Which transactions are open: behind the horizon lies what no open transaction can have done.
//
// An access that comes behind another thread's access matters to serializability only if it comes
// behind a transaction that is still open, for only then can the cycle close. Every thread says
// when its open transaction began; the earliest of them is the horizon. It only moves forward, so a
// thread looks again only when its last look does not settle a question, and not too often.
#pragma once

#include "runtime/runtime.h"

namespace tomos::runtime {

struct World {
  Thread& thread;

  static Stamp now() { return ticks(); }
  Stamp horizon() const {
    if (config.filter == Filter::kDistinct) return now();
    look();
    return thread.horizon;
  }
  bool settled(const Access& access) const {
    if (config.filter == Filter::kDistinct) return true;  // order is nothing to anybody
    // Who had it before may have used it a moment ago.
    if (access.changed) return look() == kNoTransaction;
    // Others' conflicting accesses are older than this version.
    const Stamp written = ((access.cell & kVersionMask) + 1) << kVersionShift;
    return written < thread.horizon || written < look();
  }

 private:
  Stamp look() const;
};

}  // namespace tomos::runtime
