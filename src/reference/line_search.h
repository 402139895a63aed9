// Exact line search on a convex function of one variable.
#pragma once

#include <functional>

namespace stiction::reference {

struct LineValue {
  double cost, slope, curvature;  // ℓ(α), ℓ'(α), ℓ''(α)
};
using LineFunction = std::function<LineValue(double alpha)>;

struct Root {
  double x = 0;
  int evaluations = 0;
};
struct RootValue {
  double f, df;
};
// Newton from `guess`, with bisection when it leaves [lower, upper] or converges slowly. Needs
// f(lower) and f(upper) of opposite sign; stops at |f| <= f_tolerance or |Δx| <= x_tolerance.
Root newton_with_bisection(const std::function<RootValue(double)>& function, double lower,
                           double upper, double guess, double x_tolerance, double f_tolerance,
                           int max_evaluations = 100);

// Root in (0, 1) of the slope of the cubic through (0, cost, slope) and (1, cost, slope).
double cubic_minimum(const LineValue& at_0, const LineValue& at_1);

struct LineSearch {
  double alpha = 1;
  int evaluations = 0;  // beyond the one at α = 1
};
// Minimum of ℓ on (0, 1]; α = 1 is tried first. `round_off` is the size of ℓ's rounding error: a
// predicted decrease below it makes root finding meaningless, and the full step is taken.
LineSearch exact_line_search(const LineFunction& l, const LineValue& at_0, double round_off);

}  // namespace stiction::reference
