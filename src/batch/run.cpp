// Steps of packs of environments.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "batch/impl.h"

namespace stiction {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A call with many steps makes this many seconds of steps between two polls; on a device, which executes
// them later, this many steps.
constexpr double kPollSeconds = 0.1;
constexpr int kPollSteps = 256;

// Counts instead of exiting early: no branch per number.
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
  c.solved_again += r.solves > 1 ? 1u : 0u;
  ++c.iteration_histogram[at(iterations)];
  if (r.flags == 0) return;
  const auto has = [&](Status bit) { return any(static_cast<Status>(r.flags), bit) ? 1u : 0u; };
  c.not_converged += has(Status::not_converged);
  c.stalled += has(Status::stalled);
  c.inaccurate += has(Status::inaccurate);
  c.late_contact += has(Status::late_contact);
  c.frozen += has(kFrozen);
}

// Moves the counts of `from` to `to`.
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
                                                   &SolverCounts::solved_again,
                                                   &SolverCounts::pack_steps,
                                                   &SolverCounts::pack_max_iterations};
  for (const auto number : kNumbers) to.*number += std::exchange(from.*number, 0);
  for (std::size_t i = 0; i < to.iteration_histogram.size(); ++i)
    to.iteration_histogram[i] += std::exchange(from.iteration_histogram[i], 0);
}

}  // namespace

// Returns whether kinematics can use the pose, and a step can square the numbers.
bool Batch::Impl::state_is_good(int env) {
  for (const RowSpec& r : loaded) {
    if (r.kind != FieldKind::state) continue;
    if (r.field == Field::anchor) {
      if (!anchors_are_finite(env)) return false;
      continue;
    }
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
  const std::byte* const velocities = row(Field::mocap_vel, env);
  const int numbers = host.view().opt.mocap_given ? spec(Field::mocap_vel).size() : 0;
  if (!(given.precision == Precision::float64
            ? all_within<double>(velocities, numbers, kVelocityLimit)
            : all_within<float>(velocities, numbers, kVelocityLimit)))
    return false;
  const auto* quat = reinterpret_cast<const double*>(row(Field::mocap_quat, env));
  for (int k = 0; k < model->nmocap; ++k)
    if (!has_direction(quat + 4 * k)) return false;
  return true;
}

void Batch::Impl::run(const Run& r) {
  if (device != nullptr) {
    if (r.count > 0) device->run(r.envs, r.count, r.steps, r.store_frozen, r.after);
    return;
  }
  const auto begin = Clock::now();
  if (r.envs == nullptr && !r.goes_on) group();
  const int lanes = kernels.lanes, packs = r.count > 0 ? (r.count - 1) / lanes + 1 : 0;
  // in pairs, unless that leaves a thread without work
  const int together = r.steps > 0 && packs >= 2 * pace.threads() ? packs_together() : 1;
  pool->run((packs + together - 1) / together, pace.threads(), [&](int worker, int i) {
    const int first = i * together;
    run_packs(worker, r, first * lanes, std::min(together, packs - first));
  });
  for (Workspace& w : workspaces) merge(counts, w.counts);
  if (r.envs == nullptr && r.steps > 0)
    pace.add(static_cast<double>(packs) * r.steps, seconds_since(begin));
}

// Gathers state, inputs and per-environment parameters of the lanes into the blocks.
void Batch::Impl::load(Workspace& w, const int* env) {
  const void* from[kMaxLanes];
  for (const RowSpec& r : loaded) {
    const std::byte* first = rows[at(r.field)];
    if (first == nullptr) continue;
    if (r.field == Field::anchor) {
      load_anchors(w, env);
      continue;
    }
    const bool mocap =
        r.field == Field::mocap_pos || r.field == Field::mocap_quat || r.field == Field::mocap_vel;
    for (int lane = 0; lane < kernels.lanes; ++lane)
      from[lane] = mocap && !mocap_is_good(env[lane]) ? reference_row[at(r.field)]
                                                      : first + r.bytes * at(env[lane]);
    kernels.load(r.wide, r.numbers, from, w.fields[at(r.field)]);
  }
}

// Scatters state and outputs of the chosen lanes back to the rows.
void Batch::Impl::store(Workspace& w, const int* env, const bool* chosen, bool state) {
  bool bad[kMaxLanes] = {};
  void* to[kMaxLanes];
  for (const RowSpec& r : stored) {
    if (r.kind == FieldKind::state && !state) continue;
    if (r.field == Field::anchor) {
      store_anchors(w, env, chosen);
      continue;
    }
    std::byte* first = rows[at(r.field)];
    for (int lane = 0; lane < kernels.lanes; ++lane)
      to[lane] = chosen[lane] ? first + r.bytes * at(env[lane]) : nullptr;
    if (r.kind == FieldKind::output) kernels.clean(r.wide, r.numbers, w.fields[at(r.field)], bad);
    kernels.store(r.wide, r.numbers, w.fields[at(r.field)], to);
  }
  for (int lane = 0; lane < kernels.lanes; ++lane)
    if (bad[lane] && chosen[lane] && !frozen(env[lane]))
      record_status(env[lane], Status::bad_state);
}

// Fills with kUnwritten what a step must not read: all except state, inputs, parameters and fields the batch writes.
void Batch::Impl::fill_unwritten(Workspace& w, bool outputs) {
  for_fields(
      host.specs(), {FieldKind::output, FieldKind::scratch}, [&](Field f, const FieldSpec& s) {
        if (std::strcmp(s.producer, "batch") != 0 && (outputs || s.kind == FieldKind::scratch))
          cpu::fill_unwritten(w.fields[at(f)], block_bytes(s));
      });
}

// Loads the lanes of a pack, from environment `first` of the run on, into the blocks; false: no result is stored.
bool Batch::Impl::load_pack(Workspace& w, const Run& r, int first, Lanes& l) {
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
      record_status(env, Status::bad_state);
    }
    if (used && !frozen(env) && !mocap_is_good(env)) record_status(env, Status::bad_control);
    l.active[lane] = !frozen(env);
  }
  if (!any_store) return false;
  load(w, l.env);
  if (poison) fill_unwritten(w, true);
  kernels.set_active(w.fields.data(), l.active);
  return true;
}

