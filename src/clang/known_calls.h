// What functions of the system do that matters here.
#pragma once

#include <cstdint>
#include <string_view>

namespace tomos::cpp {

enum class Effect : std::uint8_t {
  kNone,     // nothing but to the objects it is given
  kStep,     // one step that others can see: a system call
  kUnknown,  // anything
};

// Of a function of a system header, by its plain name.
Effect effect_of(std::string_view name, bool in_std);

// Calls what it is given, and returns when that has returned.
bool calls_at_once(std::string_view name);

// Returns memory that nobody else has.
bool allocates(std::string_view name);

// Of a container or the like: does not change it, though it is not const.
bool only_reads(std::string_view method);

// Of a class template: what its constructors are given is copied into the object.
bool keeps_a_copy(std::string_view class_name);

// Of a function or a method that takes anything: makes an object of it, or adds one to a container.
bool makes_or_keeps(std::string_view name);

}  // namespace tomos::cpp
