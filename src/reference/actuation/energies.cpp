#include "reference/actuation/energies.h"

#include "reference/actuation/tendons.h"
#include "reference/tree/dynamics.h"
#include "reference/tree/springs.h"

namespace stiction::reference::inline STICTION_REAL {

Totals totals(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion,
              std::span<const Real> qpos, std::span<const Real> qvel) {
  const Vec3 gravity(m.gravity[0], m.gravity[1], m.gravity[2]);
  Totals t;
  Real mass = 0;
  for (int b = 1; b < m.nbody; ++b) {
    if (!moves(m, b)) continue;
    mass += m.body_mass[at(b)];
    t.com += m.body_mass[at(b)] * kin.xipos[at(b)];
  }
  if (mass > 0) t.com /= mass;

  for (int b = 1; b < m.nbody; ++b) {
    const Real energy = -m.body_mass[at(b)] * gravity.dot(kin.xipos[at(b)]);
    (moves(m, b) ? t.potential : t.fixed_potential) += energy;
    if (!moves(m, b)) continue;
    const Vec3 v = com_velocity(kin, motion, b);
    const Vec3& w = motion[at(b)].omega;
    const Mat3 inertia = world_inertia(m, kin, b);
    const Vec3 p = m.body_mass[at(b)] * v;
    t.kinetic += 0.5 * (p.dot(v) + w.dot(inertia * w));
    t.linear_momentum += p;
    t.angular_momentum += (kin.xipos[at(b)] - t.com).cross(p) + inertia * w;
  }
  for (int i = 0; i < m.nv; ++i)
    t.kinetic += 0.5 * m.dof_armature[at(i)] * qvel[at(i)] * qvel[at(i)];
  t.potential += spring_energy(m, qpos);
  const std::vector<Tendon> strings = tendons(m, kin, qpos);
  const Eigen::Map<const VecX> v(qvel.data(), m.nv);
  for (int i = 0; i < m.ntendon; ++i) {
    const Real rate = strings[at(i)].J.dot(v);
    t.kinetic += 0.5 * m.tendon_armature[at(i)] * rate * rate;
  }
  t.potential += tendon_energy(m, strings);
  return t;
}

}  // namespace stiction::reference::inline STICTION_REAL
