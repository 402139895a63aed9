// Tangents of a step: src/physics in dual numbers (dual.h), at given solutions.
#pragma once

#include <cstddef>

#include "physics/base/views.h"

namespace stiction::cpu {

// A dual number in memory: its value, then its derivative in each direction.
inline constexpr int kDirections = 8;
inline constexpr std::size_t kDualBytes = (1 + kDirections) * sizeof(double);

// M x = b for a matrix that is not symmetric, if the friction bounds follow; and its memory.
struct LinearSystem {
  virtual ~LinearSystem() = default;
  virtual double* matrix(int n) = 0;   // M, (n, n), row by row
  virtual double* columns(int n) = 0;  // b, then x: (n, kDirections)
  virtual void factor() = 0;
  virtual void solve() = 0;
  virtual void solve_transposed(double* x) = 0;  // b, then Mᵀ⁻¹ b: (n)
};

// Returns the doubles needed for the factors of H: for each solve H and L, and an unused right-hand side.
inline std::size_t factor_numbers(const physics::SizesView& m, int solves) {
  return static_cast<std::size_t>(2 * m.ntri + m.nv) * static_cast<std::size_t>(solves);
}

struct TangentKernels {
  const char* name;
  // Makes a step of the environment in `fields`, blocks of dual numbers, in the directions in which state, inputs and
  // parameters are seeded. Its results then have the tangents; `sensors`: sensordata, too. plain: the same step in
  // doubles, as Kernels::forces left it; solutions: v of each of its solves, (solves, nv). The factors of H are
  // computed if `first`, and reused for other directions of the same numbers; `following` has the factor of a solve
  // whose friction bounds follow.
  // Returns true if a point computed by a search acts (is_lifted): its position, from `plain`, has no tangents.
  bool (*step)(const physics::ModelView& m, void* const* fields, void* const* plain,
               const double* solutions, int solves, bool first, bool sensors, double* factors,
               LinearSystem& following);
};

// Points of these pairs are computed lane by lane, in plain doubles.
constexpr bool is_lifted(GeomType type1, GeomType type2) {
  return physics::colliders_of(type1, type2) >= physics::Colliders::boxes;
}

}  // namespace stiction::cpu
