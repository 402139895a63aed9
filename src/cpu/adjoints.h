// A reverse sweep of a step: the physics text in numbers that record what they depend on (adjoint.h), at solutions that
// are known, and the way back from what the step moves.
#pragma once

#include <vector>

#include "cpu/tangents.h"
#include "cpu/tape.h"

namespace stiction::cpu {

// What `record` leaves for `sweep`.
struct Recording {
  // v of a solve is independent: the first nv nodes of `first` .. `last`, which end with r.
  struct Solve {
    std::uint32_t first, last;
  };
  Tape tape;
  std::vector<Solve> solves;
  std::vector<std::uint32_t> residual;  // (solves, nv)  nodes of r
  std::vector<double> factors;          // of H: factor_numbers
  std::vector<double> weights;          // (nv)
  int nsolve = 0;                       // of this step
  bool follows = false;  // its bounds of friction follow, and `following` has the factor of M

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
  // A step of the environment in `fields`, blocks of Recorded whose nodes are leaves of the tape or 0. plain,
  // solutions, solves, sensors: as of TangentKernels, and so is the result.
  bool (*record)(const physics::ModelView& m, void* const* fields, void* const* plain,
                 const double* solutions, int solves, bool sensors, Recording& recording,
                 LinearSystem& following);
  // From x̄ of nodes of what the step moved to those of the leaves, the first nodes of the tape.
  void (*sweep)(const physics::ModelView& m, void* const* fields, Recording& recording, int leaves,
                LinearSystem& following);
};

// One number after the other, so that no instruction set does it better.
const AdjointKernels& adjoint_kernels();

}  // namespace stiction::cpu
