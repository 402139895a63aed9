// Steps over packs of environments.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "batch/impl.h"

namespace stiction {
namespace {

// The environments of the lanes of one pack; the lanes beyond the last copy it.
struct Lanes {
  int used;
  int env[kMaxLanes];
  bool active[kMaxLanes];  // it steps
  bool store[kMaxLanes];   // its results are kept
};

// A count instead of an early exit: no branch per number.
template <class T>
bool all_within(const std::byte* row, int n, double limit) {
  const T* x = reinterpret_cast<const T*>(row);
  const T bound =
      static_cast<T>(std::min(limit, static_cast<double>(std::numeric_limits<T>::max())));
  int outside = 0;
  for (int i = 0; i < n; ++i) outside += std::fabs(x[i]) <= bound ? 0 : 1;  // NaN: 1
  return outside == 0;
}

void add(SolverCounts& c, const cpu::LaneReport& r, int max_iterations) {
  const int iterations = std::clamp(r.iterations, 0, max_iterations);
  ++c.env_steps;
  c.iterations += static_cast<std::uint64_t>(iterations);
  c.linesearch_evaluations += static_cast<std::uint64_t>(std::max(0, r.linesearch_evaluations));
  c.contacts += static_cast<std::uint64_t>(std::max(0, r.contacts));
  ++c.iteration_histogram[at(iterations)];
  if (r.flags == 0) return;
  const auto has = [&](Status bit) { return any(static_cast<Status>(r.flags), bit) ? 1u : 0u; };
  c.not_converged += has(Status::not_converged);
  c.stalled += has(Status::stalled);
  c.inaccurate += has(Status::inaccurate);
  c.late_contact += has(Status::late_contact);
  c.frozen += has(kFrozen);
}

// Moves the numbers of `from` to `to`.
void merge(SolverCounts& to, SolverCounts& from) {
  std::uint64_t SolverCounts::*const kNumbers[] = {&SolverCounts::env_steps,
                                                   &SolverCounts::iterations,
                                                   &SolverCounts::linesearch_evaluations,
                                                   &SolverCounts::contacts,
                                                   &SolverCounts::not_converged,
                                                   &SolverCounts::stalled,
                                                   &SolverCounts::inaccurate,
                                                   &SolverCounts::late_contact,
                                                   &SolverCounts::frozen,
                                                   &SolverCounts::pack_steps,
                                                   &SolverCounts::pack_max_iterations};
  for (const auto number : kNumbers) to.*number += std::exchange(from.*number, 0);
  for (std::size_t i = 0; i < to.iteration_histogram.size(); ++i)
    to.iteration_histogram[i] += std::exchange(from.iteration_histogram[i], 0);
}

}  // namespace

void Batch::Impl::note(int env, Status bits) {
  if (bits == Status::ok) return;
  if (status[at(env)] == 0) status_step[at(env)] = steps[at(env)];
  status[at(env)] |= static_cast<std::uint32_t>(bits);
}

// A pose that kinematics can use, and numbers that the step can square.
bool Batch::Impl::state_is_good(int env) const {
  for (const RowSpec& r : loaded) {
    if (r.kind != FieldKind::state) continue;
    const std::byte* numbers = rows[at(r.field)] + r.bytes * at(env);
    if (!(r.bytes == 8 * at(r.numbers) ? all_within<double>(numbers, r.numbers, r.limit)
                                       : all_within<float>(numbers, r.numbers, r.limit)))
      return false;
  }
  const auto* qpos = reinterpret_cast<const double*>(row(Field::qpos, env));
  return std::all_of(quaternions.begin(), quaternions.end(),
                     [&](int q) { return has_direction(qpos + q); });
}

bool Batch::Impl::mocap_is_good(int env) const {
  if (model->nmocap == 0) return true;
  // positions and quaternions are wide
  if (!all_within<double>(row(Field::mocap_pos, env), 3 * model->nmocap, kStateLimit) ||
      !all_within<double>(row(Field::mocap_quat, env), 4 * model->nmocap, kStateLimit))
    return false;
  const auto* quat = reinterpret_cast<const double*>(row(Field::mocap_quat, env));
  for (int k = 0; k < model->nmocap; ++k)
    if (!has_direction(quat + 4 * k)) return false;
  return true;
}

void Batch::Impl::run(const Run& r) {
  if (device != nullptr) {
    if (r.count > 0) device->run(r.envs, r.count, r.steps, r.store_frozen);
    return;
  }
  const int lanes = kernels.lanes, parts = pool->size();
  const std::int64_t packs = (r.count + lanes - 1) / lanes;
  const auto work = [&](int part) {
    const auto begin = packs * part / parts, end = packs * (part + 1) / parts;
    if (r.envs == nullptr)
      group(static_cast<int>(begin) * lanes, std::min(static_cast<int>(end) * lanes, r.count));
    for (auto p = begin; p < end; ++p)
      run_pack(workspaces[at(part)], r, static_cast<int>(p) * lanes);
  };
  // a few environments do not wake the others
  if (packs < 2)
    pool->run_here(work);
  else
    pool->run(work);
  for (Workspace& w : workspaces) merge(counts, w.counts);
}

// Copies state, inputs and own parameters of the lanes into the blocks.
void Batch::Impl::load(Workspace& w, const int* env) {
  const void* from[kMaxLanes];
  for (const RowSpec& r : loaded) {
    const std::byte* first = rows[at(r.field)];
    if (first == nullptr) continue;
    const bool mocap = r.field == Field::mocap_pos || r.field == Field::mocap_quat;
    for (int lane = 0; lane < kernels.lanes; ++lane)
      from[lane] = mocap && !mocap_is_good(env[lane]) ? reference_row[at(r.field)]
                                                      : first + r.bytes * at(env[lane]);
    kernels.load(r.wide, r.numbers, from, w.fields[at(r.field)]);
  }
}

// Copies state and outputs of the chosen lanes back.
void Batch::Impl::store(Workspace& w, const int* env, const bool* chosen, bool state) {
  bool bad[kMaxLanes] = {};
  void* to[kMaxLanes];
  for (const RowSpec& r : stored) {
    if (r.kind == FieldKind::state && !state) continue;
    std::byte* first = rows[at(r.field)];
    for (int lane = 0; lane < kernels.lanes; ++lane)
      to[lane] = chosen[lane] ? first + r.bytes * at(env[lane]) : nullptr;
    if (r.kind == FieldKind::output) kernels.clean(r.wide, r.numbers, w.fields[at(r.field)], bad);
    kernels.store(r.wide, r.numbers, w.fields[at(r.field)], to);
  }
  for (int lane = 0; lane < kernels.lanes; ++lane)
    if (bad[lane] && chosen[lane] && !frozen(env[lane])) note(env[lane], Status::bad_state);
}

// Fills with kUnwritten what a step must not read: all but state, inputs, parameters.
void Batch::Impl::spoil(Workspace& w, bool outputs) {
  for_fields(host.specs(), {FieldKind::output, FieldKind::scratch},
             [&](Field f, const FieldSpec& s) {
               if (f != Field::active && (outputs || s.kind == FieldKind::scratch))
                 cpu::spoil(w.fields[at(f)], block_bytes(s));
             });
}

void Batch::Impl::run_pack(Workspace& w, const Run& r, int first) {
  Lanes l;
  l.used = std::min(kernels.lanes, r.count - first);
  bool any_store = false;
  for (int lane = 0; lane < kernels.lanes; ++lane) {
    const int i = first + std::min(lane, l.used - 1);
    const int env = l.env[lane] = r.envs != nullptr ? r.envs[i] : order[at(i)].env;
    const bool used = lane < l.used;
    l.store[lane] = used && (r.store_frozen || !frozen(env));
    any_store = any_store || l.store[lane];
    if (used && !state_is_good(env)) {
      write_reference(env, FieldKind::state);
      note(env, Status::bad_state);
    }
    if (used && !frozen(env) && !mocap_is_good(env)) note(env, Status::bad_control);
    l.active[lane] = !frozen(env);
  }
  if (!any_store) return;

  load(w, l.env);
  if (poison) spoil(w, true);
  kernels.set_active(w.fields.data(), l.active);
  if (r.steps == 0) kernels.forces(host.view(), w.fields.data());
  for (int k = 0; k < r.steps; ++k) {
    if (poison && k > 0) spoil(w, true);
    kernels.step(host.view(), w.fields.data(), k == r.steps - 1);
    count_step(w, l.env, l.active, l.used);
  }
  if (poison) spoil(w, false);
  kernels.refresh(host.view(), w.fields.data());
  store(w, l.env, l.store, r.steps > 0);
}

// Status and statistics of a step; lanes that failed freeze.
void Batch::Impl::count_step(Workspace& w, const int* env, bool* active, int used) {
  cpu::LaneReport report[kMaxLanes];
  kernels.report(w.fields.data(), report);
  int slowest = 0;
  bool freeze = false, any_active = false;
  for (int lane = 0; lane < used; ++lane) {
    if (!active[lane]) continue;
    any_active = true;
    slowest = std::max(slowest, report[lane].iterations);
    add(w.counts, report[lane], options.max_iterations);
    note(env[lane], static_cast<Status>(report[lane].flags));
    ++steps[at(env[lane])];
    if (frozen(env[lane])) active[lane] = false, freeze = true;
  }
  // padding lanes copy the last environment in this too
  for (int lane = used; lane < kernels.lanes; ++lane) active[lane] = active[used - 1];
  if (freeze) kernels.set_active(w.fields.data(), active);
  if (!any_active) return;
  ++w.counts.pack_steps;
  w.counts.pack_max_iterations += static_cast<std::uint64_t>(slowest);
}

void Batch::step(int n) {
  if (n < 1) throw ArgumentError("step(" + std::to_string(n) + "): must be >= 1");
  impl_->run({nullptr, num_envs(), n, false});
}

void Batch::refresh() {
  impl_->run({nullptr, num_envs(), 0, false});
}
void Batch::refresh(std::span<const int> ids) {
  impl_->check_ids(ids, true);
  impl_->run({ids.data(), static_cast<int>(ids.size()), 0, true});
}

}  // namespace stiction
