// Tangents of a step: the physics text in dual numbers (dual.h), at solutions that are known.
#pragma once

#include <cstddef>

#include "physics/base/views.h"

namespace stiction::cpu {

// A dual number in memory: its value, then its derivative in each direction.
inline constexpr int kDirections = 8;
inline constexpr std::size_t kDualBytes = (1 + kDirections) * sizeof(double);

// M x = b of a matrix that is not symmetric, where the bounds of friction follow; and the memory for it.
struct LinearSystem {
  virtual ~LinearSystem() = default;
  virtual double* matrix(int n) = 0;   // M, (n, n), row by row
  virtual double* columns(int n) = 0;  // b, then x: (n, kDirections)
  virtual void factor() = 0;
  virtual void solve() = 0;
  virtual void solve_transposed(double* x) = 0;  // b, then Mᵀ⁻¹ b: (n)
};

// Numbers for the factors of H: of each solve H and L, and a right-hand side that nobody asks for.
inline std::size_t factor_numbers(const physics::SizesView& m, int solves) {
  return static_cast<std::size_t>(2 * m.ntri + m.nv) * static_cast<std::size_t>(solves);
}

struct TangentKernels {
  const char* name;
  // A step of the environment in `fields`, blocks of dual numbers, in the directions in which state, inputs and
  // parameters are seeded. What it moves then has the tangents at its end; `sensors`: sensordata, too. plain: the
  // same step in doubles, as Kernels::forces left it; solutions: v of each of its solves, (solves, nv). The factors
  // of H are made where `first`, and used again in other directions from the same numbers; `following` has the one of
  // a solve whose bounds of friction follow.
  // true: a point acts that was searched for (is_lifted). Where it is was taken from `plain` and has no tangents.
  bool (*step)(const physics::ModelView& m, void* const* fields, void* const* plain,
               const double* solutions, int solves, bool first, bool sensors, double* factors,
               LinearSystem& following);
};

// Points of these pairs are searched for lane by lane, in plain doubles.
constexpr bool is_lifted(GeomType type1, GeomType type2) {
  return physics::colliders_of(type1, type2) >= physics::Colliders::boxes;
}

}  // namespace stiction::cpu
