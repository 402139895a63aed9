#include "reference/contact/contacts.h"

#include <algorithm>
#include <array>
#include <limits>

#include "reference/collision/geometry.h"
#include "reference/contact/rebound.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Sine of the angle to a plane's normal below which a capsule counts as standing, without a direction on the plane.
constexpr double kUpright = 1e-9;

double barrier_reach(const Options& o) {
  switch (o.normal_law) {
    case NormalLaw::hunt_crossley: break;
    case NormalLaw::log_barrier: return std::numeric_limits<double>::infinity();
    case NormalLaw::ipc_barrier: return o.barrier_distance;
  }
  return 0;
}

// Contact frame with z = n̂; tangents from the world axis most perpendicular to n̂.
Mat3 contact_frame(const Vec3& n) {
  int axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  const Vec3 x = Vec3::Unit(axis).cross(n).normalized();
  Mat3 frame;
  frame << x, n.cross(x), n;
  return frame;
}

// The tangents to which two friction coefficients refer, MuJoCo's: the first is along a capsule's axis on a
// plane, else along the world's y axis, or z within 60 degrees of y; made perpendicular to n̂.
Mat3 mujoco_frame(const Vec3& n, const Shape& a, const Shape& b) {
  Vec3 y = abs(n.y()) < 0.5 ? Vec3::UnitY() : Vec3::UnitZ();
  if (a.type == GeomType::plane && b.type == GeomType::capsule) y = b.rot.col(2);
  const Vec3 across = y - n.dot(y) * n;
  if (across.norm() < kUpright) return contact_frame(n);  // the capsule stands on the plane
  Mat3 frame;
  frame << across.normalized(), n.cross(across.normalized()), n;
  return frame;
}

// μ1, μ2
std::array<double, 2> pair_friction(const Model& m, const Options& o, int pair) {
  if (m.pair_condim[at(pair)] == 1) return {0, 0};
  if (o.friction_combination == FrictionCombination::mujoco || m.pair_explicit[at(pair)] != 0)
    return {m.pair_friction[at(pair)], m.pair_friction2[at(pair)]};
  const double a = m.geom_friction[at(3 * m.pair_geom1[at(pair)])];
  const double b = m.geom_friction[at(3 * m.pair_geom2[at(pair)])];
  const double mu = a + b > 0 ? 2 * a * b / (a + b) : 0;
  return {mu, mu};
}

// Returns the hull of a mesh geom; without vertices for other geoms.
Hull hull(const Model& m, int g) {
  if (m.geom_type[at(g)] != GeomType::mesh) return {};
  const std::size_t mesh = at(m.geom_dataid[at(g)]);
  const std::size_t vert = at(m.mesh_vertadr[mesh]), face = at(m.mesh_polyadr[mesh]);
  const std::size_t faces = at(m.mesh_polynum[mesh]);
  const std::span polyvertadr(m.mesh_polyvertadr), polyvertnum(m.mesh_polyvertnum);
  return {
      std::span(m.mesh_vert).subspan(3 * vert, 3 * at(m.mesh_vertnum[mesh])),
      std::span(m.mesh_polynormal).subspan(3 * face, 3 * faces),
      polyvertadr.subspan(face, faces),
      polyvertnum.subspan(face, faces),
      std::span(m.mesh_polyvert).subspan(at(m.mesh_polyvertadr[face])),
      std::span(m.mesh_face).subspan(3 * at(m.mesh_faceadr[mesh]), 3 * at(m.mesh_facenum[mesh]))};
}

HeightField height_field(const Model& m, int g) {
  if (m.geom_type[at(g)] != GeomType::hfield) return {};
  const std::size_t h = at(m.geom_dataid[at(g)]);
  const int nrow = m.hfield_nrow[h], ncol = m.hfield_ncol[h];
  const double* const size = &m.hfield_size[4 * h];
  return {nrow,
          ncol,
          {size[0], size[1], size[2]},
          std::span(m.hfield_data).subspan(at(m.hfield_adr[h]), at(nrow * ncol))};
}

}  // namespace

Shape shape(const Model& m, const Kinematics& kin, int g) {
  return {m.geom_type[at(g)],   row3(m.geom_size, g), kin.geom_xpos[at(g)],
          kin.geom_xmat[at(g)], hull(m, g),           height_field(m, g)};
}

