// A state and inputs as given by a user: checked, and completed with defaults.
#pragma once

#include <span>
#include <vector>

#include "reference/step/step.h"
#include "stiction/reference.h"

namespace stiction::reference {

// Owns the defaults of missing inputs and the cleaned copies of bad ones. Throws ArgumentError on a wrong size, on a
// number that is not finite in the state or in a mocap pose, and on a quaternion without a direction; numbers that are
// not finite among controls, forces and switches count as zero and set a status bit.
class CheckedInputs {
 public:
  CheckedInputs(const Model& m, std::span<const double> qpos, std::span<const double> qvel,
                const Inputs& in);
  CheckedInputs(const CheckedInputs&) = delete;

  StepInputs step;
  Status status = Status::ok;

 private:
  std::span<const double> cleaned(std::span<const double> given, int n, const char* name,
                                  std::vector<double>& own);
  static std::span<const double> or_zero(std::span<const double> given, int n, const char* name,
                                         std::vector<double>& own);

  std::vector<double> ctrl_, qfrc_, xfrc_, anchor_, friction_anchor_, rebound_, active_;
};

}  // namespace stiction::reference
