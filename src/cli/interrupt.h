// Signals: an interrupted command still reports what it has seen; a killed command leaves no half
// file behind.
#pragma once

#include <string>

namespace tomos {

// From now on the first SIGINT only makes interrupted() true, and says what follows: "reporting on
// what has been read". The second one kills.
void stop_on_interrupt(const char* what_follows);
bool interrupted();
// Dies as an uncaught SIGINT does, so that a shell or make that started us stops as well.
[[noreturn]] void die_of_interrupt();

// What to do before a signal kills the process; it may only do what a signal handler may.
void call_on_death(void (*action)());

// A reader of our output that goes away ends us quietly, even if whoever started us ignores the
// signal. In a child that is to run another program: as it was before.
void die_of_closed_pipe();
void restore_inherited_signals();

// The one file to remove if SIGINT, SIGTERM or SIGHUP kills the process; empty for none.
void remove_on_death(const std::string& path);
// Removes it now.
void remove_unfinished();

}  // namespace tomos
