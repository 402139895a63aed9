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

// The derivative of the next step of a batch, in every environment, by the implicit function theorem at the minimum of
// the convex problem, which is solved to round-off for this purpose, in double, whatever the precision and
// solver_tolerance of the batch. The batch itself does not step. With friction_iterations = "fixed_point" the
// friction bounds are those of the solution, and are differentiated too. At a kink: the derivative of the side on
// which the step is.
//
//   of    rows: "qpos", "qvel", "act", "sensordata", or another field of the state: at the end of the step
//   wrt   columns: "qpos", "qvel", "ctrl", "qfrc_applied", or another field of the state or of the
// inputs, or a parameter, which becomes per-environment: at its start
//
// Those of qpos are tangents, as many as qvel has numbers: the increment of a rotation is a rotation vector in the axes
// of the body. All other rows and columns are the numbers of the field, including quaternions.
//
// To be used by one thread at a time, like the batch, which must outlive it. Other batches have no overhead.
class StepDerivative {
 public:
  // Throws ArgumentError on an unknown or repeated name, on a device, with friction_iterations = "auto", which is
  // discontinuous where renewals of the bounds stop, and on sensordata of sensors that cast rays or use a search.
  StepDerivative(Batch& batch, const std::vector<std::string>& of,
                 const std::vector<std::string>& wrt);
  ~StepDerivative();
  StepDerivative(StepDerivative&&) noexcept;
  StepDerivative& operator=(StepDerivative&&) noexcept;

  const std::vector<DerivativeBlock>& of() const;
  const std::vector<DerivativeBlock>& wrt() const;
  int rows() const;
  int columns() const;
  // Bytes over all threads: those of Jacobians from the first Jacobian on, those of products from the first product on.
  std::size_t memory() const;

  // (num_envs, rows, columns). For a step that freezes the environment the state stays: 1 and 0. Always finite.
  std::vector<double> jacobian();
  // Returns weightsᵀ times the Jacobian, (num_envs, columns), without forming it, by a reverse sweep: weights
  // (num_envs, rows). Throws ArgumentError on another size or a number that is not finite.
  std::vector<double> product(std::span<const double> weights);
  // Returns, for the last call, (num_envs): the Status bits of the differentiated steps. Don't trust derivatives where
  // not_converged or inaccurate is set; if the step froze, the derivative is that of no motion.
  const std::vector<std::uint32_t>& status() const;
  // Returns, for the last call, (num_envs), 0 or 1: whether every entry is exact. Points of two boxes, and those of
  // cylinders, ellipsoids, meshes and height fields against shapes other than planes, are found by searches without
  // tangents. Where one acts, the columns of qpos in the rows of qpos and qvel are those of Reference::step_jacobian,
  // which takes longer; 0 where another row or column moves such a point, or per-environment parameters differ from the
  // model's, which the reference does not know: then these points are held fixed.
  const std::vector<std::uint8_t>& exact() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
