// Selects the compiled instruction set that runs.
#pragma once

#include <vector>

#include "cpu/kernels.h"
#include "cpu/tangents.h"

namespace stiction::cpu {

// Returns the best set that is built and supported by this processor, or the one that the environment variable
// STICTION_ISA names: avx512, avx2, baseline, scalar. Throws ArgumentError if it is not available.
const Kernels& float32_kernels();
const Kernels& float64_kernels();
// Returns the tangents of the same set; of the baseline if STICTION_ISA is "scalar".
const TangentKernels& tangent_kernels();

// Returns all that are built and supported here, best first; tests compare them.
std::vector<const Kernels*> usable_kernels();

}  // namespace stiction::cpu
