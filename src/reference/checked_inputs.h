// A state and inputs as a user gives them: checked, and with their defaults.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "reference/step.h"
#include "stiction/reference.h"

namespace stiction::reference {

// Owns the defaults of missing inputs and the cleaned copies of bad ones. Throws ArgumentError on a wrong size, on a
// number that is not finite in what has no default, and on a quaternion without a direction.
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

  std::vector<double> ctrl_, qfrc_, xfrc_, anchor_, friction_anchor_, active_;
};

}  // namespace stiction::reference
