// Equality constraints of a Model.
#pragma once

#include "stiction/model.h"

namespace stiction::model {

inline constexpr int kEqualityData = 11;  // numbers per row of eq_data

// Sets eq_stiffness and eq_relaxation_time from solref and solimp at the model's timestep, if they are
// not native: map_equality of contact_mapping.h gives them per inverse mass, which is the sum of both
// bodies' body_invweight0, joints' dof_invweight0 or tendons' tendon_invweight0.
void map_equality(Model& m, int i);

}  // namespace stiction::model
