// The stages of a step on a tape, and the reverse sweep.
//
// v of each solve is an independent variable on the tape, and the residual r at v has nodes. With v̄, the adjoint of v
// from the rest of the step, the implicit function theorem (physics/solver/tangent.h) gives
//
//   λ = H⁻ᵀ v̄,   r̄ = −λ
//
// and the sweep continues from r̄ to the variables r depends on besides v. H is symmetric; M, if bounds follow, is not.
#include "cpu/adjoints.h"

#include "cpu/adjoint.h"
#include "cpu/derived_step.h"

STICTION_PHYSICS_BEGIN
namespace {

static_assert(sizeof(Adjoint) == sizeof(cpu::Recorded) &&
              offsetof(Adjoint, node) == offsetof(cpu::Recorded, node));

// Evaluates the laws and r at v, and factors ∂r/∂v.
void record_solve(const TeamOfOne& one, const ModelView& m, EnvView<Adjoint>& e,
                  SolveState<Adjoint>& s, const double* v, int k, cpu::Recording& to,
                  cpu::LinearSystem& following) {
  cpu::Recording::Solve& solve = to.solves[static_cast<std::size_t>(k)];
  std::uint32_t* const residual = to.residual.data() + k * m.nv;
  solve.first = to.tape.count();
  for (int i = 0; i < m.nv; ++i) to.tape.leaf();
  const auto leaf = [&](int i) {
    return Adjoint(v[i], solve.first + static_cast<std::uint32_t>(i));
  };
  if (to.follows)
    start_following(one, m, e, s, leaf);
  else
    start_at(one, m, e, s, leaf);
  for (int i = 0; i < m.nv; ++i) residual[i] = e.gradient[i].node;
  solve.last = to.tape.count();
  if (to.follows) {
    to.tape.derivatives(solve.first, m.nv, solve.last, residual, m.nv, following.matrix(m.nv));
    following.factor();
    return;
  }
  factor_plain(one, m, e, to.factors.data() + k * (2 * m.ntri + m.nv));
  to.tape.cut(solve.last);  // only its values were needed
}

bool record_step(const ModelView& m, void* const* fields, void* const* plain,
                 const double* solutions, int solves, bool sensors, cpu::Recording& to,
                 cpu::LinearSystem& following) {
  recording_tape = &to.tape;
  DerivedView<Adjoint> e{bind<Adjoint>(fields), bind<double>(plain)};
  const TeamOfOne one;
  before_solve(one, m, e);
  couple_points(one, m, e);
  SolveState<Adjoint> s;
  to.follows = m.opt.friction_follows && e.ncon[0].value > 0;
  to.nsolve = to.follows ? 1 : solves;
  for (int k = 0; k < to.nsolve; ++k) {
    if (k > 0) set_bounds(one, m, e, true);
    record_solve(one, m, e, s, solutions + k * m.nv, k, to, following);
  }
  return finish_step(one, m, e, s, sensors);
}

// Sweeps from v̄ of a solve to the variables that its r depends on.
void sweep_solve(const ModelView& m, const EnvView<Adjoint>& e, int k, cpu::Recording& on,
                 cpu::LinearSystem& following) {
  const cpu::Recording::Solve& solve = on.solves[static_cast<std::size_t>(k)];
  const std::uint32_t rest = solve.first + static_cast<std::uint32_t>(m.nv);
  const auto leaf = [&](int i) { return solve.first + static_cast<std::uint32_t>(i); };
  double* const x = on.weights.data();
  for (int i = 0; i < m.nv; ++i) x[i] = on.tape.take(leaf(i));
  if (on.follows) {
    following.solve_transposed(x);
  } else {
    double* const factor = on.factors.data() + k * (2 * m.ntri + m.nv);
    double* const b = factor + 2 * m.ntri;
    for (int i = 0; i < m.nv; ++i) b[i] = x[i];
    solve_with(m, factor_view(e, factor, factor + m.ntri), b, x);
  }
  for (int i = 0; i < m.nv; ++i)
    on.tape.bar(on.residual[static_cast<std::size_t>(k * m.nv + i)]) -= x[i];
  on.tape.sweep(rest, solve.last);
  for (int i = 0; i < m.nv; ++i) on.tape.take(leaf(i));  // −Hᵀλ = −v̄ once more
}

void sweep_step(const ModelView& m, void* const* fields, cpu::Recording& on, int leaves,
                cpu::LinearSystem& following) {
  const EnvView<Adjoint> e = bind<Adjoint>(fields);
  std::uint32_t last = on.tape.count();
  for (int k = on.nsolve - 1; k >= 0; --k) {
    const std::uint32_t first = on.solves[static_cast<std::size_t>(k)].first;
    on.tape.sweep(first + static_cast<std::uint32_t>(m.nv), last);
    sweep_solve(m, e, k, on, following);
    last = first;
  }
  on.tape.sweep(1 + static_cast<std::uint32_t>(leaves), last);
}

}  // namespace

extern const cpu::AdjointKernels kAdjointKernels;
const cpu::AdjointKernels kAdjointKernels = {record_step, sweep_step};

STICTION_PHYSICS_END
