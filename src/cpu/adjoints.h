// Reverse-mode differentiation of a step: src/physics in numbers that record their dependencies (adjoint.h), at given
// solutions, and the sweep back from the results of the step.
#pragma once

#include <vector>

#include "cpu/tangents.h"
#include "cpu/tape.h"

namespace stiction::cpu {

// Data that `record` leaves for `sweep`.
struct Recording {
  // v of a solve is independent: the first nv nodes of `first` .. `last`, at whose end r is.
  struct Solve {
    std::uint32_t first, last;
  };
  Tape tape;
  std::vector<Solve> solves;
  std::vector<std::uint32_t> residual;  // (solves, nv)  nodes of r
  std::vector<double> factors;          // of H; size: factor_numbers
  std::vector<double> weights;          // (nv)
  int nsolve = 0;                       // in this step
  bool follows = false;  // its friction bounds follow, and `following` holds the factor of M

  Recording(const physics::SizesView& m, int most_solves)
      : solves(static_cast<std::size_t>(most_solves)),
        residual(static_cast<std::size_t>(most_solves * m.nv)),
        factors(factor_numbers(m, most_solves)),
        weights(static_cast<std::size_t>(m.nv)) {}
  std::size_t bytes() const {
    return tape.bytes() + sizeof(double) * (factors.size() + weights.size()) +
           sizeof(std::uint32_t) * residual.size() + sizeof(Solve) * solves.size();
  }
};

struct AdjointKernels {
  // Records a step of the environment in `fields`, blocks of Recorded whose nodes are leaves of the tape or 0. plain,
  // solutions, solves, sensors and the result: as in TangentKernels.
  bool (*record)(const physics::ModelView& m, void* const* fields, void* const* plain,
                 const double* solutions, int solves, bool sensors, Recording& recording,
                 LinearSystem& following);
  // Sweeps from x̄ of the nodes of results to the leaves, the first nodes of the tape.
  void (*sweep)(const physics::ModelView& m, void* const* fields, Recording& recording, int leaves,
                LinearSystem& following);
};

// Works on one number at a time, so no instruction set is faster.
const AdjointKernels& adjoint_kernels();

}  // namespace stiction::cpu
