#include "cpu/kernels.h"

#include <limits>

#include "cpu/bind.h"
#include "cpu/stages.h"
#include "cpu/transpose.h"
#include "physics/step.h"

STICTION_PHYSICS_BEGIN
namespace {

using WideNumber = Wide<Number>;
constexpr int kW = kLanes<Number>;

void run_step(const ModelView& m, void* const* fields, bool last, int left) {
  EnvView<Number> e = bind<Number>(fields);
  step(TeamOfOne(), m, e, last, left);
}
#if !defined(STICTION_PLAIN_FLOAT) && !defined(STICTION_PLAIN_DOUBLE)
void run_step_two(const ModelView& m, void* const* first, void* const* second, void* const* shared,
                  bool last, int left) {
  EnvView<Number> e[2] = {bind<Number>(first), bind<Number>(second)};
  EnvView<Number> third = bind<Number>(shared);
  const TeamOfOne one;
  for (EnvView<Number>& pack : e) before_solve(one, m, pack, left);
  solve_two(m, e[0], e[1], third);
  for (EnvView<Number>& pack : e) {
    gyroscopic_end(one, m, pack);
    end_step(one, m, pack, last, left);
  }
}
#else
constexpr auto run_step_two = nullptr;
#endif
void run_forces(const ModelView& m, void* const* fields) {
  EnvView<Number> e = bind<Number>(fields);
  forces(TeamOfOne(), m, e);
  interval_sensors(TeamOfOne(), m, e);
}
void run_refresh(const ModelView& m, void* const* fields) {
  EnvView<Number> e = bind<Number>(fields);
  refresh(TeamOfOne(), m, e);
}

void run_dynamics(const ModelView& m, void* const* fields) {
  EnvView<Number> e = bind<Number>(fields);
  const TeamOfOne one;
  kinematics(one, m, e);
  velocities(one, m, e);
  tendons(one, m, e);
  inertia(one, m, e);
  present_mocap(one, m, e);
  bias(one, m, e);
}
void run_quantity(const ModelView& m, void* const* fields, Quantity which, void* out) {
  store_quantity(m, bind<Number>(fields), which, static_cast<WideNumber*>(out));
}
void run_jacobian(const ModelView& m, void* const* fields, int objtype, int id, const void* point,
                  void* out) {
  store_jacobian(m, bind<Number>(fields), objtype, id, static_cast<const WideNumber*>(point),
                 static_cast<WideNumber*>(out));
}

void run_rays(const ModelView& m, void* const* fields, const RayOptions& options, int frame, int n,
              const void* rays, void* hits) {
  store_hits(m, bind<Number>(fields), options, frame, n, static_cast<const WideNumber*>(rays),
             static_cast<WideNumber*>(hits));
}
void run_scan(const ModelView& m, void* const* fields, const HeightScan& scan, int body,
              void* out) {
  store_heights(m, bind<Number>(fields), scan, body, static_cast<WideNumber*>(out));
}

// Constraints depend on the force: most of them are final after the second pass, and a limit that is pressed
// gets stiffer with the force until it is rigid. NaN in lanes that no pass brings to the tolerance.
constexpr int kInversePasses = 64;
void run_inverse(const ModelView& m, void* const* fields) {
  EnvView<Number> e = bind<Number>(fields);
  const TeamOfOne one;
  clear_flags(one, m, e);
  mocap(one, m, e, 1);
  kinematics(one, m, e);
  tendons(one, m, e);
  inertia(one, m, e);
  bias(one, m, e);
  fluid(one, m, e);
  activation_dynamics(one, m, e);
  for (int k = 0; k < kInversePasses; ++k) {
    if (k > 0 && m.neq > 0) {  // A without the blocks that `rows` adds
      inertia(one, m, e);
      fluid(one, m, e);
    }
    actuation(one, m, e);
    gyroscopic_start(one, m, e);
    rows(one, m, e);
    collide(one, m, e);
    inverse(one, m, e);
    for (int i = 0; i < m.nv; ++i) {
      // the missing force changes sign if a limit that stiffens with the force answers all of it: half of it is
      // right in that case; no stage here writes qfrc_constraint
      const Number missing = e.gradient[i], before = k > 0 ? e.qfrc_constraint[i] : Number(0.0);
      const Number share = select(missing * before < Number(0.0), Number(0.5), Number(1.0));
      e.qfrc_constraint[i] = missing;
      e.qfrc_applied[i] = e.qfrc_applied[i] + Number(m.opt.step_rate) * (share * missing);
    }
    if (!any_lane(e.solver_residual[0] > Number(64 * epsilon<Number>()))) break;
  }
  const auto found = e.solver_residual[0] <= Number(m.opt.solver_tolerance);
  const Number none = Number(std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < m.nv; ++i) e.qfrc_applied[i] = select(found, e.qfrc_applied[i], none);
}

void set_active(void* const* fields, const bool* active) {
  const EnvView<Number> e = bind<Number>(fields);
  for (int lane = 0; lane < kW; ++lane)
    set_lane(e.active[0], lane, static_cast<Lane<Number>>(active[lane] ? 1 : 0));
}

void report(void* const* fields, cpu::LaneReport* lanes) {
  const EnvView<Number> e = bind<Number>(fields);
  for (int lane = 0; lane < kW; ++lane)
    lanes[lane] = {0, static_cast<int>(get_lane(e.solver_niter[0], lane)),
                   static_cast<int>(get_lane(e.solver_nls[0], lane)),
                   static_cast<int>(get_lane(e.ncon[0], lane)),
                   static_cast<int>(get_lane(e.solver_nsolve[0], lane))};
  for (int bit = 0; bit < SizesView::nstatus; ++bit) {
    if (!any_lane(e.flags[bit] > Number(0.5))) continue;
    for (int lane = 0; lane < kW; ++lane)
      if (get_lane(e.flags[bit], lane) > 0) lanes[lane].flags |= 1u << bit;
  }
}

template <class S>
void load_as(int n, const void* const* rows, void* block) {
  const Lane<S>* typed[kW];
  for (int lane = 0; lane < kW; ++lane) typed[lane] = static_cast<const Lane<S>*>(rows[lane]);
  load_rows<Lane<S>, kW>(n, typed, static_cast<Lane<S>*>(block));
}
void load(bool wide, int n, const void* const* rows, void* block) {
  if (wide) return load_as<WideNumber>(n, rows, block);
  load_as<Number>(n, rows, block);
}

template <class S>
void store_as(int n, const void* block, void* const* rows) {
  Lane<S>* typed[kW];
  for (int lane = 0; lane < kW; ++lane) typed[lane] = static_cast<Lane<S>*>(rows[lane]);
  store_rows<Lane<S>, kW>(n, static_cast<const Lane<S>*>(block), typed);
}
void store(bool wide, int n, const void* block, void* const* rows) {
  if (wide) return store_as<WideNumber>(n, block, rows);
  store_as<Number>(n, block, rows);
}

template <class S>
void broadcast_as(int n, const double* values, void* block) {
  S* to = static_cast<S*>(block);
  for (int i = 0; i < n; ++i) to[i] = S(values[i]);
}
void broadcast(bool wide, int n, const double* values, void* block) {
  if (wide) return broadcast_as<WideNumber>(n, values, block);
  broadcast_as<Number>(n, values, block);
}

template <class S>
void clean_as(int n, void* block, bool* bad) {
  S* x = static_cast<S*>(block);
  S sum = S(0.0);  // x - x: 0, or NaN
  for (int i = 0; i < n; ++i) sum = sum + (x[i] - x[i]);
  if (!any_lane(sum != S(0.0))) return;
  for (int i = 0; i < n; ++i) {
    const Mask<S> wrong = !is_finite(x[i]);
    if (!any_lane(wrong)) continue;
    x[i] = select(wrong, S(0.0), x[i]);
    for (int lane = 0; lane < kW; ++lane) bad[lane] = bad[lane] || get_lane(wrong, lane);
  }
}
void clean(bool wide, int n, void* block, bool* bad) {
  if (wide) return clean_as<WideNumber>(n, block, bad);
  clean_as<Number>(n, block, bad);
}

}  // namespace

extern const cpu::Kernels kKernels;
const cpu::Kernels kKernels = {
    STICTION_KERNELS, kW,         sizeof(Number), sizeof(WideNumber), run_step,
    run_step_two,     run_forces, run_refresh,    run_dynamics,       run_quantity,
    run_jacobian,     run_rays,   run_scan,       run_inverse,        set_active,
    report,           load,       store,          broadcast,          clean};

STICTION_PHYSICS_END
