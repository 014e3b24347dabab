// The starts of the large heap objects, in order, so that the object around an address is found
// without a walk.
#pragma once

#include "runtime/hooks.h"

namespace tomos::runtime::large_objects {

void add(Address start);
void remove(Address start);
// The last start at or below the address; 0 if there is none.
Address find(Address inside);

}  // namespace tomos::runtime::large_objects
