// Friction of a pair: its coefficient, and the slip over which it builds up.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kAnchorTime = 5;  // τ / δt of anchored stiction and anchored dry friction

// Returns μ: 0 without friction; that of an explicit pair; else combined from the two geoms.
//   mujoco    the geom with the higher priority decides, else the larger coefficient
//   harmonic  2 a b / (a + b)
template <class S>
STICTION_FN S sliding_friction(const ModelView& m, const EnvView<S>& e, int pair) {
  if (m.pair_condim[pair] == 1) return S(0.0);
  if (m.pair_explicit[pair] != 0) return e.pair_friction[pair];
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const S a = e.geom_friction[g1], b = e.geom_friction[g2];
  if (m.opt.harmonic_friction) {
    const Mask<S> rough = a + b > S(0.0);
    return select(rough, S(2.0) * a * b / select(rough, a + b, S(1.0)), S(0.0));
  }
  if (m.geom_priority[g1] != m.geom_priority[g2])
    return m.geom_priority[g1] > m.geom_priority[g2] ? a : b;
  return vmax(a, b);
}

// Returns σ, at least so large that 1/(σ w) stays within `stiffest`.
template <class S>
STICTION_FN S regularization(const ModelView& m) {
  return vmax(S(m.opt.regularization), S(1 / stiffest<S>()));
}

// Returns ε = max(v_s, σ w μ n0).
template <class S>
STICTION_FN S slip_scale(const ModelView& m, S w, S mu, S n0) {
  return vmax(regularization<S>(m) * w * mu * n0, S(m.opt.stiction_tolerance));
}

STICTION_PHYSICS_END
