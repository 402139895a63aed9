// Checks around the steps of an environment: whether its state is fit to step, which status the
// step set, whether its outputs are finite. The counterpart of src/batch/run.cpp, for a team.
#pragma once

#include "cuda/anchor_lists.h"
#include "cuda/launch.h"
#include "physics/base/env_status.h"
#include "physics/base/status.h"
#include "physics/base/team.h"
#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

using cuda::Launch;
using cuda::StepOfRun;

// Returns whether any of this thread's share of n numbers is outside of the limit; NaN is.
template <class Team, class T>
STICTION_FN bool own_outside(const Team& team, const T* x, int n, double limit) {
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  const T bound = static_cast<T>(limit < largest ? limit : largest);
  bool outside = false;
  team.each_own(n, [&](int i) { outside |= !(vabs(x[i]) <= bound); });
  return outside;
}

// Returns whether kinematics can use the pose, and a step can square the numbers.
template <Drives can, class Team, class S>
STICTION_FN bool state_is_good(const Team& team, const ModelView& m, const EnvView<S>& e) {
  constexpr double kAny = std::numeric_limits<double>::max();
  bool bad = list_anchors(team, m, e);
  bad |= own_outside(team, e.qpos, m.nq, kStateLimit);
  bad |= own_outside(team, e.qvel, m.nv, kVelocityLimit);
  bad |= own_outside(team, e.qacc_warmstart, m.nv, 2 * kVelocityLimit / m.opt.timestep);
  bad |= own_outside(team, e.time, 1, kAny);
  bad |= own_outside(team, e.friction_anchor, m.nfrictionanchor, kAny);
  bad |= own_outside(team, e.rebound, m.nrebound, kAny);
  bad |= own_outside(team, e.body_airtime, m.nbody, kAny);
  bad |= own_outside(team, e.mocap_xpos, 3 * m.nmocapstate, kStateLimit);
  bad |= own_outside(team, e.mocap_xquat, 4 * m.nmocapstate, kStateLimit);
  bad |= own_outside(team, e.mocap_xvel, 6 * m.nmocapstate, kVelocityLimit);
  if constexpr (can == Drives::states) bad |= own_outside(team, e.act, m.na, kAny);
  team.each_own(m.njnt, [&](int j) {
    const auto type = static_cast<JointType>(m.jnt_type[j]);
    if (type != JointType::free && type != JointType::ball) return;
    bad |= !has_direction(e.qpos + m.jnt_qposadr[j] + (type == JointType::free ? 3 : 0));
  });
  return !team.any(bad);
}

template <class Team, class S>
STICTION_FN bool mocap_is_good(const Team& team, const ModelView& m, const EnvView<S>& e) {
  bool bad = own_outside(team, e.mocap_pos, 3 * m.nmocap, kStateLimit) ||
             own_outside(team, e.mocap_quat, 4 * m.nmocap, kStateLimit);
  if constexpr (requires { e.mocap_vel; })  // a refresh does not read it
    bad |= m.opt.mocap_given && own_outside(team, e.mocap_vel, 6 * m.nmocap, kVelocityLimit);
  team.each_own(m.nmocap, [&](int k) { bad |= !has_direction(e.mocap_quat + 4 * k); });
  return !team.any(bad);
}

// Bad mocap poses are replaced by the model's in the view; the user's values stay.
template <class Team, class S>
STICTION_FN bool replace_bad_mocap(const Team& team, const ModelView& m, const Launch& l,
                                   EnvView<S>& e) {
  if (m.nmocap == 0 || mocap_is_good(team, m, e)) return false;
  const auto reference = [&](Field f) {
    return const_cast<double*>(reinterpret_cast<const double*>(l.reference[static_cast<int>(f)]));
  };
  team.once([&] {
    e.mocap_pos = reference(Field::mocap_pos);
    e.mocap_quat = reference(Field::mocap_quat);
    if constexpr (requires { e.mocap_vel; })
      e.mocap_vel = const_cast<float*>(
          reinterpret_cast<const float*>(l.reference[static_cast<int>(Field::mocap_vel)]));
  });
  return true;
}

// Copies the reference values of a field.
template <class Team, class T>
STICTION_FN void copy_reference(const Team& team, const Launch& l, Field f, T* to, int n) {
  const T* const from = reinterpret_cast<const T*>(l.reference[static_cast<int>(f)]);
  team.for_each(n, [&](int i) { to[i] = from[i]; });
}

// The same for all fields of a kind; for activations only if there are any.
template <FieldKind wanted, Drives can, class Team, class S>
STICTION_FN void write_reference(const Team& team, const ModelView& m, const Launch& l,
                                 EnvView<S>& e) {
#define X(kind, type, name, rows, columns, producer, meaning)                                      \
  if constexpr (FieldKind::kind == wanted && (Field::name != Field::act || can == Drives::states)) \
    copy_reference(team, l, Field::name, e.name, m.rows* m.columns);
#include "physics/base/fields.def"
#undef X
}

// Resets one environment (physics/base/env_status.h).
template <Drives can, class Team, class S>
STICTION_FN void reset_environment(const Team& team, const ModelView& m, const Launch& l, int env,
                                   EnvView<S>& e) {
  reset_environment(team, l.records, env,
                    [&](auto kind) { write_reference<decltype(kind)::value, can>(team, m, l, e); });
}

