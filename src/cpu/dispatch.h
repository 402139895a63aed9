// Which compiled instruction set runs.
#pragma once

#include <vector>

#include "cpu/kernels.h"
#include "cpu/tangents.h"

namespace stiction::cpu {

// The best of what is built and what this processor has, or what the environment variable
// STICTION_ISA names: avx512, avx2, baseline, scalar. Throws ArgumentError if it can't be had.
const Kernels& float32_kernels();
const Kernels& float64_kernels();
// Of the same set; of the baseline where STICTION_ISA names "scalar".
const TangentKernels& tangent_kernels();

// All that are built and run here, best first; tests compare them.
std::vector<const Kernels*> usable_kernels();

}  // namespace stiction::cpu
