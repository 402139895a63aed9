#include "lab/src/contact_problem.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <sstream>

#include "stiction/error.h"

namespace stiction::lab {
namespace {

void require(bool holds, const char* name, const std::string& what) {
  if (holds) return;
  std::ostringstream message;
  message << "contact problem: " << name << " " << what;
  throw ArgumentError(message.str());
}

void require_size(const VecX& a, Eigen::Index n, const char* name) {
  std::ostringstream what;
  what << "has " << a.size() << " numbers, needs " << n;
  require(a.size() == n, name, what.str());
  require(a.allFinite(), name, "has a number that is not finite");
}

void require_not_negative(const VecX& a, Eigen::Index n, const char* name) {
  require_size(a, n, name);
  require(n == 0 || a.minCoeff() >= 0, name, "has a negative number");
}

// A servo inside its range, γ = δt (f0 − κ v), adds δt κ J Jᵀ to A and δt f0 J to A v*.
bool linear_servo(const reference::RowConstraint& row, double dt, MatX& A, VecX& p) {
  const auto* servo = std::get_if<reference::ServoLaw>(&row.law);
  if (servo == nullptr) return false;
  A += dt * servo->kappa * row.J * row.J.transpose();
  p += dt * servo->force0 * row.J;
  return true;
}

}  // namespace

void check(const ContactProblem& p) {
  const Eigen::Index nv = p.v_star.size(), n = p.mu.size();
  require(p.dt > 0 && std::isfinite(p.dt), "dt", "must be finite and > 0");
  require(p.A.rows() == nv && p.A.cols() == nv && p.A.allFinite(), "A",
          "must be finite, (nv, nv) like v_star");
  require(p.J.rows() == 3 * n && p.J.cols() == nv && p.J.allFinite(), "J",
          "must be finite, (3 n, nv) with n the size of mu");
  require_size(p.v_star, nv, "v_star");
  require_size(p.v0, nv, "v0");
  require_not_negative(p.mu, n, "mu");
  require_size(p.gap, n, "gap");
  require_not_negative(p.R, 3 * n, "R");
  require_size(p.bias, 3 * n, "bias");
  require_not_negative(p.stiffness, n, "stiffness");
  require_not_negative(p.dissipation, n, "dissipation");
  require_not_negative(p.relaxation_time, n, "relaxation_time");
  require_not_negative(p.weight, n, "weight");
}

Mat3 DualProblem::block(int i) const {
  Mat3 b = G.block<3, 3>(3 * i, 3 * i);
  b.diagonal() += R.segment<3>(3 * i);
  return b;
}

DualProblem dual(const ContactProblem& problem) {
  MatX A = problem.A;
  VecX p = problem.A * problem.v_star;
  for (const auto& row : problem.rows) linear_servo(row, problem.dt, A, p);
  const Eigen::LLT<MatX> factor(A);
  if (factor.info() != Eigen::Success)
    throw ArgumentError("contact problem: A is not positive definite");

  DualProblem d;
  d.dt = problem.dt;
  d.mu = problem.mu;
  d.R = problem.R;
  d.free = factor.solve(p);
  d.response = factor.solve(problem.J.transpose());
  d.G = problem.J * d.response;
  d.G = 0.5 * (d.G + d.G.transpose()).eval();
  d.g = problem.J * d.free + problem.bias;
  return d;
}

Vec3 project_cone(const Vec3& x, double mu) {
  const double t = x.head<2>().norm(), n = x.z();
  if (t <= mu * n) return x;
  if (mu * t <= -n) return Vec3::Zero();
  if (mu == 0) return {0, 0, n};  // the cone is a ray, and n > 0 here
  const double a = (n + mu * t) / (1 + mu * mu);
  Vec3 y;
  y << mu * a / t * x.head<2>(), a;
  return y;
}

// Moreau: x = Π_K*(x) − Π_K(−x)
Vec3 project_dual_cone(const Vec3& x, double mu) {
  return x + project_cone(-x, mu);
}

Vec2 project_disk(const Vec2& x, double radius) {
  const double norm = x.norm();
  return norm > radius ? Vec2(x * (std::max(radius, 0.0) / norm)) : x;
}

Vec3 de_saxce(const Vec3& u, double mu) {
  return {u.x(), u.y(), u.z() + mu * u.head<2>().norm()};
}

Residual ncp_residual(const DualProblem& p, const VecX& lambda, const VecX& u) {
  Residual r;
  for (int i = 0; i < p.contacts(); ++i) {
    const double mu = p.mu[i];
    const Vec3 l = lambda.segment<3>(3 * i), shifted = de_saxce(u.segment<3>(3 * i), mu);
    r.primal = std::max(r.primal, (l - project_cone(l, mu)).norm() / p.dt);
    r.dual = std::max(r.dual, (shifted - project_dual_cone(shifted, mu)).norm());
    r.complementarity = std::max(r.complementarity, std::abs(l.dot(shifted)) / p.dt);
  }
  return r;
}

Laws laws(const DualProblem& p, const VecX& lambda, const VecX& u) {
  Laws r;
  for (int i = 0; i < p.contacts(); ++i) {
    const Vec3 l = lambda.segment<3>(3 * i), v = u.segment<3>(3 * i);
    const double mu = p.mu[i], mass = 3 / p.G.block<3, 3>(3 * i, 3 * i).trace();
    const double t = l.head<2>().norm(), slip = v.head<2>().norm();
    r.signorini = std::max(r.signorini, std::abs(std::min(l.z(), mass * v.z())) / p.dt);
    r.coulomb = std::max(r.coulomb, (t - mu * l.z()) / p.dt);
    r.dissipation =
        std::max(r.dissipation, (l.head<2>().dot(v.head<2>()) + mu * l.z() * slip) / p.dt);
  }
  return r;
}

double natural_residual(const DualProblem& p, Law law, const VecX& lambda, const VecX& u) {
  double worst = 0;
  for (int i = 0; i < p.contacts(); ++i) {
    const double mu = p.mu[i], L = p.block(i).norm();
    const Vec3 l = lambda.segment<3>(3 * i);
    Vec3 v = u.segment<3>(3 * i), projected;
    if (law == Law::coulomb) v = de_saxce(v, mu);
    const Vec3 x = l - v / L;
    if (law == Law::pyramid) {
      const double bound = mu * std::max(l.z(), 0.0);
      projected << std::clamp(x.x(), -bound, bound), std::clamp(x.y(), -bound, bound),
          std::max(x.z(), 0.0);
    } else {
      projected = project_cone(x, mu);
    }
    const double r = L * (l - projected).norm();
    if (!(r <= worst)) worst = r;  // a NaN stays
  }
  return worst;
}

double largest_eigenvalue(const MatX& block) {
  return Eigen::SelfAdjointEigenSolver<MatX>(block, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .maxCoeff();
}

}  // namespace stiction::lab