std::vector<ContactPoint> candidate_points(const Model& m, const Options& o, const Kinematics& kin,
                                           std::span<const Real> more_friction) {
  std::vector<ContactPoint> points;
  std::array<Witness, 16> witnesses;
  for (int pair = 0; pair < m.npair; ++pair) {
    const int g1 = m.pair_geom1[at(pair)], g2 = m.pair_geom2[at(pair)];
    const Shape a = shape(m, kin, g1), b = shape(m, kin, g2);
    const int n = collide(a, b, witnesses);
    const auto [mu1, mu2] = pair_friction(m, o, pair);
    for (int k = 0; k < n; ++k) {
      const Witness& w = witnesses[at(k)];
      ContactPoint p;
      p.geom1 = g1, p.geom2 = g2, p.pair = pair, p.slot = m.pair_slotadr[at(pair)] + k;
      p.frame = mu1 == mu2 ? contact_frame(w.normal) : mujoco_frame(w.normal, a, b);
      p.pos = w.point1 + m.pair_weight[at(pair)] * (w.point2 - w.point1);
      p.gap = w.distance - m.pair_margin[at(pair)];
      p.friction << mu1, mu2;
      if (!more_friction.empty() && m.pair_condim[at(pair)] != 1)
        p.friction.array() += more_friction[at(pair)];
      p.stiffness = m.pair_stiffness[at(pair)];
      p.dissipation = m.pair_dissipation[at(pair)];
      if (o.contact_pairs == ContactPairs::speculative)
        p.restitution = m.pair_restitution[at(pair)];
      points.push_back(p);
    }
  }
  return points;
}

std::vector<ContactPoint> penetrating_deepest(const std::vector<ContactPoint>& candidates) {
  std::vector<ContactPoint> result;
  for (const ContactPoint& p : candidates) {
    if (p.gap > 0) continue;
    if (result.empty() || result.back().pair != p.pair)
      result.push_back(p);
    else if (p.gap < result.back().gap)
      result.back() = p;
  }
  return result;
}

Mat3X contact_jacobian(const Model& m, const Kinematics& kin, const ContactPoint& p) {
  const int b1 = m.geom_bodyid[at(p.geom1)], b2 = m.geom_bodyid[at(p.geom2)];
  return p.frame.transpose() *
         (point_jacobian(m, kin, b2, p.pos) - point_jacobian(m, kin, b1, p.pos));
}

Mat3X turning_jacobian(const Model& m, const Kinematics& kin, const ContactPoint& p) {
  const int b1 = m.geom_bodyid[at(p.geom1)], b2 = m.geom_bodyid[at(p.geom2)];
  return p.frame.transpose() * (rotation_jacobian(m, kin, b2) - rotation_jacobian(m, kin, b1));
}

Reach reach(const Model& m, const Options& o, double dt, const ContactPoint& p) {
  const Real mu = p.friction.maxCoeff();
  if (o.contact_model == ContactModel::sap) return {dt + m.pair_relaxation_time[at(p.pair)], mu};
  const bool glides = o.contact_model == ContactModel::similar;
  return {dt, glides ? mu : Real(0), barrier_reach(o)};
}

bool may_act(const Model& m, double dt, const Reach& reach, const Real& gap,
             std::initializer_list<Vec3> v_c, double rebound) {
  const double g = Eigen::Vector3d(m.gravity[0], m.gravity[1], m.gravity[2]).norm();
  Real closing = std::max(0.0, rebound);
  for (const Vec3& v : v_c) closing = std::max(closing, -reach.opening(v));
  return gap <= reach.distance + 2 * reach.horizon * closing + 8 * g * dt * dt;
}

Real deep_shift(const Model& m, double dt, const ContactPoint& p, const Real& v_n0) {
  const double g = Eigen::Vector3d(m.gravity[0], m.gravity[1], m.gravity[2]).norm();
  const double d = p.dissipation;
  if (!(d * g > 0)) return 0;
  const Real excess = -p.gap - kDeepLoads * g / (p.stiffness * p.w);
  if (!(excess > 0) || !(-p.gap > dt / d)) return 0;
  const double T = std::max(kDeepSpeed / (d * g), 2 * dt);
  const Real aim = return_speed({1 / (T * T), 2 / T}, dt, excess, std::max<Real>(v_n0, 0));
  return std::max<Real>(std::min<Real>(aim, kDeepSpeed / d) - 1 / d, 0);
}

