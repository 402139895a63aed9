// The stages of a step in dual numbers.
#include "cpu/tangents.h"

#include "cpu/derived_step.h"
#include "cpu/dual.h"

STICTION_PHYSICS_BEGIN

static_assert(Dual::kDirections == cpu::kDirections && sizeof(Dual) == cpu::kDualBytes);

namespace {

// Makes one step of Newton's method at a solution v: in dual numbers v − H⁻¹ r(v) has the value v and tangents −H⁻¹ ∂r.
// Then evaluates the laws there. factor: H, L, and a right-hand side.
void move_solution(const TeamOfOne& one, const ModelView& m, EnvView<Dual>& e, SolveState<Dual>& s,
                   const double* v, bool first, double* factor) {
  start_at(one, m, e, s, [&](int i) { return Dual(v[i]); });
  if (first) factor_plain(one, m, e, factor);
  solve_with(m, factor_view(e, factor, factor + m.ntri), e.gradient, e.dv);
  for (int i = 0; i < m.nv; ++i) e.v[i] = Dual(v[i], -e.dv[i].tangent);
  start_at(one, m, e, s, [&](int i) { return e.v[i]; });
}

// The root v of r(v; n0 = n(v_n)), when the friction bounds are those of v itself: dv = −M⁻¹ ∂r with
// M = H − Jᵀ ∂γ/∂n0 n' J_n, whose columns are the tangents of r along the dofs.
void move_root(const TeamOfOne& one, const ModelView& m, EnvView<Dual>& e, SolveState<Dual>& s,
               const double* v, bool first, cpu::LinearSystem& system) {
  constexpr int kDirections = Dual::kDirections;
  start_following(one, m, e, s, [&](int i) { return Dual(v[i]); });
  double* const x = system.columns(m.nv);
  const auto moved = [&](int i) { return x + i * kDirections; };
  for (int i = 0; i < m.nv; ++i)
    for (int d = 0; d < kDirections; ++d) moved(i)[d] = e.gradient[i].tangent[d];
  if (first) {
    double* const M = system.matrix(m.nv);
    for (int dof = 0; dof < m.nv; dof += kDirections) {
      start_following(one, m, e, s, [&](int i) {
        Dual along(v[i]);
        if (i >= dof && i < dof + kDirections) along.tangent[i - dof] = 1;
        return along;
      });
      for (int i = 0; i < m.nv; ++i)
        for (int d = 0; d < kDirections && dof + d < m.nv; ++d)
          M[i * m.nv + dof + d] = e.gradient[i].tangent[d] - moved(i)[d];
    }
    system.factor();
  }
  system.solve();
  start_following(one, m, e, s, [&](int i) {
    Dual root(v[i]);
    for (int d = 0; d < kDirections; ++d) root.tangent[d] = -moved(i)[d];
    return root;
  });
}

bool run_step(const ModelView& m, void* const* fields, void* const* plain, const double* solutions,
              int solves, bool first, bool sensors, double* factors, cpu::LinearSystem& following) {
  DerivedView<Dual> e{bind<Dual>(fields), bind<double>(plain)};
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
  return finish_step(one, m, e, s, sensors);
}

}  // namespace

extern const cpu::TangentKernels kTangentKernels;
const cpu::TangentKernels kTangentKernels = {STICTION_KERNELS, run_step};

STICTION_PHYSICS_END
