// Derivatives of a step of a batch: docs/gradients.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stiction/batch.h"

namespace stiction {

// Rows or columns of a derivative that belong to one field.
struct DerivativeBlock {
  std::string name;
  int first = 0, size = 0;
};

// The derivative of the step that a batch would take next, in every environment, by the implicit function theorem:
// that of the minimum of the convex problem, which is solved to round-off for it, in double, whatever the batch's
// precision and solver_tolerance. The batch does not move. With friction_iterations =
// "fixed_point" the bounds of friction are those of the solution, and move with it. Kinks: the derivative of the side on which the
// step is.
//
//   of    rows: "qpos", "qvel", "act", "sensordata", or another field of the state: at the end of the step
//   wrt   columns: "qpos", "qvel", "ctrl", "qfrc_applied", or another field of the state or of the
//         inputs, or a parameter, which becomes own to each environment: at its start
//
// Those of qpos are tangents, as many as qvel has numbers: an increment of a rotation is a rotation vector in the axes
// of the body. All others are the numbers of the field, quaternions too.
//
// For one thread at a time, as the batch, which must live longer. Other batches pay nothing.
class StepDerivative {
 public:
  // Throws ArgumentError on an unknown or repeated name, on a device, with friction_iterations = "auto", which
  // jumps where its bounds stop, and on sensordata of sensors that cast rays or search.
  StepDerivative(Batch& batch, const std::vector<std::string>& of,
                 const std::vector<std::string>& wrt);
  ~StepDerivative();
  StepDerivative(StepDerivative&&) noexcept;
  StepDerivative& operator=(StepDerivative&&) noexcept;

  const std::vector<DerivativeBlock>& of() const;
  const std::vector<DerivativeBlock>& wrt() const;
  int rows() const;
  int columns() const;
  // Bytes, of all threads: what Jacobians need from the first one on, and products from the first one on.
  std::size_t memory() const;

  // (num_envs, rows, columns). Of a step that freezes the environment: the state stays, so 1 and 0. Always finite.
  std::vector<double> jacobian();
  // weightsᵀ times it, (num_envs, columns), without it, by a reverse sweep: weights (num_envs, rows). Throws
  // ArgumentError on another size or a number that is not finite.
  std::vector<double> product(std::span<const double> weights);
  // Of the last call, (num_envs): bits of Status of the steps that were differentiated. A derivative is not to be
  // trusted where not_converged or inaccurate is set, and where the step froze it is that of no motion.
  const std::vector<std::uint32_t>& status() const;
  // Of the last call, (num_envs), 0 or 1: whether all of it is exact. Points of boxes against boxes, and of cylinders,
  // ellipsoids, meshes and height fields against others than planes, are searched for in numbers without tangents. Where
  // one acts, the columns of qpos in the rows of qpos and qvel are those of Reference::step_jacobian, which takes
  // longer; 0 where another row or column moves such a point, or own parameters differ from the model's, which the
  // reference does not know: then these points are held in place.
  const std::vector<std::uint8_t>& exact() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
