// Runs the program under test as if it had been started without us: its own standard streams, its
// own signals, its own process status.
#pragma once

#include <string>
#include <vector>

#include "event/error.h"

namespace tomos {

// The words behind "--" belong to the program. The option parser would take some of them apart
// ("[a,b]"), so they go through it marked, and program_words() takes the marks off.
std::vector<std::string> mark_program(std::vector<std::string> arguments);
// An error if the words do not stand behind "--": then their options might be ours.
Result<std::vector<std::string>> program_words(const std::vector<std::string>& marked,
                                               const std::string& command);

// Starts `words` with `environment` added to ours ("NAME=value"; "NAME" removes it) and waits for
// its end. Meanwhile what is typed at the terminal (Ctrl-C, Ctrl-\, Ctrl-Z) is the program's: we
// are in the same process group, live on, and stop when it stops. SIGTERM and SIGHUP are passed on.
// The result is its status as wait() gives it; an error if it could not be started.
Result<int> launch(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment);

// "exit status 3", "signal 11 (Segmentation fault)".
std::string describe_status(int status);

// What a shell would see if it had run the program itself: its exit status to be returned, or, if a
// signal killed it, our own death by the same signal.
int pass_on(int status);

// A file of this name, executable, found as execvp would; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace tomos
