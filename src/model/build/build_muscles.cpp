// Properties of actuators that follow from the inertia at qpos0 and from limits: the acceleration under a unit
// force, peak force and lengths of a muscle.
#include <optional>

#include "model/build/build.h"
#include "model/spec/rest_inertia.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

using Limits = std::optional<Range>;

Limits joint_limits(const Model& m, int j) {
  if (m.jnt_limited[at(j)] == 0 || dof_count(m.jnt_type[at(j)]) > 1) return {};
  return Range{m.jnt_range[at(2 * j)], m.jnt_range[at(2 * j + 1)]};
}

Limits tendon_limits(const Model& m, int t) {
  if (m.tendon_limited[at(t)] == 0) return {};
  return Range{m.tendon_range[at(2 * t)], m.tendon_range[at(2 * t + 1)]};
}

Range scaled(const Range& r, double by) {
  const double a = by * r[0], b = by * r[1];
  return {std::min(a, b), std::max(a, b)};
}

// Range of a fixed tendon's length, by the limits of its joints and its own.
Limits tendon_extremes(const Model& m, int t) {
  const int begin = m.tendon_adr[at(t)], end = begin + m.tendon_num[at(t)];
  Range sum{};
  for (int w = begin; w < end; ++w) {
    if (m.wrap_type[at(w)] != WrapType::joint) return {};
    const Limits of_joint = joint_limits(m, m.wrap_objid[at(w)]);
    if (!of_joint) return tendon_limits(m, t);
    const Range part = scaled(*of_joint, m.wrap_coef[at(w)]);
    sum[0] += part[0], sum[1] += part[1];
  }
  if (const Limits own = tendon_limits(m, t))
    sum = {std::max(sum[0], (*own)[0]), std::min(sum[1], (*own)[1])};
  return sum;
}

// Returns the lengths at the ends of a muscle's range: given, those of its joint or tendon, or the shortest and
// longest that the limits allow.
Range length_range(const Spec& spec, const Model& m, int a) {
  const ActuatorSpec& s = spec.actuators[at(a)];
  const int id = m.actuator_trnid[at(a)];
  const bool joint = m.actuator_trntype[at(a)] == Transmission::joint;
  const bool tendon = m.actuator_trntype[at(a)] == Transmission::tendon;
  if (spec.compiler.useexisting && s.lengthrange[0] < s.lengthrange[1]) return s.lengthrange;
  if (spec.compiler.uselimit)  // without the gear, as in MuJoCo
    if (const Limits r = joint ? joint_limits(m, id) : tendon ? tendon_limits(m, id) : Limits())
      return *r;
  const Limits extremes = joint ? joint_limits(m, id) : tendon ? tendon_extremes(m, id) : Limits();
  const Range r = extremes ? scaled(*extremes, m.actuator_gear[at(6 * a)]) : Range{};
  if (r[0] < r[1]) return r;
  fail(*s.element,
       "needs lengthrange=\"shortest longest\", the lengths at the ends of its range: the limits "
       "of its "
       "joints don't give them");
}

void resolve_muscle(const Spec& spec, Model& m, int a) {
  const Element& e = *spec.actuators[at(a)].element;
  const Range r = length_range(spec, m, a);
  require_within(e, "lengthrange", r, kLengthBound);
  m.actuator_lengthrange[at(2 * a)] = r[0], m.actuator_lengthrange[at(2 * a + 1)] = r[1];
  double ratio = 0;
  for (int k = 0; k < 6; ++k) ratio = std::max(ratio, std::abs(m.actuator_gear[at(6 * a + k)]));
  for (const int adr : {18 * a, 18 * a + 9}) {
    double* const n = &m.actuator_muscle[at(adr)];
    if (!(n[1] > n[0])) continue;  // not a muscle's
    double& force = n[2];
    if (force < 0) force = n[3] / std::max(1e-15, m.actuator_acc0[at(a)]);
    require_within(e, "force", force, kForceBound);
    // its damping and stiffness as seen by the joints
    const double length0 = (r[1] - r[0]) / (n[1] - n[0]);
    require_within(e, "force", 2 * force / (length0 * n[6]) * ratio * ratio, kStiffnessBound);
    require_within(e, "force", force / (length0 * (1 - n[4])) * ratio * ratio, kStiffnessBound);
  }
}

}  // namespace

void resolve_muscles(const Spec& spec, Model& m) {
  const RestPose pose(m);
  const RestInertia inertia(m, pose);
  for (int a = 0; a < m.nu; ++a) {
    m.actuator_acc0.push_back(inertia.solve(actuator_moment0(m, pose, a)).norm());
    if (m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0)
      resolve_muscle(spec, m, a);
  }
}

}  // namespace stiction::model
