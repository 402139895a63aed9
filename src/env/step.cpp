// A control step and the beginning of episodes. Does not allocate.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShare = 128;  // fewer environments are not worth waking other threads
constexpr int kPart = 64;
constexpr physics::TeamOfOne kTeam;

}  // namespace

void Env::Impl::flip() {
  now = 1 - now;
  begun = true;
}

void Env::Impl::flip_and_keep() {
  flip();
  const auto results = [&](int set) {
    return reinterpret_cast<std::byte*>(sets[at(set)].obs);  // the first array of the results
  };
  batch.copy_memory(results(now), results(1 - now), layout.result_bytes());
}

void Env::Impl::check_actions(std::size_t numbers) const {
  if (numbers == at(num_envs()) * at(info.num_actions)) return;
  throw ArgumentError("actions has " + std::to_string(numbers) + " numbers, " +
                      std::to_string(num_envs()) + " environments need " +
                      std::to_string(num_envs()) + " x " + std::to_string(info.num_actions));
}

void Env::Impl::step(const float* actions, bool on_device, const std::function<void()>* physics) {
  engine().check_written_params();
  if (device != nullptr) device->take_actions(actions, on_device);
  if (physics == nullptr) return step_with(actions, nullptr);
  remember();
  try {
    step_with(actions, physics);
  } catch (...) {
    put_back();
    throw;
  }
}

void Env::Impl::step_with(const float* actions, const std::function<void()>* physics) {
  if (device == nullptr) return step_here(actions, physics);
  flip();
  ++steps;
  if (physics == nullptr) return device->step(now);
  device->act(now);
  (*physics)();
  device->finish(now);
}

void Env::Impl::reset(std::span<const int> which) {
  const bool restart = !begun;
  flip_and_keep();
  if (device == nullptr) {
    begin_episodes(which, restart);
    return clear_results(which);
  }
  std::vector<std::uint8_t> begins(at(num_envs()));
  for (const int i : which) begins[at(i)] = 1;
  write(current().begins, begins.data(), begins.size());
  device->begin(now, restart);
}

void Env::Impl::observe() {
  flip_and_keep();
  if (device != nullptr) return device->observe(now);
  const env::Places p = places();
  share(num_envs(), [&](int begin, int end) {
    runner->run(env::Phase::first, given.precision, engine().host.view(), p, nullptr, begin, end);
  });
}

// Splits n environments into parts that are short enough to balance the load and that end on whole lines of results.
template <class F>
void Env::Impl::share(int n, const F& f) {
  cpu::ThreadPool& pool = *engine().pool;
  const int parts = (n + kPart - 1) / kPart;
  const auto begin = Clock::now();
  pool.run(parts, n < kShare ? 1 : pace.threads(),
           [&](int, int part) { f(part * kPart, std::min(n, (part + 1) * kPart)); });
  if (n >= kShare) pace.add(n, std::chrono::duration<double>(Clock::now() - begin).count());
}

env::Places Env::Impl::places() {
  Batch::Impl& e = engine();
  env::Places p{current()};
  for (int i = 0; i < kFields; ++i) {
    const FieldSpec& s = e.host.specs()[at(i)];
    if (e.rows[at(i)] != nullptr)
      p.base[at(i)] = e.rows[at(i)], p.stride[at(i)] = e.row_bytes(s);
    else if (s.kind == FieldKind::param)
      p.base[at(i)] = e.reference_row[at(i)];
  }
  return p;
}

void Env::Impl::step_here(const float* actions, const std::function<void()>* physics) {
  const int n = num_envs();
  flip();
  ++steps;
  const env::Places p = places();
  const physics::ModelView& view = engine().host.view();
  share(n, [&](int begin, int end) {
    take(actions, begin, end);
    runner->run(env::Phase::act, given.precision, view, p, nullptr, begin, end);
  });
  if (physics != nullptr)
    (*physics)();
  else
    batch.step(info.frame_skip);
  share(n, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) ++p.length[i];
    runner->run(env::Phase::observe, given.precision, view, p, nullptr, begin, end);
    finish(begin, end);
  });

  if (given.autoreset == Autoreset::disabled) return;
  ids.clear();
  for (int i = 0; i < n; ++i)
    if (p.begins[i] != 0) ids.push_back(i);
  begin_episodes(ids, false);
  if (given.autoreset == Autoreset::next_step) clear_results(ids);
}

void Env::Impl::take(const float* actions, int begin, int end) {
  const envs::EpisodeArrays& a = current();
  const int columns = info.num_actions;
  const auto take = [&](int from, int to) {
    const std::size_t first = envs::row_begin(from, columns);
    return envs::take_actions(kTeam, actions + first, a.action + first, (to - from) * columns);
  };
  if (take(begin, end)) return;
  for (int i = begin; i < end; ++i)
    if (!take(i, i + 1)) physics::record_status(a.status, i, Status::bad_control);
}

void Env::Impl::finish(int begin, int end) {
  const envs::EpisodeArrays& a = current();
  envs::make_finite(kTeam, a.metrics + envs::row_begin(begin, a.num_metrics),
                    (end - begin) * a.num_metrics);
  for (int i = begin; i < end; ++i) envs::end_step(a, i);
  envs::keep_final_obs(kTeam, a, envs::row_begin(begin, a.num_obs), (end - begin) * a.num_obs);
}

// Sets state, inputs and memory of a new episode, refreshes all of them once, and computes the first observation.
void Env::Impl::begin_episodes(std::span<const int> which, bool restart) {
  if (which.empty()) return;
  Batch::Impl& e = engine();
  const env::Places p = places();
  const auto count = static_cast<int>(which.size());
  share(count, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const int i = which[at(k)];
      e.reset_environment(i);
      envs::begin_episode(kTeam, p, i, restart);
    }
    runner->run(env::Phase::reset, given.precision, e.host.view(), p, which.data(), begin, end);
  });
  e.run({which.data(), count, 0, true});
  share(count, [&](int begin, int end) {
    runner->run(env::Phase::first, given.precision, e.host.view(), p, which.data(), begin, end);
  });
}

void Env::Impl::clear_results(std::span<const int> which) {
  const envs::EpisodeArrays& a = current();
  for (const int i : which) envs::clear_results(kTeam, a, i);
}

}  // namespace stiction
