#include "lab/src/interior_point.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::lab {
namespace {

constexpr int kPatience = 30;  // iterations that did not halve the residual after which it gives up

// a ∘ b = (aᵀ b ; a₁ b_t + b₁ a_t) as matrix times b
Mat3 arrow(const Vec3& a) {
  Mat3 m = a[0] * Mat3::Identity();
  m.row(0) = a.transpose();
  m.col(0) = a;
  return m;
}

// The largest α <= 1 with a + α d >= 0.
double ray_reach(double a, double d) {
  return d < 0 ? std::min(1.0, -a / d) : 1.0;
}

// The largest α <= 1 with a + α d in Q³ = {|x_t| <= x₁}: the first root of A α² + 2 B α + C, C > 0.
double cone_reach(const Vec3& a, const Vec3& d) {
  const auto product = [](const Vec3& x, const Vec3& y) {
    return x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
  };
  const double A = product(d, d), B = product(a, d), C = std::max(product(a, a), 0.0);
  const double discriminant = B * B - A * C;
  double alpha = ray_reach(a[0], d[0]);
  if (discriminant < 0) return alpha;
  const double root = std::sqrt(discriminant);
  // both roots without cancellation
  const double q = -(B + (B > 0 ? root : -root));
  for (const double candidate : {q != 0 ? C / q : -1.0, A != 0 ? q / A : -1.0})
    if (candidate > 0) alpha = std::min(alpha, candidate);
  return alpha;
}

// The iterate and its system. Velocities in units of V, the impulse of a row in units of V times the mass
// that it meets, 1/(J M⁻¹ Jᵀ); so a light body on a heavy one counts as much as the heavy one.
class System {
 public:
  System(const ConicProblem& p, double V)
      : p_(p),
        V_(V),
        nv_(static_cast<int>(p.v_star.size())),
        ne_(static_cast<int>(p.e.size())),
        nl_(static_cast<int>(p.h.size())),
        n_(static_cast<int>(p.mu.size())) {
    for (int i = 0; i < n_; ++i)
      if (p.mu[i] > 0) rough_.push_back(i);
    for (int i = 0; i < n_; ++i) {
      moved_.emplace_back();
      for (int k = 0; k < nv_; ++k)
        if (!p.J.block<3, 1>(3 * i, k).isZero(0)) moved_.back().push_back(k);
    }
    const Eigen::LLT<MatX> M(p.M);
    const auto response = [&](const MatX& rows, VecX& unit) {
      MatX r = M.solve(rows.transpose());
      unit = V_ * rows.cwiseProduct(r.transpose()).rowwise().sum().cwiseMax(1e-300).cwiseInverse();
      return r;
    };
    on_joints_ = response(p.E, P_joints_);
    on_limits_ = response(p.L, P_limits_);
    on_contacts_ = response(p.J, P_contacts_);
    for (int i = 0; i < n_; ++i)  // one unit for a cone
      P_contacts_.segment<3>(3 * i).setConstant(P_contacts_[3 * i + 2]);
    const int nf = static_cast<int>(rough_.size());
    y_ = nv_, gamma_ = y_ + ne_, s_ = gamma_ + nl_ + n_, beta_ = s_ + nl_ + n_;
    eta_ = beta_ + 3 * nf;
    size_ = eta_ + 3 * nf;
    x = VecX::Zero(size_);
    x.head(nv_) = p.v_star / V;
    // neutral, γ s = 1; a constraint that is far away begins there
    for (int k = 0; k < pairs(); ++k) {
      const double open = k < nl_
                              ? p.L.row(k).dot(p.v_star) + p.h[k]
                              : p.J.row(3 * (k - nl_) + 2).dot(p.v_star) + p.b[3 * (k - nl_) + 2];
      x[s_ + k] = std::max(1.0, open / V);
      x[gamma_ + k] = 1 / x[s_ + k];
    }
    for (int f = 0; f < nf; ++f) x[beta_ + 3 * f] = x[eta_ + 3 * f] = 1;
    constant_jacobian();
  }

