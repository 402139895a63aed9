// Couplings: equality constraints between two joints or tendons, or between one of them and a constant.
//
//   g = x_1 − P(x_2),   P(x) = c_0 + c_1 x + ... + c_4 x⁴,   J = J_1 − P'(x_2) J_2,   w = J diag(A)⁻¹ Jᵀ
//
// x: for a joint q − qpos0, for a tendon its length minus tendon_length0; 0 if there is no second one.
#pragma once

#include "physics/tree/delassus.h"

STICTION_PHYSICS_BEGIN

STICTION_FN bool is_coupling(const ModelView& m, int k) {
  const auto type = static_cast<EqualityType>(m.eq_type[k]);
  return type == EqualityType::joint || type == EqualityType::tendon;
}

template <class S>
STICTION_FN Wide<S> coupled(const ModelView& m, const EnvView<S>& e, int k, int side) {
  if (const int j = m.eq_jnt[2 * k + side]; j >= 0) {
    const int adr = m.jnt_qposadr[j];
    return e.qpos[adr] - e.qpos0[adr];
  }
  const int t = m.eq_tendon[2 * k + side];
  return t >= 0 ? e.ten_length[t] - Wide<S>(m.tendon_length0[t]) : Wide<S>(0.0);
}

// Returns the entry of J_1 or J_2 in column x: 1 for a joint, the moment arm for a tendon.
template <class S>
STICTION_FN S coupled_arm(const ModelView& m, const EnvView<S>& e, int x, int side) {
  if ((m.block_side[x] & (1 << side)) == 0) return S(0.0);
  const int entry = m.block_moment[2 * x + side];
  return entry < 0 ? S(1.0) : e.moment[entry];
}

// Writes the columns of J: the fourth component of each.
template <class S>
struct Coupling {
  S gap, w;
};
template <class S>
STICTION_FN Coupling<S> coupling(const ModelView& m, EnvView<S>& e, int k) {
  using W = Wide<S>;
  const W* const c = e.eq_data + 11 * k;
  const W x = coupled(m, e, k, 1);
  const W value = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
  const S slope = narrow<S>(c[1] + x * (W(2.0) * c[2] + x * (W(3.0) * c[3] + x * (W(4.0) * c[4]))));
  const int begin = m.block_adr[k], end = m.block_adr[k + 1];
  for (int i = begin; i < end; ++i) {
    const S arm = coupled_arm(m, e, i, 0) - slope * coupled_arm(m, e, i, 1);
    store6(e.block_jacobian, i, {zero3<S>(), {arm, S(0.0), S(0.0)}});
  }
  const auto arm = [&](int i, int) { return e.block_jacobian[6 * i + 3]; };
  return {narrow<S>(coupled(m, e, k, 0) - value),
          inverse_product<S>(m, e, begin, end, m.block_dof, arm, arm)};
}

STICTION_PHYSICS_END
