// What nvcc puts into an object for a card: PTX as text, and machine code, whose notes say how many
// registers and how much stack a kernel has.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stiction::ptx {

struct Resources {
  int registers = 0, stack_bytes = 0;
};
struct FatBinary {
  std::vector<std::string> ptx;
  std::map<std::string, Resources> kernels;
};
// `wrapper`: the argument of __cudaRegisterFatBinary. Throws Fault where it can't be decompressed.
FatBinary read_fat_binary(const void* wrapper);

}  // namespace stiction::ptx
