#include "reference/solver/problem.h"

namespace stiction::reference::inline STICTION_REAL {

namespace {

// H += Jᵀ h J over the nonzero columns of J: a contact moves few of many bodies.
void add_outer(MatX& H, const Mat3X& J, const Mat3& h) {
  std::vector<int> moved;
  for (int k = 0; k < J.cols(); ++k)
    if (J(0, k) != 0 || J(1, k) != 0 || J(2, k) != 0) moved.push_back(k);
  const Mat3X on = J(Eigen::all, moved);
  H(moved, moved) += on.transpose() * h * on;
}

}  // namespace

Evaluation evaluate(const Problem& problem, const VecX& v) {
  Evaluation e;
  const VecX dv = v - problem.v_star;
  e.momentum = problem.A * dv;
  e.cost = 0.5 * dv.dot(e.momentum);
  e.magnitude = abs(e.cost);
  e.impulse = e.load = VecX::Zero(v.size());
  e.hessian = problem.A;
  const auto add = [&](const VecX& impulse) {
    e.impulse += impulse;
    e.load += impulse.cwiseAbs();
  };

  const auto add_point = [&](const Mat3X& J, const ContactEvaluation& value) {
    e.cost += value.cost;
    e.magnitude += abs(value.cost);
    add(J.transpose() * value.impulse);
    add_outer(e.hessian, J, value.hessian);
  };
  for (const PointConstraint& c : problem.points) {
    add_point(c.J, evaluate(c.law, c.velocity(v)));
    if (c.turns()) add_point(c.J_turning, evaluate(c.couple, c.turning(v)));
  }
  for (const RowConstraint& c : problem.rows) {
    const Scalar value = evaluate(c.law, c.J.dot(v));
    e.cost += value.cost;
    e.magnitude += abs(value.cost);
    add(c.J * value.impulse);
    e.hessian += value.hessian * c.J * c.J.transpose();
  }
  for (const BlockConstraint& c : problem.blocks) {
    const VecX impulse = c.impulse(v);
    const auto cost = 0.5 * impulse.dot(c.v_hat - c.J * v);
    e.cost += cost;
    e.magnitude += cost;
    add(c.J.transpose() * impulse);
    e.hessian += c.J.transpose() * c.inverse_R.asDiagonal() * c.J;
  }
  return e;
}

Line::Line(const Problem& problem, const VecX& v, const VecX& dv) : problem_(problem) {
  const VecX offset = v - problem.v_star, A_dv = problem.A * dv;
  quadratic0_ = 0.5 * offset.dot(problem.A * offset);
  slope0_ = A_dv.dot(offset);
  curvature0_ = dv.dot(A_dv);
  for (const BlockConstraint& c : problem.blocks) {
    const VecX impulse = c.impulse(v), J_dv = c.J * dv;
    quadratic0_ += 0.5 * impulse.dot(c.v_hat - c.J * v);
    slope0_ -= J_dv.dot(impulse);
    curvature0_ += J_dv.dot(c.inverse_R.cwiseProduct(J_dv));
  }
  for (const PointConstraint& c : problem.points) {
    point_v_.emplace_back(c.velocity(v));
    point_dv_.emplace_back(c.J * dv);
    point_omega_.push_back(c.turning(v));
    point_domega_.push_back(c.turning_change(dv));
  }
  for (const RowConstraint& c : problem.rows) {
    row_v_.push_back(c.J.dot(v));
    row_dv_.push_back(c.J.dot(dv));
  }
}

LineValue Line::at(Real alpha) const {
  // ℓ(α), ℓ'(α) = Δpᵀ(v + αΔv − v*) − Δv_cᵀ γ, ℓ''(α) = ΔvᵀΔp + Δv_cᵀ G Δv_c
  LineValue l{quadratic0_ + alpha * (slope0_ + 0.5 * alpha * curvature0_),
              slope0_ + alpha * curvature0_, curvature0_};
  const auto add = [&](const ContactEvaluation& e, const Vec3& dv) {
    l.cost += e.cost;
    l.slope -= dv.dot(e.impulse);
    l.curvature += dv.dot(e.hessian * dv);
  };
  for (std::size_t i = 0; i < point_v_.size(); ++i) {
    const PointConstraint& c = problem_.points[i];
    add(evaluate(c.law, point_v_[i] + alpha * point_dv_[i]), point_dv_[i]);
    if (c.turns())
      add(evaluate(c.couple, point_omega_[i] + alpha * point_domega_[i]), point_domega_[i]);
  }
  for (std::size_t i = 0; i < row_v_.size(); ++i) {
    const Scalar e = evaluate(problem_.rows[i].law, row_v_[i] + alpha * row_dv_[i]);
    l.cost += e.cost;
    l.slope -= row_dv_[i] * e.impulse;
    l.curvature += row_dv_[i] * row_dv_[i] * e.hessian;
  }
  return l;
}

}  // namespace stiction::reference::inline STICTION_REAL
