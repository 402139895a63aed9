#include "reference/step/friction.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "reference/solver/islands.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kFixedPoint = 1e-10;  // relative tolerance of the fixed point, like a solve's
constexpr int kMostRounds = 60;        // Newton steps and relaxations together
constexpr int kHalvings = 5;
constexpr double kLeastRelaxation = 0.1, kMostRelaxation = 1.5;

Eigen::MatrixXd values(const MatX& m) {
  return m.unaryExpr([](const Real& x) { return value(x); });
}
VecX at_values(const VecX& v) {
  return v.unaryExpr([](const Real& x) { return Real(value(x)); });
}
Scalar normal_law(const PointConstraint& c, const VecX& v) {
  return evaluate(c.law.normal, c.velocity(v).z());
}

class FixedPoint {
 public:
  FixedPoint(const Options& o, const std::vector<ContactPoint>& contacts, const Problem& problem)
      : o_(o), contacts_(contacts), problem_(problem) {}

  const Problem& problem() const { return problem_; }

  Solution solve(const VecX& start) {
    Solution s = convex(start);
    double theta = 1;
    Eigen::VectorXd last;
    for (int round = 0; round < kMostRounds && !any(s.status, kFrozen); ++round) {
      if (newton(s)) return finish(s);
      // n0 ← n0 + θ (n − n0)
      const Eigen::VectorXd miss = misses(s.v);
      if (last.size() > 0) {
        const Eigen::VectorXd change = miss - last;
        const double norm2 = change.dot(weights_.cwiseProduct(change));
        const double along = last.dot(weights_.cwiseProduct(change));
        theta =
            norm2 > 0 ? std::clamp(-theta * along / norm2, kLeastRelaxation, kMostRelaxation) : 1.0;
      }
      last = miss;
      for (std::size_t i = 0; i < problem_.points.size(); ++i)
        set(problem_.points[i], std::max(0.0, bounds_[static_cast<Eigen::Index>(i)] +
                                                  theta * miss[static_cast<Eigen::Index>(i)]));
      const Solution next = convex(s.v);
      s.v = next.v, s.cost = next.cost, s.residual = next.residual;
      s.status |= next.status;
      s.iterations += next.iterations;
      s.linesearch_evaluations += next.linesearch_evaluations;
    }
    return s;
  }

