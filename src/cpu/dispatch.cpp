#include "cpu/dispatch.h"

#include <cstdlib>
#include <string>

#include "cpu/adjoints.h"
#include "quick.h"
#include "stiction/error.h"

// Defined in the units of each instruction set, src/cpu/kernels.cpp.
namespace stiction::physics {
#define STICTION_DECLARE_KERNELS(isa) \
  inline namespace isa {              \
  extern const cpu::Kernels kKernels; \
  }
#ifdef STICTION_HAVE_avx512
STICTION_DECLARE_KERNELS(avx512)
#endif
#ifdef STICTION_HAVE_avx2
STICTION_DECLARE_KERNELS(avx2)
#endif
#ifdef STICTION_HAVE_scalar
STICTION_DECLARE_KERNELS(scalar)
#endif
#ifdef STICTION_HAVE_baseline
STICTION_DECLARE_KERNELS(baseline)
#endif
#ifdef STICTION_HAVE_plain64
STICTION_DECLARE_KERNELS(plain64)
#endif
#undef STICTION_DECLARE_KERNELS

// src/cpu/tangents.cpp
#define STICTION_DECLARE_TANGENTS(isa)              \
  inline namespace isa {                            \
  extern const cpu::TangentKernels kTangentKernels; \
  }
#ifdef STICTION_HAVE_dual_avx512
STICTION_DECLARE_TANGENTS(dual_avx512)
#endif
#ifdef STICTION_HAVE_dual_avx2
STICTION_DECLARE_TANGENTS(dual_avx2)
#endif
#ifdef STICTION_HAVE_dual_baseline
STICTION_DECLARE_TANGENTS(dual_baseline)
#endif
#undef STICTION_DECLARE_TANGENTS

// src/cpu/adjoints.cpp
inline namespace adjoint {
extern const cpu::AdjointKernels kAdjointKernels;
}
}  // namespace stiction::physics

namespace stiction::cpu {
namespace {

struct Choice {
  const char* name;
  const Kernels* kernels;  // nullptr: not built
  bool supported;
};

// Whether this processor supports the flags of src/cpu/CMakeLists.txt.
bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}
bool has_avx512() {
#if defined(__x86_64__)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// Best first.
std::vector<Choice> choices() {
  const Kernels *avx512 = nullptr, *avx2 = nullptr, *baseline = nullptr, *scalar = nullptr;
#ifdef STICTION_HAVE_avx512
  avx512 = &physics::avx512::kKernels;
#endif
#ifdef STICTION_HAVE_avx2
  avx2 = &physics::avx2::kKernels;
#endif
#ifdef STICTION_HAVE_baseline
  baseline = &physics::baseline::kKernels;
#endif
#ifdef STICTION_HAVE_scalar
  scalar = &physics::scalar::kKernels;
#endif
  return {{"avx512", avx512, has_avx512()},
          {"avx2", avx2, has_avx2()},
          {"baseline", baseline, true},
          {"scalar", scalar, true}};
}

}  // namespace

const Kernels& float32_kernels() {
  const char* wanted = std::getenv("STICTION_ISA");
  if (wanted == nullptr || *wanted == '\0') {
    const std::vector<const Kernels*> usable = usable_kernels();
    if (usable.empty()) not_in_quick_build("this processor");
    return *usable.front();
  }

  std::string known;
  for (const Choice& c : choices()) {
    if (c.kernels != nullptr && c.supported)
      known += std::string(known.empty() ? "" : ", ") + c.name;
    if (std::string(wanted) != c.name) continue;
    if (c.kernels == nullptr)
      throw ArgumentError(std::string("STICTION_ISA=") + wanted +
                          ": this build does not contain it; configure with STICTION_ISAS=all");
    if (!c.supported)
      throw ArgumentError(std::string("STICTION_ISA=") + wanted +
                          ": this processor does not have it");
    return *c.kernels;
  }
  throw ArgumentError(std::string("STICTION_ISA=") + wanted + ": must be one of " + known);
}

const Kernels& float64_kernels() {
#ifdef STICTION_HAVE_plain64
  return physics::plain64::kKernels;
#else
  not_in_quick_build("precision = float64");
#endif
}

const TangentKernels& tangent_kernels() {
  [[maybe_unused]] const std::string wanted = float32_kernels().name;
#ifdef STICTION_HAVE_dual_avx512
  if (wanted == "avx512") return physics::dual_avx512::kTangentKernels;
#endif
#ifdef STICTION_HAVE_dual_avx2
  if (wanted == "avx2") return physics::dual_avx2::kTangentKernels;
#endif
#ifdef STICTION_HAVE_dual_baseline
  return physics::dual_baseline::kTangentKernels;
#else
  not_in_quick_build("derivatives of a batch");
#endif
}

const AdjointKernels& adjoint_kernels() {
#ifdef STICTION_HAVE_adjoint
  return physics::adjoint::kAdjointKernels;
#else
  not_in_quick_build("derivatives of a batch");
#endif
}

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> usable;
  for (const Choice& c : choices())
    if (c.kernels != nullptr && c.supported) usable.push_back(c.kernels);
  return usable;
}

}  // namespace stiction::cpu