ContactLaw contact_law(const Model& m, const Options& o, double dt, const Vec3& v_c0,
                       const ContactPoint& p) {
  ContactLaw law;
  law.model = o.contact_model;
  law.mu = p.friction.maxCoeff();
  if (law.mu > 0) law.along = p.friction / law.mu;
  law.shift = (p.frame.transpose() * p.anchor).head<2>() / (kAnchorTime * dt);
  const bool papers =
      law.model == ContactModel::sap || o.contact_pairs == ContactPairs::penetrating_deepest;
  const NormalConstants usual = {p.gap, p.stiffness, p.dissipation,
                                 papers ? Real(0) : deep_shift(m, dt, p, v_c0.z())};
  const NormalConstants n = rebound_law(m, o, usual, v_c0.z(), p);
  const Real k = resolved_stiffness(n.k, n.d, dt, n.gap, p.w);
  // in the step in which the pair separates n0 is the impulse of the step that stopped it
  const Real lagged_k = resolved_stiffness(p.stiffness, p.dissipation, dt, p.gap, p.w);
  const Real& lagged_shift = n.rigid ? usual.shift : n.shift;
  switch (o.normal_law) {
    case NormalLaw::log_barrier:
      law.normal = BarrierLaw<LogBarrier>(dt, {*o.barrier}, p.gap, p.w);
      break;
    case NormalLaw::ipc_barrier:
      law.normal = BarrierLaw<IpcBarrier>(dt, {*o.barrier, o.barrier_distance}, p.gap, p.w);
      break;
    case NormalLaw::hunt_crossley:
      law.normal = HuntCrossley(dt, k, n.d, -k * n.gap, n.shift);
      set_bound(o, lagged_impulse(dt, n.d, -lagged_k * p.gap, v_c0.z() - lagged_shift), p.w, law);
      break;
  }
  if (o.normal_law != NormalLaw::hunt_crossley)  // no dissipation: the impulse of the gap alone
    set_bound(o, evaluate(law.normal, 0).impulse, p.w, law);
  if (o.contact_model == ContactModel::sap)
    set_sap(law, dt, n.k, m.pair_relaxation_time[at(p.pair)], o.near_rigid, o.regularization, p.w,
            n.gap);
  if (o.contact_model == ContactModel::sap && n.rigid)
    law.v_hat += n.shift, law.R_n = std::min<Real>(law.R_n, p.w / kRigidBounce);
  return law;
}

CoupleLaw couple_law(const Model& m, const Options& o, double dt, const ContactLaw& law,
                     const ContactPoint& p) {
  CoupleLaw couple;
  couple.torsion = m.pair_torsion[at(p.pair)];
  couple.rolling = m.pair_rolling[at(p.pair)];
  couple.shift = p.frame.transpose() * p.turned / (kAnchorTime * dt);
  set_bound(o, law.n0, p, couple);
  return couple;
}

void set_bound(const Options& o, const Real& n0, const ContactPoint& p, CoupleLaw& law) {
  const auto eps = [&](double coefficient) {
    return turning_scale(o.stiction_tolerance, o.regularization, p.w_turning, p.friction.maxCoeff(),
                         coefficient, n0);
  };
  law.n0 = n0;
  law.eps_torsion = eps(law.torsion), law.eps_rolling = eps(law.rolling);
}

void set_bound(const Options& o, const Real& n0, const Real& w, ContactLaw& law) {
  law.n0 = n0;
  law.eps = std::max<Real>(o.stiction_tolerance, o.regularization * w * law.mu * n0);
}

Vec3 spin_anchor(const Vec3& z, const Vec3& normal, Real angle) {
  const Real length = z.norm();
  if (length == 0) return z;
  const Vec3 turned = exp_quat(angle * normal) * z;
  const Vec3 tangent = turned - normal.dot(turned) * normal;
  const Real t = tangent.norm();
  return t > 0 ? Vec3(tangent * (length / t)) : Vec3(Vec3::Zero());
}

Vec3 advance_anchor(const Vec3& z, const Vec3& slip, double dt, Real n0, Real eps_s) {
  if (n0 == 0) return Vec3::Zero();
  const Vec3 next = z + dt * slip;
  const Real reach = kAnchorReach * eps_s * kAnchorTime * dt, length = next.norm();
  return length > reach ? Vec3(next * (reach / length)) : next;
}

Vec3 advance_turned(const ContactPoint& p, const CoupleLaw& law, const Vec3& omega, double dt) {
  const Vec3 n = p.frame.col(2), z = p.turned;
  const auto about = [&](const Vec3& x) { return Vec3(n.dot(x) * n); };
  Vec3 next = Vec3::Zero();
  if (law.torsion > 0) next += advance_anchor(about(z), about(omega), dt, law.n0, law.eps_torsion);
  if (law.rolling > 0)
    next += advance_anchor(z - about(z), omega - about(omega), dt, law.n0, law.eps_rolling);
  return next;
}

}  // namespace stiction::reference::inline STICTION_REAL