 private:
  void set(PointConstraint& c, const Real& n) const {
    const ContactPoint& p = contacts_[static_cast<std::size_t>(c.contact)];
    set_bound(o_, n, p.w, c.law);
    if (c.turns()) set_bound(o_, n, p, c.couple);
  }
  // Sets the bounds to the normal impulses at v.
  void set_all(const VecX& v) {
    for (PointConstraint& c : problem_.points) set(c, normal_law(c, v).impulse);
  }
  // Solves the convex problem with the current bounds, which it records.
  Solution convex(const VecX& start) {
    const auto n = static_cast<Eigen::Index>(problem_.points.size());
    bounds_.resize(n), weights_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const PointConstraint& c = problem_.points[static_cast<std::size_t>(i)];
      const double mu = value(c.law.mu);
      bounds_[i] = value(c.law.n0);
      weights_[i] = value(contacts_[static_cast<std::size_t>(c.contact)].w) * mu * mu;
    }
    return reference::solve(problem_, start, *o_.solver_tolerance, o_.max_iterations);
  }
  Eigen::VectorXd misses(const VecX& v) const {
    Eigen::VectorXd miss(bounds_.size());
    for (Eigen::Index i = 0; i < miss.size(); ++i)
      miss[i] =
          value(normal_law(problem_.points[static_cast<std::size_t>(i)], v).impulse) - bounds_[i];
    return miss;
  }

  // r with the bounds of v, and its residual as defined by solve().
  struct Root {
    Evaluation e;
    double residual;
  };
  Root at(const VecX& v) {
    set_all(v);
    Evaluation e = evaluate(problem_, v);
    const double residual = value(relative_residual(problem_, e, v, kFixedPoint));
    return {std::move(e), residual};
  }
  // H − Jᵀ ∂γ/∂n0 n' J_n, n' = −ℓ'' of the normal law
  Eigen::MatrixXd slope(const Evaluation& e, const VecX& v) const {
    Eigen::MatrixXd K = values(e.hessian);
    for (const PointConstraint& c : problem_.points) {
      const Eigen::VectorXd normal = values(c.J.row(2).transpose() * normal_law(c, v).hessian);
      const auto add = [&](const Mat3X& J, const Vec3& change) {
        K += values(J.transpose() * change) * normal.transpose();
      };
      const ContactPoint& p = contacts_[static_cast<std::size_t>(c.contact)];
      add(c.J, change_by_bound(c.law, c.velocity(v), [&](ContactLaw& law, const Real& n) {
            set_bound(o_, n, p.w, law);
          }));
      if (c.turns())
        add(c.J_turning,
            change_by_bound(c.couple, c.turning(v),
                            [&](CoupleLaw& law, const Real& n) { set_bound(o_, n, p, law); }));
    }
    return K;
  }
  // ∂γ/∂n0: γ is linear in n0 where ε_s is v_s, and a function of x/n0 times n0 where ε_s grows with n0. A central
  // difference has a relative error of 1e-10, which is sufficient for Newton's method.
  template <class Law, class Set>
  Vec3 change_by_bound(const Law& law, const Vec3& v, const Set& set_to) const {
    const Real h = 1e-5 * law.n0;
    if (!(h > 0)) {  // without a bound there is no friction, which is linear in a small bound
      Law one = law;
      set_to(one, Real(1e-12));
      return (evaluate(one, v).impulse - evaluate(law, v).impulse) / 1e-12;
    }
    Law more = law, less = law;
    set_to(more, law.n0 + h), set_to(less, law.n0 - h);
    Vec3 change = (evaluate(more, v).impulse - evaluate(less, v).impulse) / (2 * h);
    return change;
  }

  // Newton's method from s.v while |D r| decreases. Returns true if s.v is the root; else s.v is unchanged.
  bool newton(Solution& s) {
    VecX v = at_values(s.v);
    Root now = at(v);
    const double tolerance = std::min(kFixedPoint, *o_.solver_tolerance);
    for (int k = 0; k < o_.max_iterations; ++k) {
      if (now.residual <= tolerance) break;
      if (!std::isfinite(now.residual)) return false;
      const Eigen::MatrixXd K = slope(now.e, v);
      const Eigen::VectorXd step = K.partialPivLu().solve(values(now.e.gradient()));
      if (!step.allFinite()) return false;
      double alpha = 1;
      Root next = at(v - alpha * step.cast<Real>());
      for (int h = 0; h < kHalvings && !(next.residual < now.residual); ++h)
        next = at(v - (alpha *= 0.5) * step.cast<Real>());
      if (!(next.residual < now.residual)) {
        if (now.residual > kFixedPoint) return false;
        break;  // round-off level
      }
      v -= alpha * step.cast<Real>();
      now = std::move(next);
      ++s.iterations;
    }
    if (now.residual > kFixedPoint) return false;
    s.v = v, s.residual = now.residual, s.cost = now.e.cost;
    s.status = Status::ok;
    return true;
  }

  // Differentiates the solution with respect to the data of the problem, through the bounds as well.
  Solution finish(Solution& s) {
    const Root root = at(s.v);
    s.v = differentiated(root.e.gradient(), slope(root.e, s.v), s.v);
    set_all(s.v);
    return s;
  }

  const Options& o_;
  const std::vector<ContactPoint>& contacts_;
  Problem problem_;
  Eigen::VectorXd bounds_, weights_;  // n0 of the last convex problem, w μ²
};

}  // namespace

Solution solve_contacts(const Options& o, const VecX& start,
                        const std::vector<ContactPoint>& contacts, Problem& problem) {
  if (friction_follows(o))
    return by_islands(problem, start, [&](const Problem& island, const VecX& v0) {
      if (island.points.empty()) return solve(island, v0, *o.solver_tolerance, o.max_iterations);
      FixedPoint f(o, contacts, island);
      const Solution s = f.solve(v0);
      for (const PointConstraint& c : f.problem().points) {
        PointConstraint& whole = problem.points[static_cast<std::size_t>(c.contact)];
        whole.law = c.law, whole.couple = c.couple;
      }
      return s;
    });

  Solution s = solve_by_islands(problem, start, *o.solver_tolerance, o.max_iterations);
  for (int k = 1; k < o.friction_iterations && !contacts.empty() && !any(s.status, kFrozen); ++k) {
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      PointConstraint& c = problem.points[i];
      const Real n = evaluate(c.law, c.velocity(s.v)).impulse.z();
      set_bound(o, n, contacts[i].w, c.law);
      if (c.turns()) set_bound(o, n, contacts[i], c.couple);
    }
    Solution next = solve_by_islands(problem, s.v, *o.solver_tolerance, o.max_iterations);
    next.status |= s.status;
    next.iterations += s.iterations;
    next.linesearch_evaluations += s.linesearch_evaluations;
    s = next;
  }
  return s;
}

}  // namespace stiction::reference::inline STICTION_REAL
