#include "lab/src/stages.h"

#include <algorithm>

#include "stiction/error.h"

namespace stiction::lab {

using namespace reference;

void require(const VecX& v, int size, const char* name) {
  if (v.size() != size || !v.allFinite())
    throw ArgumentError(std::string(name) + ": needs " + std::to_string(size) +
                        " finite numbers, has " + std::to_string(v.size()));
}

namespace {

std::span<const double> span(const VecX& v) {
  return {v.data(), at(static_cast<int>(v.size()))};
}

const VecX& filled(const VecX& given, int size, const char* name, VecX& zeros) {
  if (given.size() != 0) {
    require(given, size, name);
    return given;
  }
  zeros = VecX::Zero(size);
  return zeros;
}

}  // namespace

void begin(const Model& m, const Options& o, const State& state, const Actions& a, Start& s) {
  if (std::any_of(m.eq_active0.begin(), m.eq_active0.end(), [](int on) { return on != 0; }))
    throw ArgumentError(
        "the laboratory's problems have no equality constraints: write active=\"false\"");
  if (m.na > 0) throw ArgumentError("the laboratory's problems have no actuators with a state");
  require(state.qpos, m.nq, "qpos");
  require(state.qvel, m.nv, "qvel");
  s.in.qpos = span(state.qpos);
  s.in.qvel = span(state.qvel);
  s.in.ctrl = span(filled(a.ctrl, m.nu, "ctrl", s.zeros_nu));
  s.in.qfrc_applied = span(filled(a.qfrc_applied, m.nv, "qfrc_applied", s.zeros_nv));
  s.in.xfrc_applied = span(filled(a.xfrc_applied, 6 * m.nbody, "xfrc_applied", s.zeros_body));
  if (a.mocap_pos.size() != 0) require(a.mocap_pos, 3 * m.nmocap, "mocap_pos");
  if (a.mocap_quat.size() != 0) require(a.mocap_quat, 4 * m.nmocap, "mocap_quat");
  s.in.mocap_pos = span(a.mocap_pos);
  s.in.mocap_quat = span(a.mocap_quat);
  s.zeros_anchor = VecX::Zero(3 * m.nanchor);
  s.in.anchor = span(s.zeros_anchor);
  s.zeros_friction = VecX::Zero(m.nv + m.ntendon);
  s.in.friction_anchor = span(s.zeros_friction);
  s.zeros_rebound = VecX::Zero(m.nrebound);
  s.in.rebound = span(s.zeros_rebound);
  s.kin = kinematics(m, s.in.qpos, s.in.mocap_pos, s.in.mocap_quat);
  s.free = free_motion(m, o, s.kin, s.in);
  if (!s.free.solved) throw ArgumentError("the mass matrix of this state is not positive definite");
}

void add_points(const Model& m, const Options& o, double dt, double near, Start& s) {
  const VecX v0 = Eigen::Map<const VecX>(s.in.qvel.data(), m.nv);
  for (ContactPoint& p : candidate_points(m, o, s.kin)) {
    const Mat3X J = contact_jacobian(m, s.kin, p);
    Reach r = reach(m, o, dt, p);
    r.mu = p.friction[0];  // for the laws that glide
    if (p.gap > near && !may_act(m, dt, r, p.gap, {J * v0, J * s.free.v_star})) continue;
    if (J.norm() > 0) s.points.push_back(p);
  }
}

double rigid_bias(double gap, double dt, double recover) {
  return (gap > 0 ? gap : recover * gap) / dt;
}

}  // namespace stiction::lab
