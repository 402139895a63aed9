// Equality constraints of a Model.
#pragma once

#include "stiction/model.h"

namespace stiction::model {

inline constexpr int kEqualityData = 11;  // numbers of eq_data

// eq_stiffness and eq_relaxation_time from solref and solimp at the model's timestep, where they are
// not native: what map_equality of contact_mapping.h says per inverse mass, which is the sum of both
// bodies' body_invweight0, joints' dof_invweight0 or tendons' tendon_invweight0.
void map_equality(Model& m, int i);

}  // namespace stiction::model
