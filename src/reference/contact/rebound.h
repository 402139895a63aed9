// Restitution: a pair that met at the speed v_a separates at e v_a (docs/method.md, "Restitution").
#pragma once

#include "reference/contact/contacts.h"

namespace stiction::reference::inline STICTION_REAL {

inline constexpr double kLeastImpact = 4;  // times |g| δt: slower impacts do not bounce
inline constexpr double kSoftBounce =
    1.0 / 64;  // δt² k w below which the spring itself causes the rebound
inline constexpr double kRigidBounce =
    1024;  // least δt² k w of all other bounces in the two steps that stop and separate the pair
inline constexpr double kPressed = -1;  // rebound of a slot that presses and does not bounce

// n(v_n) = δt (−k φ0 − δt k (v_n − s))₊ (1 − d (v_n − s))₊
struct NormalConstants {
  Real gap, k, d, shift;  // φ0, k, d, s
  bool rigid = false;     // the pair is stopped or separates in this step
};
NormalConstants rebound_law(const Model& m, const Options& o, const NormalConstants& usual,
                            const Real& v_n0, const ContactPoint& p);

// Returns the y with y (1 + e) = ln((1 + y)/(1 − e y)), to 1.5 %.
double dissipation_of(double e);

// Returns `rebound` of the slot of a point after the step: v_n0, v_n at its ends, and its normal impulse.
double next_rebound(const Model& m, const Options& o, const ContactPoint& p, double v_n0,
                    double v_n, double impulse);

}  // namespace stiction::reference::inline STICTION_REAL
