#include "reference/solver/newton.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Round-off of the gradient relative to the impulses that it sums. If a servo presses a joint at rest against
// its limit, the two impulses cancel and no other quantity sets a scale.
constexpr double kRoundOff = 8 * kEps;

// Tracks the progress of the iteration, to detect when only round-off is left.
class StallTest {
 public:
  // The cost decreases by no more than its round-off and the residual no longer halves, or two consecutive
  // steps are too small to change v.
  bool stalled(const Evaluation& now, Real residual, Real alpha, Real step, Real scale) {
    const bool flat = last_cost_ - now.cost <= kEps * now.magnitude && alpha > 0.5 &&
                      residual > 0.5 * last_residual_;
    tiny_steps_ = step < 4 * kEps * scale ? tiny_steps_ + 1 : 0;
    start(now, residual);
    return flat || tiny_steps_ >= 2;
  }
  void start(const Evaluation& now, Real residual) {
    last_cost_ = now.cost;
    last_residual_ = residual;
  }

 private:
  Real last_cost_ = 0, last_residual_ = 0;
  int tiny_steps_ = 0;
};

}  // namespace

Real relative_residual(const Problem& problem, const Evaluation& e, const VecX& v,
                       double tolerance) {
  const VecX D = problem.A.diagonal().cwiseSqrt().cwiseInverse();
  const double rho = kRoundOff / std::max(tolerance, kRoundOff);
  const VecX Av = D.cwiseProduct(problem.A * v), impulse = D.cwiseProduct(e.impulse);
  const VecX load = rho * D.cwiseProduct(e.load), gradient = D.cwiseProduct(e.gradient());
  const int nv = static_cast<int>(v.size());
  const auto tree = [&](int i) {
    return problem.tree.empty() ? 0 : problem.tree[static_cast<std::size_t>(i)];
  };
  Real most = 0;
  for (int first = 0, end = 0; first < nv; first = end) {
    while (end < nv && tree(end) == tree(first)) ++end;
    const auto norm = [&](const VecX& x) { return x.segment(first, end - first).norm(); };
    const Real r = norm(gradient), scale = std::max({norm(Av), norm(impulse), norm(load)});
    if (!isfinite(r)) return r;
    if (r != 0) most = std::max<Real>(most, scale > 0 ? r / scale : Real(1));
  }
  return most;
}

Solution solve(const Problem& problem, const VecX& v0, double tolerance, int max_iterations) {
  Solution s;
  if (problem.unconstrained()) {
    s.v = problem.v_star;
    return s;
  }
  s.v = v0;
  const VecX D = problem.A.diagonal().cwiseSqrt().cwiseInverse();
  Evaluation e = evaluate(problem, s.v);
  s.residual = relative_residual(problem, e, s.v, tolerance);
  StallTest progress;
  progress.start(e, s.residual);

  while (!(s.residual <= tolerance)) {
    if (!isfinite(s.residual) || !isfinite(e.cost)) {
      s.status |= Status::bad_state;
      break;
    }
    if (s.iterations == max_iterations) {
      s.status |= Status::not_converged;
      break;
    }

    // D H D x = −D r, Δv = D x
    const Eigen::LLT<MatX> factor(D.asDiagonal() * e.hessian * D.asDiagonal());
    const VecX r = e.gradient();
    const VecX x = factor.solve(-D.cwiseProduct(r));
    const VecX dv = D.cwiseProduct(x);
    const Real slope = r.dot(dv);
    if (factor.info() != Eigen::Success || !isfinite(slope)) {  // LLT does not detect overflow
      s.status |= Status::cholesky_failed;
      break;
    }
    if (!(slope < 0)) {  // a descent direction, unless only round-off is left
      s.status |= Status::stalled;
      break;
    }

    // v ← v + α Δv
    const Line line(problem, s.v, dv);
    const LineSearch search = exact_line_search([&line](Real alpha) { return line.at(alpha); },
                                                {e.cost, slope, 0}, kEps * e.magnitude);
    s.v += search.alpha * dv;
    s.linesearch_evaluations += search.evaluations;
    ++s.iterations;

    e = evaluate(problem, s.v);
    s.residual = relative_residual(problem, e, s.v, tolerance);
    const Real step = search.alpha * x.norm(), scale = s.v.cwiseQuotient(D).norm();
    if (progress.stalled(e, s.residual, search.alpha, step, scale) && s.residual > tolerance) {
      s.status |= Status::stalled;
      break;
    }
  }
  s.v = differentiated(problem, s.v);
  if (any(s.status, Status::stalled) && !(s.residual <= kStalledResidual))
    s.status |= Status::inaccurate;
  s.cost = e.cost;
  return s;
}

#ifdef STICTION_DUAL
VecX differentiated(const Problem& problem, const VecX& v) {
  const VecX at_minimum = v.unaryExpr([](const Real& x) { return Real(x.value); });
  const Evaluation e = evaluate(problem, at_minimum);
  const VecX gradient = e.gradient();
  const Eigen::LLT<Eigen::MatrixXd> H(e.hessian.unaryExpr([](const Real& x) { return x.value; }));
  VecX result = at_minimum;
  for (int k = 0; k < Real::kDirections; ++k) {
    const Eigen::VectorXd dv =
        H.solve(-gradient.unaryExpr([k](const Real& x) { return x.tangent[k]; }));
    for (int i = 0; i < v.size(); ++i) result[i].tangent[k] = dv[i];
  }
  return result;
}
VecX differentiated(const VecX& gradient, const Eigen::MatrixXd& slope, const VecX& v) {
  const Eigen::PartialPivLU<Eigen::MatrixXd> factor(slope);
  VecX result = v.unaryExpr([](const Real& x) { return Real(x.value); });
  for (int k = 0; k < Real::kDirections; ++k) {
    const Eigen::VectorXd dv =
        factor.solve(-gradient.unaryExpr([k](const Real& x) { return x.tangent[k]; }));
    for (int i = 0; i < v.size(); ++i) result[i].tangent[k] = dv[i];
  }
  return result;
}
#else
VecX differentiated(const Problem&, const VecX& v) {
  return v;
}
VecX differentiated(const VecX&, const Eigen::MatrixXd&, const VecX& v) {
  return v;
}
#endif

}  // namespace stiction::reference::inline STICTION_REAL
