#include "reference/tree/fluid.h"

#include <algorithm>
#include <numbers>

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kPi = std::numbers::pi;

using Semiaxes = stiction::Vec3;

double fourth(double x) {
  return x * x * x * x;
}

// At one point, in the axes of a box or an ellipsoid: drag coefficients, and the forces other than drag.
struct Local {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};

// The homogeneous box with the body's mass and moments of inertia.
Local on_box(const Model& m, int b, const Vec3& w, const Vec3& v) {
  const Semiaxes I = stiction::row3(std::span<const double>(m.body_inertia), b);
  const double mass = m.body_mass[at(b)];
  Local f;
  if (!(mass > 0)) return f;
  Semiaxes l;
  for (int i = 0; i < 3; ++i) l[i] = std::sqrt(std::max(0.0, I.sum() - 2 * I[i]) * 6 / mass);
  const double d = l.mean();
  for (int i = 0; i < 3; ++i) {
    const double a = l[(i + 1) % 3], c = l[(i + 2) % 3];
    f.linear[i] = 3 * kPi * d * m.viscosity + 0.5 * m.density * a * c * abs(v[i]);
    f.angular[i] =
        kPi * d * d * d * m.viscosity + m.density * l[i] * (fourth(a) + fourth(c)) / 64 * abs(w[i]);
  }
  return f;
}

Semiaxes semiaxes(const Model& m, int g) {
  const Semiaxes s = stiction::row3(std::span<const double>(m.geom_size), g);
  switch (m.geom_type[at(g)]) {
    case GeomType::sphere: return Semiaxes::Constant(s[0]);
    case GeomType::capsule: return {s[0], s[0], s[0] + s[1]};
    case GeomType::cylinder: return {s[0], s[0], s[1]};
    default: return s;
  }
}

// coef: fluidcoef. Lift, and area of the silhouette along v; n: normal to the plane of the silhouette.
Vec3 lift_and_shadow(const Model& m, const double* coef, const Semiaxes& s, const Vec3& v,
                     Real& shadow) {
  const Real speed = v.norm();
  shadow = 0;
  if (!(speed > 0)) return Vec3::Zero();
  const Vec3 u = v / speed;
  Vec3 n;
  for (int i = 0; i < 3; ++i) {
    const double side = s[(i + 1) % 3] * s[(i + 2) % 3];
    n[i] = side * side * u[i];
  }
  shadow = kPi * n.norm() / sqrt(n.dot(u));
  // Kutta–Joukowski: perpendicular to v, in the plane of n and v
  const Real cosine = n.dot(u) / n.norm();
  return coef[4] * m.density * cosine * shadow * speed * speed / n.norm() * n.cross(u).cross(u);
}

Local on_ellipsoid(const Model& m, int g, const Vec3& w, const Vec3& v) {
  const Semiaxes s = semiaxes(m, g);
  const double* coef = &m.geom_fluid[at(12 * g)];
  const double blunt = coef[1], slender = coef[2], angular = coef[3];
  Local f;

  // added mass, with momenta p and L
  Vec3 p, L;
  for (int i = 0; i < 3; ++i)
    p[i] = m.density * coef[6 + i] * v[i], L[i] = m.density * coef[9 + i] * w[i];
  f.force = p.cross(w);
  f.torque = p.cross(v) + L.cross(w);

  // Magnus: along ω × v
  f.force += coef[5] * m.density * 4.0 / 3.0 * kPi * s.prod() * w.cross(v);

  Real shadow;
  f.force += lift_and_shadow(m, coef, s, v, shadow);

  // Stokes drag of the sphere with the mean diameter; quadratic drag
  const double d = 2 * s.mean(), largest = s.maxCoeff();
  const double middle = s.sum() - largest - s.minCoeff();
  f.linear.setConstant(3 * kPi * d * m.viscosity +
                       m.density * v.norm() *
                           (blunt * shadow + slender * (kPi * largest * middle - shadow)));
  const double most = 8.0 / 15.0 * kPi * middle * fourth(largest);
  Vec3 moment;
  for (int i = 0; i < 3; ++i) {
    const double own = 8.0 / 15.0 * kPi * s[i] * fourth(std::max(s[(i + 1) % 3], s[(i + 2) % 3]));
    moment[i] = (angular * own + slender * (most - own)) * w[i];
  }
  f.angular.setConstant(kPi * d * d * d * m.viscosity + m.density * moment.norm());
  return f;
}

}  // namespace

FluidForces fluid_forces(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion) {
  FluidForces sum{VecX::Zero(m.nv), MatX::Zero(m.nv, m.nv)};
  if (m.density == 0 && m.viscosity == 0) return sum;
  const Vec3 wind(m.wind[0], m.wind[1], m.wind[2]);

  // law(w, v) acts at the point c of body b, in the axes R
  const auto add = [&](int b, const Vec3& c, const Mat3& R, const auto& law) {
    const Motion& s = motion[at(b)];
    const Vec3 w = R.transpose() * s.omega;
    const Vec3 v = R.transpose() * (s.velocity_at(c - kin.xpos[at(b)]) - wind);
    const Local f = law(w, v);
    const Mat3X jv = R.transpose() * point_jacobian(m, kin, b, c);
    const Mat3X jw = R.transpose() * rotation_jacobian(m, kin, b);
    sum.force += jv.transpose() * (f.force - f.linear.cwiseProduct(v)) +
                 jw.transpose() * (f.torque - f.angular.cwiseProduct(w));
    sum.drag +=
        jv.transpose() * f.linear.asDiagonal() * jv + jw.transpose() * f.angular.asDiagonal() * jw;
  };

  for (int b = 1; b < m.nbody; ++b) {
    bool box = true;
    for (int g = 0; g < m.ngeom; ++g) {
      if (m.geom_bodyid[at(g)] != b || m.geom_fluid[at(12 * g)] == 0) continue;
      box = false;
      add(b, kin.geom_xpos[at(g)], kin.geom_xmat[at(g)],
          [&](const Vec3& w, const Vec3& v) { return on_ellipsoid(m, g, w, v); });
    }
    if (box)
      add(b, kin.xipos[at(b)], kin.ximat[at(b)],
          [&](const Vec3& w, const Vec3& v) { return on_box(m, b, w, v); });
  }
  return sum;
}

}  // namespace stiction::reference::inline STICTION_REAL
