// Maps MuJoCo's soft-constraint parameters (solref, solimp) to the Hunt–Crossley stiffness of a pair.
#pragma once

#include <array>

namespace stiction::model {

struct SolverParams {
  std::array<double, 2> solref{0.02, 1};
  std::array<double, 5> solimp{0.9, 0.95, 0.001, 0.5, 2};
};

struct MappingContext {
  double effective_mass;  // kg, 1 / (sum of the two translational body_invweight0)
  double cone_factor;     // s of cone_factor()
  double weight;          // N, load at which both models rest at the same depth
  double timeconst_min;   // s, two timesteps (refsafe); 0: no bound
};

struct MappedContact {
  double stiffness, dissipation;  // N/m, s/m
  double restitution;
};

// Returns MuJoCo's impedance d at penetration r >= 0: from dmin to dmax over `width`, by two joined power curves.
double impedance(const std::array<double, 5>& solimp, double r);

// Returns s: the normal stiffness of all rows of a contact together, relative to that of one frictionless row.
// Elliptic, condim 1: s = 1. Pyramidal: 2 (condim - 1) edges, each with a regulariser 2 m² (1 + μ²)
// times that of the normal, m² = μ²/impratio: s = (condim - 1) impratio / (μ² (1 + μ²)).
double cone_factor(int condim, double friction, bool elliptic, double impratio);

// Returns the stiffness that rests under `weight` at MuJoCo's depth r: k r = weight,
//   k = s m_eff d² / ((1 - d) dmax² timeconst² dampratio²),  d = impedance(r).
// Direct solref (-K, -B): K/dmax² replaces 1/(dmax timeconst dampratio)², dampratio = B/(2 sqrt K).
// Depths below kLeastDepth count as kLeastDepth. Dissipation: kDissipation times dampratio. Restitution: by dampratio.
MappedContact map_contact(const SolverParams& params, const MappingContext& context);

// Returns the ratio of separation to impact speed of a damped spring x'' = −2 ζ x' − x that cannot pull: it
// would pull from x'' = 0 on, at x'/x'(0) = −exp(−ζ/√(1 − ζ²) (π − atan2(2 ζ √(1 − ζ²), 1 − 2 ζ²))). 0 for ζ >= 1,
// including MuJoCo's default, where it would be exp(−2).
double spring_restitution(double dampratio);

// Maps to an equality constraint that holds a load at MuJoCo's gap r, k r = F, and closes a gap in MuJoCo's time:
//   k w = d² K/(1 − d),  τ = 2 dampratio/√K,  K = 1/(dmax timeconst dampratio)²
// with d = impedance(width), so that a smaller gap is not held more softly; w: inverse mass.
struct MappedEquality {
  double stiffness;        // k w, 1/s²
  double relaxation_time;  // τ, s
};
MappedEquality map_equality(const SolverParams& params, double timeconst_min);

inline constexpr double kDissipation = 20;   // s/m, a realistic Hunt–Crossley d (rubber on steel)
inline constexpr double kLeastDepth = 1e-7;  // m; stiffer makes no visible change, and hurts floats

}  // namespace stiction::model
