// Exact line search on a convex function of one variable.
#pragma once

#include <functional>

#include "reference/base/real.h"

namespace stiction::reference::inline STICTION_REAL {

struct LineValue {
  Real cost, slope, curvature;  // ℓ(α), ℓ'(α), ℓ''(α)
};
using LineFunction = std::function<LineValue(Real alpha)>;

struct Root {
  Real x = 0;
  int evaluations = 0;
};
struct RootValue {
  Real f, df;
};
// Newton's method from `guess`, with bisection when it leaves [lower, upper] or converges slowly. Needs
// f(lower) and f(upper) of opposite sign; stops at |f| <= f_tolerance or |Δx| <= x_tolerance.
Root newton_with_bisection(const std::function<RootValue(Real)>& function, Real lower, Real upper,
                           Real guess, Real x_tolerance, Real f_tolerance,
                           int max_evaluations = 100);

// Returns the root in (0, 1) of the slope of the cubic through (0, cost, slope) and (1, cost, slope).
Real cubic_minimum(const LineValue& at_0, const LineValue& at_1);

struct LineSearch {
  Real alpha = 1;
  int evaluations = 0;  // beyond the evaluation at α = 1
};
// Returns the minimum of ℓ on (0, 1]; α = 1 is tried first. `round_off` is the rounding error of ℓ: if the
// predicted decrease is below it, root finding is meaningless, and the full step is taken.
LineSearch exact_line_search(const LineFunction& l, const LineValue& at_0, Real round_off);

}  // namespace stiction::reference::inline STICTION_REAL
