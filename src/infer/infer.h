// The second phase of type inference for atomicity: guards are given, atomicities come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/program.h"
#include "event/error.h"
#include "infer/basic.h"
#include "report/finding.h"

namespace tomos::infer {

// What becomes of a method that uses what is not there. A program that a front end made is not its
// author's fault: one such method is no reason to know nothing of the others.
enum class Senseless : std::uint8_t {
  kRefused,  // with the whole program
  kUnknown,  // it may do anything
};

struct MethodAtomicity {
  std::string name;                 // "List.add"
  std::string atomicity;            // "this?mover:atomic"
  Basic basic = Basic::kConst;      // for a caller that holds what is needed and nothing else
  std::vector<std::string> needed;  // locks that must be held
  std::vector<std::string> unsaid;  // those too, but what asks for them is said elsewhere
  bool is_given = false;            // some of them by the source
  bool is_declared = false;
  bool has_body = false;
  Location location;
};

struct BlockAtomicity {  // of a critical section
  std::string method;
  std::string atomicity;
  Basic basic = Basic::kConst;
  Location location;
};

struct Inference {
  std::vector<MethodAtomicity> methods;  // in the order of the program
  std::vector<BlockAtomicity> blocks;
  std::vector<Finding> findings;
  std::vector<std::string>
      constraints;  // as in Fig. 7, without those that declared atomicities need not
  std::vector<std::string> left_out;  // methods that make no sense
};

// An error: the program makes no sense, and the error says where; unless such methods are to be
// left out.
Result<Inference> infer_atomicities(const core::Program& program,
                                    Senseless senseless = Senseless::kRefused);

// Drops the races at places where another finding is told already.
void leave_out_told(std::vector<Finding>& found, const std::vector<Finding>& told);

}  // namespace tomos::infer
