// RaiSim's solver (Hwangbo et al. 2018; Le Lidec et al., algorithm 5): each contact in turn is solved for
// u_n = 0, sticking where that is inside the cone, else at the least energy on the ellipse where the
// cone meets u_n = 0, found by bisection. That point satisfies Signorini's law to round-off, but is
// not the one of maximum dissipation (their eq. 24).
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "lab/src/solvers/solvers.h"

namespace stiction::lab {
namespace {

// The ellipse λ(θ) = (r cos θ, r sin θ, r/μ) with u_n = 0.
struct Ellipse {
  Mat3 G;
  Vec3 c;  // velocity without this contact
  double mu;

  struct Point {
    Vec3 lambda;
    double slope;  // of the energy over θ
  };
  // Nothing where the plane and the cone's ray at θ don't meet.
  std::optional<Point> at(double theta) const {
    const double co = std::cos(theta), si = std::sin(theta);
    const double den = G(2, 2) / mu + G(2, 0) * co + G(2, 1) * si;
    const double r = -c.z() / den;
    if (!(r >= 0) || !std::isfinite(r)) return {};
    const double dr = c.z() * (-G(2, 0) * si + G(2, 1) * co) / (den * den);
    const Vec3 lambda(r * co, r * si, r / mu);
    const Vec2 dt(dr * co - r * si, dr * si + r * co);
    // ½ λ_tᵀ Ḡ λ_t + c̄ᵀ λ_t with λ_n eliminated by u_n = 0
    const Eigen::Matrix2d Gbar =
        G.topLeftCorner<2, 2>() - G.topRightCorner<2, 1>() * G.bottomLeftCorner<1, 2>() / G(2, 2);
    const Vec2 cbar = c.head<2>() - G.topRightCorner<2, 1>() * (c.z() / G(2, 2));
    return Point{lambda, (Gbar * lambda.head<2>() + cbar).dot(dt)};
  }
};

// From the direction against the slip, with growing steps until the slope changes sign, then halving.
std::optional<Vec3> least_energy(const Ellipse& e) {
  double a = std::atan2(-e.c.y(), -e.c.x());
  auto at_a = e.at(a);
  if (!at_a) return {};
  double step = at_a->slope > 0 ? -1e-2 : 1e-2, b = a;
  for (double turned = 0; turned < 2 * std::numbers::pi;) {
    b = a + step;
    const auto at_b = e.at(b);
    if (!at_b) {
      step *= 0.5;
      if (std::abs(step) < 1e-12) return {};
      continue;
    }
    if ((at_b->slope > 0) != (at_a->slope > 0)) break;
    turned += std::abs(step);
    a = b;
    at_a = at_b;
    step *= 1.3;
  }
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (a + b);
    const auto at_middle = e.at(middle);
    if (!at_middle) return {};
    ((at_middle->slope > 0) == (at_a->slope > 0) ? a : b) = middle;
  }
  return e.at(0.5 * (a + b))->lambda;
}

}  // namespace

Iterates raisim(const ContactProblem&, const DualProblem& p, const Settings& s) {
  VecX lambda = start(p, s);
  Monitor monitor(p, Law::coulomb, s);
  double alpha = 1;
  do {
    for (int i = 0; i < p.contacts(); ++i) {
      const Mat3 G = p.block(i);
      const Vec3 old = lambda.segment<3>(3 * i);
      const Vec3 c = p.G.middleRows<3>(3 * i) * lambda + p.g.segment<3>(3 * i) -
                     p.G.block<3, 3>(3 * i, 3 * i) * old;
      Vec3 next = Vec3::Zero();
      if (c.z() <= 0 && p.mu[i] == 0) {
        next.z() = -c.z() / G(2, 2);
      } else if (c.z() <= 0) {
        next = -G.partialPivLu().solve(c);
        if (!(next.head<2>().norm() <= p.mu[i] * next.z())) {
          const auto slide = least_energy({G, c, p.mu[i]});
          if (!slide) {  // a large μ with strong coupling: no point on the ellipse
            monitor.outcome = Outcome::failed;
            monitor.own = monitor.relative(lambda);
            return finish(monitor, lambda);
          }
          next = *slide;
        }
      }
      lambda.segment<3>(3 * i) = (1 - alpha) * old + alpha * next;
    }
    alpha = std::max(0.1, 0.99 * alpha);
  } while (!monitor.done(lambda));
  return finish(monitor, lambda);
}

}  // namespace stiction::lab
