// The card that runtime.cpp is, in programs that are linked to it.
#pragma once

#include <functional>
#include <string>

#include "cuda/ptx/machine.h"

namespace stiction::ptx {

inline constexpr const char* kCardName = "PTX on the host, sized as an H100";

Machine& machine();
// How a kernel lies on a multiprocessor.
struct Launching {
  std::string kernel;
  int resident_blocks;
  std::size_t shared_bytes;  // of all of them
  const void* const* arguments;
};
// Called before each kernel runs.
void watch_launches(std::function<void(const Launching&)> watch);

}  // namespace stiction::ptx
