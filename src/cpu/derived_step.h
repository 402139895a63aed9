// How stages of a step differ in numbers that carry derivatives, dual (dual.h) or recorded (adjoint.h): points that are
// computed by a search are taken from the same step in plain doubles.
#pragma once

#include "cpu/bind.h"
#include "cpu/tangents.h"
#include "physics/base/team.h"
#include "physics/solver/tangent.h"
#include "physics/step.h"

STICTION_PHYSICS_BEGIN

template <class S>
concept HasDerivatives = S::has_derivatives;

// Rays and searches run lane by lane in plain doubles; derivatives of these sensors are refused (batch/gradient.cpp),
// and these functions only stand in for them.
template <HasDerivatives S>
S range(const ModelView&, const EnvView<S>&, int) {
  return S(0.0);
}
template <HasDerivatives S>
Reading<S> distance_reading(const ModelView&, const EnvView<S>&, int) {
  return {};
}

// The environment in such numbers, and the same step in plain doubles.
template <class S>
struct DerivedView : EnvView<S> {
  EnvView<double> plain;
};

inline bool is_lifted(const ModelView& m, int pair) {
  return cpu::is_lifted(static_cast<GeomType>(m.geom_type[m.pair_geom1[pair]]),
                        static_cast<GeomType>(m.geom_type[m.pair_geom2[pair]]));
}

template <class S>
void lift_candidates(const ModelView& m, DerivedView<S>& e, int pair) {
  const EnvView<double>& from = e.plain;
  e.pair_near[pair] = S(from.pair_near[pair]);
  const int first = m.pair_slotadr[pair], last = first + m.pair_slotnum[pair];
  for (int slot = first; slot < last; ++slot) e.cand_gap[slot] = S(from.cand_gap[slot]);
  for (int i = 3 * first; i < 3 * last; ++i) {
    e.cand_normal[i] = S(from.cand_normal[i]);
    e.cand_r1[i] = S(from.cand_r1[i]), e.cand_r2[i] = S(from.cand_r2[i]);
  }
}

// The narrow phase of the pairs that passed the cull, in place of that of collide.h.
template <Colliders, class Team, HasDerivatives S>
void narrow_pairs(const Team&, const ModelView& m, EnvView<S>& e, int nnear) {
  for (int i = 0; i < nnear; ++i) {
    const int pair = e.near_pair[i];
    if (is_lifted(m, pair))
      lift_candidates(m, static_cast<DerivedView<S>&>(e), pair);
    else
      narrow_phase<Colliders::box>(m, e, pair);
    if (any_near(e, pair)) activate(m, e, pair);
  }
}

// Returns whether a point of these pairs has an impulse, or a curvature.
template <class S>
bool any_lifted_acts(const ModelView& m, const EnvView<S>& e) {
  for (int p = 0; p < e.npoint[0]; ++p) {
    if (!is_lifted(m, m.slot_pair[e.point_slot[p]])) continue;
    for (int k = 0; k < 6; ++k)
      if (e.point_hess[6 * p + k].value != 0) return true;
    for (int k = 0; k < 3; ++k)
      if (e.point_impulse[3 * p + k].value != 0) return true;
  }
  return false;
}

// Starts at v(i), with the friction bounds that follow from v: the root of r(v; n0 = n(v_n)) is what
// friction_iterations = "fixed_point" finds.
template <class S, class V>
void start_following(const TeamOfOne& one, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                     const V& v) {
  start_at(one, m, e, s, v);
  set_bounds(one, m, e, true);
  start_at(one, m, e, s, v);
}

// Computes H of the laws at the iterate and its factor, in plain numbers: H, L, and a right-hand side.
template <class S>
void factor_plain(const TeamOfOne& one, const ModelView& m, EnvView<S>& e, double* factor) {
  hessian(one, m, e, true);
  EnvView<double> f = factor_view(e, factor, factor + m.ntri);
  for (int i = 0; i < m.ntri; ++i) f.H[i] = e.H[i].value;
  double* const none = factor + 2 * m.ntri;
  for (int i = 0; i < m.nv; ++i) none[i] = 0;
  factor_and_solve(one, m, f, none, none);
}

// Runs the stages after the solution. true: a point that was computed by a search acts.
template <class S>
bool finish_step(const TeamOfOne& one, const ModelView& m, EnvView<S>& e, const SolveState<S>& s,
                 bool sensors) {
  end_solve(one, m, e, s);
  gyroscopic_end(one, m, e);
  if (sensors) interval_sensors(one, m, e);
  integrate(one, m, e);
  move_mocap(one, m, e, 1);
  const bool lifted = any_lifted_acts(m, e);
  if (sensors) refresh(one, m, e);
  return lifted;
}

STICTION_PHYSICS_END
