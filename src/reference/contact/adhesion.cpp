#include "reference/contact/adhesion.h"

namespace stiction::reference::inline STICTION_REAL {

VecX adhesion_moment(const Model& m, const Kinematics& kin, const std::vector<ContactPoint>& points,
                     int a) {
  const int body = m.actuator_trnid[at(a)];
  VecX sum = VecX::Zero(m.nv);
  int count = 0;
  for (const ContactPoint& p : points) {
    if (p.gap > 0) continue;
    if (m.geom_bodyid[at(p.geom1)] != body && m.geom_bodyid[at(p.geom2)] != body) continue;
    sum -= contact_jacobian(m, kin, p).row(2).transpose();
    ++count;
  }
  return count == 0 ? sum : VecX(sum / count);
}

VecX adhesion_force(const Model& m, const Kinematics& kin, const std::vector<ContactPoint>& points,
                    const std::vector<Actuation>& actuators) {
  VecX f = VecX::Zero(m.nv);
  for (int a = 0; a < m.nu; ++a)
    if (m.actuator_trntype[at(a)] == Transmission::body)
      f += actuator_force(m, a, actuators[at(a)]) * adhesion_moment(m, kin, points, a);
  return f;
}

}  // namespace stiction::reference::inline STICTION_REAL
