// Newton's method on  min ½ |v − v*|²_A + Σ ℓ_i(J_i v)  with the laws of the reference engine: SAP's compliant
// cone, Lagged and Similar. The loop is that of src/reference/solver/newton.cpp, with its history.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/src/solvers/solvers.h"
#include "stiction/error.h"

namespace stiction::lab {
namespace {

using reference::ContactLaw;

// The law of contact i. `sap` takes the problem's own compliance where it has one: then it solves the
// same cone complementarity as `ccp` and `admm`.
ContactLaw contact_law(const ContactProblem& p, const Settings& s, ContactModel model, int i) {
  ContactLaw law;
  law.model = model;
  law.mu = p.mu[i];
  const double w = p.weight[i], d = p.dissipation[i];
  const double k = reference::resolved_stiffness(p.stiffness[i], d, p.dt, p.gap[i], w);
  if (model == ContactModel::sap) {
    if (p.bias.segment<2>(3 * i).norm() > 0) throw ArgumentError("sap: takes no tangential bias");
    const Vec3 R = p.R.segment<3>(3 * i);
    if (R.minCoeff() > 0) {
      law.R_t = std::max(R.x(), R.y()), law.R_n = R.z(), law.v_hat = -p.bias[3 * i + 2];
    } else {
      reference::set_sap(law, p.dt, p.stiffness[i], p.relaxation_time[i], s.near_rigid,
                         s.regularization, w, p.gap[i]);
    }
    return law;
  }
  const double f_e0 = -k * p.gap[i], v_n0 = p.J.row(3 * i + 2).dot(p.v0);
  law.normal = reference::HuntCrossley(p.dt, k, d, f_e0);
  law.n0 = reference::lagged_impulse(p.dt, d, f_e0, v_n0);
  law.shift = p.bias.segment<2>(3 * i);
  law.eps = std::max(s.stiction_tolerance, s.regularization * w * law.mu * law.n0);
  return law;
}

Iterates newton(const ContactProblem& p, const DualProblem& d, const Settings& s,
                ContactModel model) {
  reference::Problem problem{p.A, p.v_star, {}, p.rows, {}};
  for (int i = 0; i < p.contacts(); ++i)
    problem.points.push_back({p.J.middleRows<3>(3 * i), contact_law(p, s, model, i)});
  const auto impulses = [&](const VecX& v) {
    VecX lambda(3 * p.contacts());
    for (int i = 0; i < p.contacts(); ++i) {
      const reference::PointConstraint& c = problem.points[at(i)];
      lambda.segment<3>(3 * i) = evaluate(c.law, c.J * v).impulse;
    }
    return lambda;
  };

  // a warm start gives the velocity that its impulses lead to
  VecX v = s.warm.size() != 0 ? VecX(d.free + d.response * s.warm) : p.v0;
  const VecX D = p.A.diagonal().cwiseSqrt().cwiseInverse();
  reference::Evaluation e = evaluate(problem, v);
  const auto residual = [&] {
    const double scale = std::max(D.cwiseProduct(p.A * v).norm(), D.cwiseProduct(e.impulse).norm());
    const double r = D.cwiseProduct(e.gradient()).norm();
    return r == 0 ? 0.0 : r / scale;
  };
  // Only round-off is left where a full step no longer lowers the cost beyond it.
  const double eps = std::numeric_limits<double>::epsilon();

  Monitor monitor(d, Law::coulomb, s);
  double own = residual();
  while (own > s.tolerance && monitor.iterations < s.max_iterations) {
    const Eigen::LLT<MatX> factor(D.asDiagonal() * e.hessian * D.asDiagonal());
    const VecX dv = D.cwiseProduct(factor.solve(-D.cwiseProduct(e.gradient())));
    const double slope = e.gradient().dot(dv);
    if (factor.info() != Eigen::Success || !std::isfinite(slope)) {
      monitor.outcome = Outcome::failed;
      break;
    }
    if (!(slope < 0)) {
      monitor.outcome = Outcome::stalled;
      break;
    }
    const reference::Line line(problem, v, dv);
    const auto search = reference::exact_line_search(
        [&line](double alpha) { return line.at(alpha); }, {e.cost, slope, 0}, eps * e.magnitude);
    v += search.alpha * dv;
    const double cost = e.cost, last = own;
    e = evaluate(problem, v);
    own = residual();
    if (monitor.done(impulses(v), own)) break;
    if (cost - e.cost <= eps * e.magnitude && search.alpha > 0.5 && own > 0.5 * last) {
      monitor.outcome = Outcome::stalled;
      break;
    }
  }
  monitor.own = own;
  if (own <= s.tolerance) monitor.outcome = Outcome::converged;
  Iterates it = finish(monitor, impulses(v));
  it.v = v;
  if (s.condition) {
    const VecX spectrum = Eigen::SelfAdjointEigenSolver<MatX>(
                              D.asDiagonal() * e.hessian * D.asDiagonal(), Eigen::EigenvaluesOnly)
                              .eigenvalues();
    it.condition = spectrum[spectrum.size() - 1] / spectrum[0];
  }
  return it;
}

}  // namespace

Iterates sap(const ContactProblem& p, const DualProblem& d, const Settings& s) {
  return newton(p, d, s, ContactModel::sap);
}
Iterates lagged(const ContactProblem& p, const DualProblem& d, const Settings& s) {
  return newton(p, d, s, ContactModel::lagged);
}
Iterates similar(const ContactProblem& p, const DualProblem& d, const Settings& s) {
  return newton(p, d, s, ContactModel::similar);
}

}  // namespace stiction::lab