  int pairs() const { return nl_ + n_; }
  int cones() const { return static_cast<int>(rough_.size()); }
  int degree() const { return pairs() + cones(); }
  double gamma(int k) const { return x[gamma_ + k]; }
  double slack(int k) const { return x[s_ + k]; }
  Vec3 beta(int f) const { return x.segment<3>(beta_ + 3 * f); }
  Vec3 eta(int f) const { return x.segment<3>(eta_ + 3 * f); }

  VecX v() const { return V_ * x.head(nv_); }
  VecX joints() const { return P_joints_.cwiseProduct(x.segment(y_, ne_)); }
  VecX limits() const { return P_limits_.cwiseProduct(x.segment(gamma_, nl_)); }
  VecX impulse() const {
    VecX lambda = VecX::Zero(3 * n_);
    for (int i = 0; i < n_; ++i) lambda[3 * i + 2] = gamma(nl_ + i);
    for (int f = 0; f < cones(); ++f) lambda.segment<2>(3 * rough_[at(f)]) = beta(f).tail<2>();
    return lambda.cwiseProduct(P_contacts_);
  }

  // Residuals of the equations (first) and of complementarity with κ = 0 (second).
  VecX residual() const {
    VecX r = constant_ * x + offset_;
    for (int k = 0; k < pairs(); ++k) r[products_ + k] = gamma(k) * slack(k);
    for (int f = 0; f < cones(); ++f)
      r.segment<3>(products_ + pairs() + 3 * f) = arrow(beta(f)) * eta(f);
    return r;
  }
  // The derivative of residual() along d.
  VecX along(const VecX& d) const {
    VecX r = constant_ * d;
    for (int k = 0; k < pairs(); ++k)
      r[products_ + k] = slack(k) * d[gamma_ + k] + gamma(k) * d[s_ + k];
    for (int f = 0; f < cones(); ++f)
      r.segment<3>(products_ + pairs() + 3 * f) =
          arrow(eta(f)) * d.segment<3>(beta_ + 3 * f) + arrow(beta(f)) * d.segment<3>(eta_ + 3 * f);
    return r;
  }

