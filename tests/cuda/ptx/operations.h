// Opcodes by name. Those of one file each add themselves.
#pragma once

#include <string>
#include <unordered_map>

#include "cuda/ptx/program.h"

namespace stiction::ptx {

using Operations = std::unordered_map<std::string, Execute>;
void add_arithmetic(Operations& all);  // arithmetic.cpp
void add_transfers(Operations& all);   // transfers.cpp: loads and stores
void add_meetings(Operations& all);    // meetings.cpp: shuffles, votes, barriers of a warp

}  // namespace stiction::ptx
