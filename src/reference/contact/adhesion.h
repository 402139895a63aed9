// Adhesion: actuators that press a body against what it touches.
#pragma once

#include "reference/actuation/forces.h"
#include "reference/contact/contacts.h"

namespace stiction::reference::inline STICTION_REAL {

// Moment arm of adhesion actuator a, −Σ J_n / N over the N points of its body whose gap is not positive; zero
// if N = 0. As in MuJoCo, gear has no effect.
VecX adhesion_moment(const Model& m, const Kinematics& kin, const std::vector<ContactPoint>& points,
                     int a);

// Generalized force of all adhesion actuators.
VecX adhesion_force(const Model& m, const Kinematics& kin, const std::vector<ContactPoint>& points,
                    const std::vector<Actuation>& actuators);

}  // namespace stiction::reference::inline STICTION_REAL