  // The pairs and cones eliminated. With w = L dv or J_i dv a pair's slack and products give
  // dγ = l − (γ/s) w_n, those of a cone, from β₁ = μ γ and η_t = u_t,
  //   [β₁ η_tᵀ; β_t η₁ 1] (dη₁; dβ_t) = r − (η₁; η_t) dβ₁ − [β_tᵀ; β₁ 1] w_t,
  // together dλ = l − D w. What is left is as large as v and the joints' impulses:
  //   [M + Σ Jᵀ P D J / V, −Eᵀ P / V; E, 0] (dv; dy) = (M r + Σ Jᵀ P l / V; r).
  void factor() {
    MatX K = MatX::Zero(nv_ + ne_, nv_ + ne_);
    K.topLeftCorner(nv_, nv_) = p_.M;
    K.topRightCorner(nv_, ne_) = -p_.E.transpose() * (P_joints_ / V_).asDiagonal();
    K.bottomLeftCorner(ne_, nv_) = p_.E;
    VecX D_limits(nl_);
    for (int k = 0; k < nl_; ++k) D_limits[k] = P_limits_[k] / V_ * gamma(k) / slack(k);
    for (int i = 0, f = 0; i < n_; ++i) {
      Mat3 D = Mat3::Zero();
      D(2, 2) = gamma(nl_ + i) / slack(nl_ + i);
      if (p_.mu[i] > 0) {
        Mat3 Q = p_.mu[i] * D(2, 2) * eta(f) * Vec3::UnitZ().transpose();
        Q.leftCols<2>() -= arrow(beta(f)).rightCols<2>();
        D.topRows<2>() = -solve_cone(f, Q).bottomRows<2>();
        ++f;
      }
      const auto& moved = moved_[at(i)];
      const Eigen::Matrix<double, 3, Eigen::Dynamic> J =
          p_.J.middleRows<3>(3 * i)(Eigen::all, moved);
      K(moved, moved) += P_contacts_[3 * i] / V_ * J.transpose() * D * J;
    }
    K.topLeftCorner(nv_, nv_) += p_.L.transpose() * D_limits.asDiagonal() * p_.L;
    factor_.compute(K);
  }
  // d with along(d) = r.
  VecX solve(const VecX& r) const {
    VecX d = eliminated(r), left = r - along(d);
    double size = left.norm();
    // what the elimination lost where slacks are small
    for (int k = 0; k < 3 && size > 0; ++k) {
      const VecX better = d + eliminated(left), rest = r - along(better);
      if (!(rest.norm() < size)) break;
      d = better, left = rest, size = rest.norm();
    }
    return d;
  }
  double equations(const VecX& r) const {
    return products_ > 0 ? r.head(products_).cwiseAbs().maxCoeff() : 0;
  }
  double complementarity(const VecX& r) const {
    return size_ > products_ ? r.tail(size_ - products_).cwiseAbs().maxCoeff() : 0;
  }
  // Mean product of the pairs.
  double nu(const VecX& at_x) const {
    double sum = at_x.segment(gamma_, pairs()).dot(at_x.segment(s_, pairs()));
    sum += at_x.segment(beta_, 3 * cones()).dot(at_x.segment(eta_, 3 * cones()));
    return degree() > 0 ? sum / degree() : 0;
  }
  // κ e, and what the affine step leaves of the products, Δs Δγ and Δβ ∘ Δη, in the share of the step that
  // stays inside: all of it points nowhere where little of the step does.
  VecX target(double kappa, const VecX& affine, double share) const {
    VecX t = VecX::Zero(size_);
    for (int k = 0; k < pairs(); ++k)
      t[products_ + k] = kappa - share * affine[gamma_ + k] * affine[s_ + k];
    for (int f = 0; f < cones(); ++f) {
      const Vec3 db = affine.segment<3>(beta_ + 3 * f), de = affine.segment<3>(eta_ + 3 * f);
      t.segment<3>(products_ + pairs() + 3 * f) = Vec3(kappa, 0, 0) - share * arrow(db) * de;
    }
    return t;
  }
  double reach(const VecX& d, double fraction) const {
    double alpha = 1;
    const auto keep = [&](double a) { alpha = std::min(alpha, a < 1 ? fraction * a : 1.0); };
    for (int k = 0; k < pairs(); ++k) {
      keep(ray_reach(gamma(k), d[gamma_ + k]));
      keep(ray_reach(slack(k), d[s_ + k]));
    }
    for (int f = 0; f < cones(); ++f) {
      keep(cone_reach(beta(f), d.segment<3>(beta_ + 3 * f)));
      keep(cone_reach(eta(f), d.segment<3>(eta_ + 3 * f)));
    }
    return alpha;
  }

  VecX x;