// Returns whether this launch includes the environment. The first kernel of a run decides it; the others see
// that nothing of the environment is stored.
template <class Team>
STICTION_FN bool is_chosen(const Team& team, const Launch& l, const StepOfRun& step, int env) {
  if (!step.first || l.chosen == nullptr || l.chosen[env] != 0) return true;
  team.once([&] { l.records.store[env] = 0; });
  return false;
}

// Runs before the first stage of a step: replaces a bad state or mocap pose that the user wrote, and
// decides whether the environment moves. Returns whether anything of it needs to be computed.
template <Drives can, class Team, class S>
STICTION_FN bool begin_step(const Team& team, const ModelView& m, const Launch& l,
                            const StepOfRun& step, int env, EnvView<S>& e) {
  const cuda::Records& r = l.records;
  if (!is_chosen(team, l, step, env)) return false;
  if (step.first) {
    team.once([&] { r.store[env] = l.store_frozen || !is_frozen(r, env) ? 1 : 0; });
    if (!state_is_good<can>(team, m, e)) {
      team.sync();  // all threads have read the state
      write_reference<FieldKind::state, can>(team, m, l, e);
      team.once([&] { record_status(r, env, Status::bad_state); });
    }
  }
  const bool bad_mocap = replace_bad_mocap(team, m, l, e);
  team.once([&] {
    if (step.first && bad_mocap && !is_frozen(r, env)) record_status(r, env, Status::bad_control);
    e.active[0] = is_frozen(r, env) ? 0.0f : 1.0f;
  });
  return r.store[env] != 0;
}

// Records status and counters of a step that moved the environment.
template <class Team, class S>
STICTION_FN void count_step(const Team& team, const ModelView& m, const Launch& l, int env,
                            const EnvView<S>& e) {
  team.once([&] {
    if (!(e.active[0] > 0.5f)) return;
    const cuda::Records& r = l.records;
    std::uint32_t bits = 0;
    for (int i = 0; i < m.nstatus; ++i)
      if (e.flags[i] > 0.5f) bits |= 1u << i;
    record_status(r, env, static_cast<Status>(bits));
    ++r.steps[env];

    const int bins = m.opt.max_iterations + 1;
    std::uint32_t* const c = r.counters + env * (cuda::kCounters + bins);
    const auto has = [&](Status s) {
      return (bits & static_cast<std::uint32_t>(s)) != 0 ? 1u : 0u;
    };
    const int taken = static_cast<int>(clamp(e.solver_niter[0], 0.0f, float(bins - 1)));
    ++c[cuda::kEnvSteps];
    c[cuda::kIterations] += static_cast<std::uint32_t>(taken);
    c[cuda::kLinesearchEvaluations] += static_cast<std::uint32_t>(vmax(e.solver_nls[0], 0.0f));
    c[cuda::kContacts] += static_cast<std::uint32_t>(vmax(e.ncon[0], 0.0f));
    c[cuda::kNotConverged] += has(Status::not_converged);
    c[cuda::kStalled] += has(Status::stalled);
    c[cuda::kInaccurate] += has(Status::inaccurate);
    c[cuda::kLateContact] += has(Status::late_contact);
    c[cuda::kFroze] += (bits & static_cast<std::uint32_t>(kFrozen)) != 0 ? 1u : 0u;
    c[cuda::kSolvedAgain] += e.solver_nsolve[0] > 1.5f ? 1u : 0u;
    ++c[cuda::kCounters + taken];
  });
}

// Outputs are always finite: other numbers are replaced by 0, and the environment freezes.
template <class Team, class S>
STICTION_FN void clean_outputs(const Team& team, const ModelView& m, const Launch& l, int env,
                               EnvView<S>& e) {
  const auto of_outputs = [&](const auto& f) {
#define STICTION_CLEAN_state(name, rows, columns)
#define STICTION_CLEAN_input(name, rows, columns)
#define STICTION_CLEAN_param(name, rows, columns)
#define STICTION_CLEAN_output(name, rows, columns) f(e.name, m.rows* m.columns);
#define STICTION_CLEAN_scratch(name, rows, columns)
#define X(kind, type, name, rows, columns, producer, meaning) \
  STICTION_CLEAN_##kind(name, rows, columns)
#include "physics/base/fields.def"
#undef X
#undef STICTION_CLEAN_state
#undef STICTION_CLEAN_input
#undef STICTION_CLEAN_param
#undef STICTION_CLEAN_output
#undef STICTION_CLEAN_scratch
  };
  bool bad = false;
  of_outputs(
      [&](const auto* x, int n) { team.each_own(n, [&](int i) { bad |= !is_finite(x[i]); }); });
  if (!team.any(bad)) return;
  of_outputs([&](auto* x, int n) {
    using T = std::remove_reference_t<decltype(*x)>;
    team.for_each(n, [&](int i) { x[i] = is_finite(x[i]) ? x[i] : T(0); });
  });
  team.once([&] {
    if (!is_frozen(l.records, env)) record_status(l.records, env, Status::bad_state);
  });
}

STICTION_PHYSICS_END
