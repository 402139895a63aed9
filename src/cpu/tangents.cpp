// The stages of a step in dual numbers.
#include "cpu/tangents.h"

#include <vector>

#include "cpu/bind.h"
#include "cpu/dual.h"
#include "physics/base/team.h"
#include "physics/solver/tangent.h"
#include "physics/step.h"

STICTION_PHYSICS_BEGIN

static_assert(Dual::kDirections == cpu::kDirections && sizeof(Dual) == cpu::kDualBytes);

// Rays and searches go through lanes in plain doubles; who asks for tangents of such sensors is refused
// (src/batch/gradient.cpp), and these only stand in their place.
Dual range(const ModelView&, const EnvView<Dual>&, int) {
  return Dual(0.0);
}
Reading<Dual> distance_reading(const ModelView&, const EnvView<Dual>&, int) {
  return {};
}

// The environment in dual numbers, and the same step in plain ones.
struct TangentView : EnvView<Dual> {
  EnvView<double> plain;
};

bool is_lifted(const ModelView& m, int pair) {
  return cpu::is_lifted(static_cast<GeomType>(m.geom_type[m.pair_geom1[pair]]),
                        static_cast<GeomType>(m.geom_type[m.pair_geom2[pair]]));
}

void lift_candidates(const ModelView& m, TangentView& e, int pair) {
  const EnvView<double>& from = e.plain;
  e.pair_near[pair] = Dual(from.pair_near[pair]);
  const int first = m.pair_slotadr[pair], last = first + m.pair_slotnum[pair];
  for (int slot = first; slot < last; ++slot) e.cand_gap[slot] = Dual(from.cand_gap[slot]);
  for (int i = 3 * first; i < 3 * last; ++i) {
    e.cand_normal[i] = Dual(from.cand_normal[i]);
    e.cand_r1[i] = Dual(from.cand_r1[i]), e.cand_r2[i] = Dual(from.cand_r2[i]);
  }
}

// The narrow phase of the pairs that the cull let through, here in the place of that of collide.h.
template <Colliders, class Team>
void narrow_pairs(const Team&, const ModelView& m, EnvView<Dual>& e, int nnear) {
  for (int i = 0; i < nnear; ++i) {
    const int pair = e.near_pair[i];
    if (is_lifted(m, pair))
      lift_candidates(m, static_cast<TangentView&>(e), pair);
    else
      narrow_phase<Colliders::box>(m, e, pair);
    if (any_near(e, pair)) activate(m, e, pair);
  }
}

namespace {

// Whether a point of these pairs has an impulse, or would have one.
bool any_lifted_acts(const ModelView& m, const EnvView<Dual>& e) {
  for (int p = 0; p < e.npoint[0]; ++p) {
    if (!is_lifted(m, m.slot_pair[e.point_slot[p]])) continue;
    for (int k = 0; k < 6; ++k)
      if (e.point_hess[6 * p + k].value != 0) return true;
    for (int k = 0; k < 3; ++k)
      if (e.point_impulse[3 * p + k].value != 0) return true;
  }
  return false;
}

// One step of Newton's method at a solution v: in dual numbers v − H⁻¹ r(v) has the value v and the tangents −H⁻¹ ∂r.
// Then the laws there. factor: H, L, and a right-hand side.
void move_solution(const TeamOfOne& one, const ModelView& m, EnvView<Dual>& e, SolveState<Dual>& s,
                   const double* v, bool first, double* factor) {
  start_at(one, m, e, s, [&](int i) { return Dual(v[i]); });
  EnvView<double> f = factor_view(e, factor, factor + m.ntri);
  if (first) {
    hessian(one, m, e, true);
    for (int i = 0; i < m.ntri; ++i) f.H[i] = e.H[i].value;
    double* const none = factor + 2 * m.ntri;
    for (int i = 0; i < m.nv; ++i) none[i] = 0;
    factor_and_solve(one, m, f, none, none);
  }
  solve_with(m, f, e.gradient, e.dv);
  for (int i = 0; i < m.nv; ++i) e.v[i] = Dual(v[i], -e.dv[i].tangent);
  start_at(one, m, e, s, [&](int i) { return e.v[i]; });
}

// The root v of r(v; n0 = n(v_n)) where the bounds of friction are those of v itself: dv = −M⁻¹ ∂r with
// M = H − Jᵀ ∂γ/∂n0 n' J_n, whose columns are the tangents of r along the dofs.
template <class V>
void start_following(const TeamOfOne& one, const ModelView& m, EnvView<Dual>& e,
                     SolveState<Dual>& s, const V& v) {
  start_at(one, m, e, s, v);
  set_bounds(one, m, e, true);
  start_at(one, m, e, s, v);
}
void move_root(const TeamOfOne& one, const ModelView& m, EnvView<Dual>& e, SolveState<Dual>& s,
               const double* v, bool first, cpu::LinearSystem& system) {
  constexpr int kDirections = Dual::kDirections;
  start_following(one, m, e, s, [&](int i) { return Dual(v[i]); });
  std::vector<double> x(static_cast<std::size_t>(m.nv * kDirections));
  const auto moved = [&](int i) { return x.begin() + i * kDirections; };
  for (int i = 0; i < m.nv; ++i)
    for (int d = 0; d < kDirections; ++d) moved(i)[d] = e.gradient[i].tangent[d];
  if (first) {
    std::vector<double> M(static_cast<std::size_t>(m.nv * m.nv));
    for (int dof = 0; dof < m.nv; dof += kDirections) {
      start_following(one, m, e, s, [&](int i) {
        Dual along(v[i]);
        if (i >= dof && i < dof + kDirections) along.tangent[i - dof] = 1;
        return along;
      });
      for (int i = 0; i < m.nv; ++i)
        for (int d = 0; d < kDirections && dof + d < m.nv; ++d)
          M[static_cast<std::size_t>(i * m.nv + dof + d)] = e.gradient[i].tangent[d] - moved(i)[d];
    }
    system.factor(M.data(), m.nv);
  }
  system.solve(x.data());
  start_following(one, m, e, s, [&](int i) {
    Dual root(v[i]);
    for (int d = 0; d < kDirections; ++d) root.tangent[d] = -moved(i)[d];
    return root;
  });
}

bool run_step(const ModelView& m, void* const* fields, void* const* plain, const double* solutions,
              int solves, bool first, bool sensors, double* factors, cpu::LinearSystem& following) {
  TangentView e{bind<Dual>(fields), bind<double>(plain)};
  const TeamOfOne one;
  before_solve(one, m, e);
  couple_points(one, m, e);
  SolveState<Dual> s;
  const bool follows = m.opt.friction_follows && e.ncon[0].value > 0;
  if (follows) move_root(one, m, e, s, solutions, first, following);
  for (int k = 0; k < solves && !follows; ++k) {
    if (k > 0) set_bounds(one, m, e, true);
    move_solution(one, m, e, s, solutions + k * m.nv, first, factors + k * (2 * m.ntri + m.nv));
  }
  end_solve(one, m, e, s);
  gyroscopic_end(one, m, e);
  if (sensors) interval_sensors(one, m, e);
  integrate(one, m, e);
  move_mocap(one, m, e, 1);
  const bool lifted = any_lifted_acts(m, e);
  if (sensors) refresh(one, m, e);
  return lifted;
}

}  // namespace

extern const cpu::TangentKernels kTangentKernels;
const cpu::TangentKernels kTangentKernels = {STICTION_KERNELS, run_step};

STICTION_PHYSICS_END