 private:
  // B⁻¹ X, B = [β₁ η_tᵀ; β_t η₁ 1]: inside both cones η₁ β₁ > η_tᵀ β_t
  template <int columns>
  Eigen::Matrix<double, 3, columns> solve_cone(int f,
                                               const Eigen::Matrix<double, 3, columns>& rhs) const {
    Mat3 B = eta(f)[0] * Mat3::Identity();
    B.col(0) = beta(f);
    B.row(0).tail<2>() = eta(f).tail<2>().transpose();
    return B.partialPivLu().solve(rhs);
  }
  VecX eliminated(const VecX& r) const {
    // r of the slacks, of β₁ and η_t of the cones; of the products
    const auto slacks = nv_ + ne_, sizes = slacks + pairs();
    VecX b(nv_ + ne_), l_limits(nl_), l(VecX::Zero(3 * n_)), eta_1(cones());
    const auto pair = [&](int k) {
      return (r[products_ + k] - gamma(k) * r[slacks + k]) / slack(k);
    };
    for (int k = 0; k < nl_; ++k) l_limits[k] = pair(k);
    const auto cone = [&](int f, double beta_1, const Vec2& slip) {
      const Vec3 q = r.segment<3>(products_ + pairs() + 3 * f) - eta(f) * beta_1 -
                     arrow(beta(f)).rightCols<2>() * slip;
      return solve_cone(f, q);
    };
    const auto at_cone = [&](int f) { return Vec3(r.segment<3>(sizes + 3 * f)); };
    for (int i = 0, f = 0; i < n_; ++i) {
      l[3 * i + 2] = pair(nl_ + i);
      if (p_.mu[i] == 0) continue;
      const Vec3 q = at_cone(f);
      l.segment<2>(3 * i) = cone(f++, q[0] + p_.mu[i] * l[3 * i + 2], q.tail<2>()).tail<2>();
    }
    b.head(nv_) = p_.M * r.head(nv_) + (p_.J.transpose() * P_contacts_.cwiseProduct(l) +
                                        p_.L.transpose() * P_limits_.cwiseProduct(l_limits)) /
                                           V_;
    b.tail(ne_) = r.segment(nv_, ne_);

    VecX d = VecX::Zero(size_);
    d.head(nv_ + ne_) = factor_.solve(b);
    const VecX dv = d.head(nv_), at_limits = p_.L * dv, w = p_.J * dv;
    for (int k = 0; k < pairs(); ++k) {
      d[s_ + k] = r[slacks + k] + (k < nl_ ? at_limits[k] : w[3 * (k - nl_) + 2]);
      d[gamma_ + k] = (r[products_ + k] - gamma(k) * d[s_ + k]) / slack(k);
    }
    for (int f = 0; f < cones(); ++f) {
      const int i = rough_[at(f)];
      const Vec3 q = at_cone(f);
      const double beta_1 = q[0] + p_.mu[i] * d[gamma_ + nl_ + i];
      const Vec2 slip = q.tail<2>() + w.segment<2>(3 * i);
      const Vec3 z = cone(f, beta_1, slip);
      d.segment<3>(beta_ + 3 * f) << beta_1, z[1], z[2];
      d.segment<3>(eta_ + 3 * f) << z[0], slip;
    }
    return d;
  }
  void constant_jacobian() {
    constant_ = MatX::Zero(size_, size_);
    offset_ = VecX::Zero(size_);
    // dynamics: v = v* + M⁻¹ (Eᵀ y + Lᵀ l + Jᵀ λ)
    constant_.topLeftCorner(nv_, nv_).setIdentity();
    offset_.head(nv_) = -p_.v_star / V_;
    const auto add = [&](const MatX& response, int k, const VecX& unit, int column) {
      constant_.block(0, column, nv_, 1) = -response.col(k) * unit[k] / V_;
    };
    for (int k = 0; k < ne_; ++k) add(on_joints_, k, P_joints_, y_ + k);
    for (int k = 0; k < nl_; ++k) add(on_limits_, k, P_limits_, gamma_ + k);
    for (int i = 0; i < n_; ++i) add(on_contacts_, 3 * i + 2, P_contacts_, gamma_ + nl_ + i);
    for (int f = 0; f < cones(); ++f)
      for (int a = 0; a < 2; ++a)
        add(on_contacts_, 3 * rough_[at(f)] + a, P_contacts_, beta_ + 3 * f + 1 + a);
    // joints
    int row = nv_;
    constant_.block(row, 0, ne_, nv_) = p_.E;
    offset_.segment(row, ne_) = p_.e / V_;
    row += ne_;
    // slacks: s = L v + h, s = J_n v + b_n
    for (int k = 0; k < pairs(); ++k, ++row) {
      const int i = k - nl_;
      const bool limit = k < nl_;
      constant_(row, s_ + k) = 1;
      constant_.block(row, 0, 1, nv_) = limit ? -p_.L.row(k) : -p_.J.row(3 * i + 2);
      offset_[row] = -(limit ? p_.h[k] : p_.b[3 * i + 2]) / V_;
    }
    // cones: β₁ = μ γ, η_t = u_t
    for (int f = 0; f < cones(); ++f) {
      const int i = rough_[at(f)];
      constant_(row, beta_ + 3 * f) = 1;
      constant_(row++, gamma_ + nl_ + i) = -p_.mu[i];
      for (int a = 0; a < 2; ++a, ++row) {
        constant_(row, eta_ + 3 * f + 1 + a) = 1;
        constant_.block(row, 0, 1, nv_) = -p_.J.row(3 * i + a);
        offset_[row] = -p_.b[3 * i + a] / V_;
      }
    }
    products_ = row;
  }

