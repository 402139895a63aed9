#include "reference/solver/line_search.h"

#include <algorithm>
#include <cmath>

namespace stiction::reference::inline STICTION_REAL {

Root newton_with_bisection(const std::function<RootValue(Real)>& function, Real lower, Real upper,
                           Real guess, Real x_tolerance, Real f_tolerance, int max_evaluations) {
  const bool rising = function(upper).f > 0;
  Root root{std::clamp(guess, lower, upper), 1};
  Real last_step = upper - lower, step = last_step;
  while (root.evaluations < max_evaluations) {
    const RootValue value = function(root.x);
    ++root.evaluations;
    if (abs(value.f) <= f_tolerance) return root;

    // keep the root inside the bracket
    ((value.f > 0) == rising ? upper : lower) = root.x;

    // Newton step, unless it leaves the bracket or shrinks too slowly
    const Real newton = -value.f / value.df;
    const Real target = root.x + newton;
    const bool slow = 2 * abs(newton) > abs(last_step);
    last_step = step;
    if (!isfinite(target) || target <= lower || target >= upper || slow) {
      step = 0.5 * (upper - lower);
      root.x = lower + step;
    } else {
      step = newton;
      root.x = target;
    }
    if (abs(step) <= x_tolerance) return root;
  }
  return root;
}

Real cubic_minimum(const LineValue& at_0, const LineValue& at_1) {
  // p'(t) = 3a t² + 2b t + c of the Hermite interpolant
  const Real difference = at_0.cost - at_1.cost;
  const Real a = 3 * (2 * difference + at_0.slope + at_1.slope);
  const Real half_b = -3 * difference - 2 * at_0.slope - at_1.slope;
  const Real c = at_0.slope;
  const Real secant = -at_0.slope / (at_1.slope - at_0.slope);

  // stable form of the roots: q/a and c/q with q = −(b/2 + sign(b) sqrt(b²/4 − a c))
  const Real discriminant = half_b * half_b - a * c;
  if (!(discriminant >= 0)) return secant;
  const Real q = -(half_b + copysign(sqrt(discriminant), half_b));
  for (const Real& t : {c / q, q / a})
    if (t > 0 && t < 1) return t;
  return secant;
}

LineSearch exact_line_search(const LineFunction& l, const LineValue& at_0, Real round_off) {
  constexpr double kTolerance = 1e-8;  // of the slope relative to ℓ'(0), and of α
  const LineValue at_1 = l(1);
  const Real scale = abs(at_0.slope);
  if (at_1.slope <= kTolerance * scale || scale <= round_off) return {1, 0};

  const auto f = [&](Real alpha) {
    const LineValue value = l(alpha);
    return RootValue{value.slope / scale, value.curvature / scale};
  };
  const Root root =
      newton_with_bisection(f, 0, 1, cubic_minimum(at_0, at_1), kTolerance, kTolerance);
  return {root.x, root.evaluations - 1};  // the upper end of the bracket is α = 1 again
}

}  // namespace stiction::reference::inline STICTION_REAL
