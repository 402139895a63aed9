#include "reference/line_search.h"

#include <algorithm>
#include <cmath>

namespace stiction::reference {

Root newton_with_bisection(const std::function<RootValue(double)>& function, double lower,
                           double upper, double guess, double x_tolerance, double f_tolerance,
                           int max_evaluations) {
  const bool rising = function(upper).f > 0;
  Root root{std::clamp(guess, lower, upper), 1};
  double last_step = upper - lower, step = last_step;
  while (root.evaluations < max_evaluations) {
    const RootValue value = function(root.x);
    ++root.evaluations;
    if (std::abs(value.f) <= f_tolerance) return root;

    // keep the root inside the bracket
    ((value.f > 0) == rising ? upper : lower) = root.x;

    // Newton step, unless it leaves the bracket or shrinks too slowly
    const double newton = -value.f / value.df;
    const double target = root.x + newton;
    const bool slow = 2 * std::abs(newton) > std::abs(last_step);
    last_step = step;
    if (!std::isfinite(target) || target <= lower || target >= upper || slow) {
      step = 0.5 * (upper - lower);
      root.x = lower + step;
    } else {
      step = newton;
      root.x = target;
    }
    if (std::abs(step) <= x_tolerance) return root;
  }
  return root;
}

double cubic_minimum(const LineValue& at_0, const LineValue& at_1) {
  // p'(t) = 3a t² + 2b t + c of the Hermite interpolant
  const double difference = at_0.cost - at_1.cost;
  const double a = 3 * (2 * difference + at_0.slope + at_1.slope);
  const double half_b = -3 * difference - 2 * at_0.slope - at_1.slope;
  const double c = at_0.slope;
  const double secant = -at_0.slope / (at_1.slope - at_0.slope);

  // stable form of the roots: q/a and c/q with q = −(b/2 + sign(b) sqrt(b²/4 − a c))
  const double discriminant = half_b * half_b - a * c;
  if (!(discriminant >= 0)) return secant;
  const double q = -(half_b + std::copysign(std::sqrt(discriminant), half_b));
  for (const double t : {c / q, q / a})
    if (t > 0 && t < 1) return t;
  return secant;
}

LineSearch exact_line_search(const LineFunction& l, const LineValue& at_0, double round_off) {
  constexpr double kTolerance = 1e-8;  // of the slope relative to ℓ'(0), and of α
  const LineValue at_1 = l(1);
  const double scale = std::abs(at_0.slope);
  if (at_1.slope <= kTolerance * scale || scale <= round_off) return {1, 0};

  const auto f = [&](double alpha) {
    const LineValue value = l(alpha);
    return RootValue{value.slope / scale, value.curvature / scale};
  };
  const Root root =
      newton_with_bisection(f, 0, 1, cubic_minimum(at_0, at_1), kTolerance, kTolerance);
  return {root.x, root.evaluations - 1};  // the upper end of the bracket is α = 1 once more
}

}  // namespace stiction::reference