// Runs one pack, or two packs side by side.
void Batch::Impl::run_packs(int worker, const Run& r, int first, int packs) {
  Workspace* w[2];
  Lanes lanes[2];
  int n = 0;
  for (int pack = 0; pack < packs; ++pack) {
    w[n] = &workspaces[at(worker + n * pool->size())];
    if (load_pack(*w[n], r, first + pack * kernels.lanes, lanes[n])) ++n;
  }
  if (n == 0) return;

  if (r.steps == 0) kernels.forces(host.view(), w[0]->fields.data());
  for (int k = 0; k < r.steps; ++k) {
    const bool last = k == r.steps - 1;
    const int left = r.steps - k + r.after;
    for (int pack = 0; poison && k > 0 && pack < n; ++pack) fill_unwritten(*w[pack], true);
    if (n == 1) {
      kernels.step(host.view(), w[0]->fields.data(), last, left);
    } else {
      Workspace& shared_pack = workspaces[at(worker + 2 * pool->size())];
      if (poison) fill_unwritten(shared_pack, true);
      kernels.step_two(host.view(), w[0]->fields.data(), w[1]->fields.data(),
                       shared_pack.fields.data(), last, left);
    }
    for (int pack = 0; pack < n; ++pack)
      count_step(*w[pack], lanes[pack].env, lanes[pack].active, lanes[pack].used);
  }
  for (int pack = 0; pack < n; ++pack) {
    if (poison) fill_unwritten(*w[pack], false);
    kernels.refresh(host.view(), w[pack]->fields.data());
    store(*w[pack], lanes[pack].env, lanes[pack].store, r.steps > 0);
  }
}

// Records status and statistics of a step; lanes that failed freeze.
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
    record_status(env[lane], static_cast<Status>(report[lane].flags));
    ++steps[at(env[lane])];
    if (frozen(env[lane])) active[lane] = false, freeze = true;
  }
  // padding lanes copy the last environment in this, too
  for (int lane = used; lane < kernels.lanes; ++lane) active[lane] = active[used - 1];
  if (freeze) kernels.set_active(w.fields.data(), active);
  if (!any_active) return;
  ++w.counts.pack_steps;
  w.counts.pack_max_iterations += static_cast<std::uint64_t>(slowest);
}

// The same bits and counts as one run, split into several so that a poll may end the call.
void Batch::Impl::step(int n) {
  check_written_params();
  for (int done = 0; done < n;) {
    if (done > 0) poll();
    int now = n - done;
    if (poll && device != nullptr) now = std::min(now, kPollSteps);
    if (poll && device == nullptr)
      now = static_cast<int>(std::clamp(step_seconds > 0 ? kPollSeconds / step_seconds : 1.0, 1.0,
                                        static_cast<double>(now)));
    const auto begin = Clock::now();
    run({nullptr, num_envs(), now, false, done > 0, n - done - now});
    const double seconds = seconds_since(begin) / now;
    // one pause of the whole process should not lead to very short runs
    step_seconds = step_seconds > 0 ? std::min(seconds, 1.5 * step_seconds) : seconds;
    done += now;
  }
}

void Batch::step(int n) {
  if (n < 1) throw ArgumentError("step(" + std::to_string(n) + "): must be >= 1");
  const Visit visit(impl_->guard);
  impl_->step(n);
}
void Batch::set_poll(std::function<void()> poll) {
  const Visit visit(impl_->guard);
  impl_->poll = std::move(poll);
}

void Batch::refresh() {
  const Visit visit(impl_->guard);
  impl_->run({nullptr, num_envs(), 0, false});
}
void Batch::refresh(std::span<const int> ids) {
  impl_->check_ids(ids, true);
  const Visit visit(impl_->guard);
  impl_->run({ids.data(), static_cast<int>(ids.size()), 0, true});
}

}  // namespace stiction
