// The stages of a step in dual numbers.
#include "cpu/tangents.h"

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

namespace {

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

void run_step(const ModelView& m, void* const* fields, const double* solutions, int solves,
              bool first, bool sensors, double* factors) {
  EnvView<Dual> e = bind<Dual>(fields);
  const TeamOfOne one;
  clear_flags(one, m, e);
  kinematics(one, m, e);
  tendons(one, m, e);
  inertia(one, m, e);
  bias(one, m, e);
  fluid(one, m, e);
  activation_dynamics(one, m, e);
  actuation(one, m, e);
  gyroscopic_start(one, m, e);
  rows(one, m, e);
  collide_with<Colliders::box>(one, m, e);
  couple_points(one, m, e);
  SolveState<Dual> s;
  for (int k = 0; k < solves; ++k) {
    if (k > 0) set_bounds(one, m, e, true);
    move_solution(one, m, e, s, solutions + k * m.nv, first, factors + k * (2 * m.ntri + m.nv));
  }
  end_solve(one, m, e, s);
  gyroscopic_end(one, m, e);
  if (sensors) interval_sensors(one, m, e);
  integrate(one, m, e);
  if (sensors) refresh(one, m, e);
}

}  // namespace

extern const cpu::TangentKernels kTangentKernels;
const cpu::TangentKernels kTangentKernels = {STICTION_KERNELS, run_step};

STICTION_PHYSICS_END
