// Computes parameters of a contact pair from those of its two geoms.
#pragma once

#include <string>

#include "model/spec/contact_mapping.h"
#include "stiction/model.h"

namespace stiction::model {

inline constexpr double kRigid = 1e40;  // N/m: this stiffness or more means rigid

// MuJoCo's combination of two geoms: the higher priority decides; at equal priority the larger
// condim and friction, and solref and solimp averaged by solmix (for a direct solref: the smaller).
struct CombinedGeoms {
  int condim;
  double friction;          // sliding
  double torsion, rolling;  // m
  SolverParams params;
};
CombinedGeoms combine_geoms(const Model& m, int g1, int g2);

// Returns whether native materials determine the pair: both geoms have one, or one has a compliant one. A rigid
// material does not define the compliance of a geom without one: solref and solimp do.
bool is_native(const Model& m, int g1, int g2);

// Combines native materials in series, for a native pair p; a geom without one counts as rigid:
//   k = k1 k2/(k1 + k2), d = w d1 + (1 - w) d2, e = w e1 + (1 - w) e2, τ = τ1 + τ2, w = k2/(k1 + k2).
// If both are rigid: returns a sentence that says so and changes nothing. Else "".
std::string set_native_pair(Model& m, int p);

// Sets nrebound, once the pairs have their restitution.
void count_rebounds(Model& m);

// Returns "'name'", or "12 (sphere of body 'torso')" if unnamed.
std::string geom_label(const Model& m, int g);
const char* type_name(GeomType type);

}  // namespace stiction::model
