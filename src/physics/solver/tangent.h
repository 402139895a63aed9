// Sensitivity of the solution of a step to the quantities that the step depends on: the implicit function theorem at
//
//   r(v; θ) = A (v − v*) − Jᵀγ(v) − rows(v) = 0,   H = ∂r/∂v,   dv = −H⁻¹ ∂r
//
// start_at    in   v, a number without tangents or with; all that `start` reads except its warm start
//             out  gradient r, the laws at v; its tangents are ∂r if v has none, and 0 if v moves by dv
// factor_of   in   H by `hessian`                     out  its factor, in numbers without tangents
// solve_with  in   the factor, a right-hand side b    out  H⁻¹ b
#pragma once

#include "physics/solver/solve_start.h"

STICTION_PHYSICS_BEGIN

// Evaluates the laws and the gradient at v(i), as `start` does at its first iterate.
template <class Team, class S, class V>
STICTION_FN void start_at(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                          const V& v) {
  const S rate = S(m.opt.step_rate);
  // both candidate starts of the solve are this v, and no lane takes v_free for the solution
  team.for_each(m.nv, [&](int i) {
    e.v_free[i] = v(i);
    e.qacc_warmstart[i] = rate * (v(i) - e.qvel[i]);
  });
  team.once([&] { e.rows_act[0] = S(1.0); });
  start(team, m, e, s);
}

// Returns a view of H and its factor in numbers N, with the structure of a view in numbers S.
template <class N, class S>
STICTION_FN EnvView<N> factor_view(const EnvView<S>& e, N* H, N* L) {
  EnvView<N> f = {};
  f.row_parent = e.row_parent, f.row_num = e.row_num;
  f.run_adr = e.run_adr, f.run_first = e.run_first, f.run_end = e.run_end;
  f.below_adr = e.below_adr, f.below_row = e.below_row, f.below_place = e.below_place;
  f.H = H, f.L = L;
  return f;
}

// Computes x = H⁻¹ b with the H = Lᵀ D L of factor_and_solve, which keeps D L in H, L in L and D⁻¹ on the diagonal of
// L: first y = D⁻¹ L⁻ᵀ b from the last row up, then L x = y.
template <class N, class S>
STICTION_FN void solve_with(const ModelView& m, const EnvView<N>& factor, const S* b, S* x) {
  for (int i = m.nv - 1; i >= 0; --i) {
    S sum = b[i];
    for (int n = factor.below_adr[i]; n < factor.below_adr[i + 1]; ++n)
      sum = sum - factor.H[factor.below_place[n]] * x[factor.below_row[n]];
    x[i] = factor.L[place(factor, i, i)] * sum;
  }
  for (int i = 0; i < m.nv; ++i) {
    const N* const l = factor.L + tri(i, 0);
    S sum = x[i];
    for_columns(factor, i, [&](auto k, auto j) { sum = sum - l[k] * x[j]; });
    x[i] = sum;
  }
}

STICTION_PHYSICS_END