  const ConicProblem& p_;
  double V_;
  VecX P_joints_, P_limits_, P_contacts_;
  MatX on_joints_, on_limits_, on_contacts_;  // M⁻¹ Eᵀ, M⁻¹ Lᵀ, M⁻¹ Jᵀ
  int nv_, ne_, nl_, n_;
  int y_ = 0, gamma_ = 0, s_ = 0, beta_ = 0, eta_ = 0, size_ = 0, products_ = 0;
  std::vector<int> rough_;               // contacts with friction
  std::vector<std::vector<int>> moved_;  // by contact: columns of J that are not zero
  MatX constant_;                        // the linear rows of the Jacobian
  VecX offset_;
  Eigen::PartialPivLU<MatX> factor_;
};

}  // namespace

ConicSolution interior_point(const ConicProblem& p, double tolerance, int max_iterations,
                             const std::function<void(const VecX&, const VecX&, double)>& observe) {
  // the unit of speed: at what the free motion slides, and falls below what it may
  const VecX u = p.J * p.v_star + p.b, l = p.L * p.v_star + p.h, e = p.E * p.v_star + p.e;
  double V = 0;
  for (int i = 0; i < p.mu.size(); ++i)
    V = std::max(V, std::hypot(u.segment<2>(3 * i).norm(), std::min(u[3 * i + 2], 0.0)));
  for (const double x : l) V = std::max(V, -x);
  for (const double x : e) V = std::max(V, std::abs(x));
  if (V == 0) V = 1;

  System system(p, V);
  ConicSolution s;
  double undercut = 2;
  int stuck = 0, since_least = 0;
  VecX r = system.residual();
  s.residual = system.equations(r), s.complementarity = system.complementarity(r);
  double least = std::max(s.residual, s.complementarity);
  while (s.iterations < max_iterations) {
    if (s.residual <= tolerance && s.complementarity <= tolerance) {
      s.converged = true;
      break;
    }
    system.factor();
    const VecX affine = system.solve(-r);
    if (!affine.allFinite()) {
      s.failed = true;
      break;
    }
    // Mehrotra: how far the affine step gets says how much to centre
    const double nu = system.nu(system.x);
    const double affine_reach = system.reach(affine, 1);
    const double nu_affine = system.nu(system.x + affine_reach * affine);
    const double sigma = nu > 0 ? std::pow(std::clamp(nu_affine / nu, 0.0, 1.0), 3) : 0;
    const double kappa = std::max(sigma * nu, tolerance / undercut);
    const VecX step = system.solve(-r + system.target(kappa, affine, affine_reach));
    if (!step.allFinite()) {
      s.failed = true;
      break;
    }

    const double worst = std::max(s.residual, s.complementarity);
    double alpha = system.reach(step, std::max(0.95, 1 - worst * worst));
    const VecX x0 = system.x;
    for (int k = 0; k < 10; ++k, alpha *= 0.5) {
      system.x = x0 + alpha * step;
      r = system.residual();
      if (system.equations(r) <= s.residual || system.complementarity(r) <= s.complementarity)
        break;
    }
    s.residual = system.equations(r), s.complementarity = system.complementarity(r);
    ++s.iterations;
    observe(system.v(), system.impulse(), std::max(s.residual, s.complementarity));
    // little progress: aim below the tolerance
    stuck = std::max(s.residual, s.complementarity) > 0.9 * worst ? stuck + 1 : 0;
    if (stuck >= 3) undercut *= 10, stuck = 0;
    const double now = std::max(s.residual, s.complementarity);
    since_least = now < 0.5 * least ? 0 : since_least + 1;
    if (since_least == 0) least = now;
    if (since_least >= kPatience) break;
  }
  s.v = system.v();
  s.joints = system.joints();
  s.limits = system.limits();
  s.impulse = system.impulse();
  return s;
}

}  // namespace stiction::lab
