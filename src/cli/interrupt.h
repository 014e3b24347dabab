// Signals: an interrupted check still reports what it has seen; a killed command leaves no half
// file behind.
#pragma once

#include <string>

namespace tomos {

// From now on the first SIGINT only makes interrupted() true. The second one kills.
void stop_on_interrupt();
bool interrupted();
// Dies as an uncaught SIGINT does, so that a shell or make that started us stops as well.
[[noreturn]] void die_of_interrupt();

// The one file to remove if SIGINT, SIGTERM or SIGHUP kills the process; empty for none.
void remove_on_death(const std::string& path);
// Removes it now.
void remove_unfinished();

}  // namespace tomos
