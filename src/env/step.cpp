// A control step and the beginning of episodes. Allocates nothing.
#include <algorithm>
#include <cmath>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

constexpr int kShare = 64;  // fewer environments are not worth waking the other threads

template <class T>
void copy_row(const std::vector<T>& from, std::vector<T>& to, int env, int columns) {
  std::copy_n(from.data() + at(env) * at(columns), at(columns), to.data() + at(env) * at(columns));
}

// The nearest finite number; 0 of what is none.
float finite(float x) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return x != x ? 0.0f : std::clamp(x, -kLargest, kLargest);
}
void make_finite(float* x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) x[k] = finite(x[k]);
}

}  // namespace

// Whole packs of lanes to a part, so that threads do not share lines of results.
template <class F>
void Env::Impl::share(int n, const F& f) {
  cpu::ThreadPool& pool = *engine().pool;
  const int lanes = kMaxLanes, parts = pool.size();
  const std::int64_t packs = (n + lanes - 1) / lanes;
  const auto work = [&](int part) {
    const auto begin = static_cast<int>(packs * part / parts) * lanes;
    const auto end = std::min(n, static_cast<int>(packs * (part + 1) / parts) * lanes);
    if (begin < end) f(begin, end);
  };
  if (n < kShare)
    pool.run_here(work);
  else
    pool.run(work);
}

env::Places Env::Impl::places() {
  Batch::Impl& e = engine();
  env::Places p;
  for (int i = 0; i < kFields; ++i) {
    const FieldSpec& s = e.host.specs()[at(i)];
    if (e.rows[at(i)] != nullptr)
      p.base[at(i)] = e.rows[at(i)], p.stride[at(i)] = e.row_bytes(s);
    else if (s.kind == FieldKind::param)
      p.base[at(i)] = e.reference_row[at(i)];
  }
  EnvResults& r = current();
  p.obs = r.obs.data(), p.metrics = r.metrics.data(), p.reward = r.reward.data();
  p.terminated = r.terminated.data();
  p.memory = memory.data();
  p.seed = seeds.data(), p.episode = episode.data(), p.step = length.data();
  p.dt = dt;
  return p;
}

void Env::Impl::flip() {
  now = 1 - now;
  begun = true;
}

void Env::Impl::step(std::span<const float> actions, const std::function<void()>& physics) {
  const int n = num_envs();
  if (actions.size() != at(n) * at(info.naction))
    throw ArgumentError("actions has " + std::to_string(actions.size()) + " numbers, " +
                        std::to_string(n) + " environments need " + std::to_string(n) + " x " +
                        std::to_string(info.naction));
  flip();
  ++steps;
  env::Places p = places();
  p.action = action.data();
  const physics::ModelView& view = engine().host.view();
  share(n, [&](int begin, int end) {
    take(actions, begin, end);
    runner->run(env::Phase::act, given.precision, view, p, nullptr, begin, end);
  });
  physics();
  share(n, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) ++length[at(i)];
    runner->run(env::Phase::observe, given.precision, view, p, nullptr, begin, end);
    finish(begin, end);
  });

  if (given.autoreset == Autoreset::disabled) return;
  EnvResults& r = current();
  ids.clear();
  for (int i = 0; i < n; ++i) {
    const bool done = r.terminated[at(i)] != 0 || r.truncated[at(i)] != 0;
    const bool begins = given.autoreset == Autoreset::same_step ? done : ended[at(i)] != 0;
    if (begins) ids.push_back(i);
    ended[at(i)] = done && !begins;
  }
  begin_episodes(ids);
  if (given.autoreset == Autoreset::next_step) {
    for (const int i : ids) {
      r.reward[at(i)] = 0;
      r.terminated[at(i)] = r.truncated[at(i)] = 0;
      std::fill_n(r.metrics.data() + at(i) * at(runner->nmetric), at(runner->nmetric), 0.0f);
      copy_row(r.obs, r.final_obs, i, info.nobs);
    }
  }
}

// Keeps the actions, with 0 for what is not finite: the task and the motors see the same.
void Env::Impl::take(std::span<const float> actions, int begin, int end) {
  const std::size_t columns = at(info.naction);
  bool all = true;
  for (std::size_t k = at(begin) * columns; k < at(end) * columns; ++k) {
    const bool good = std::isfinite(actions[k]);
    action[k] = good ? actions[k] : 0.0f;
    all = all && good;
  }
  if (all) return;
  const auto is_bad = [](float x) { return !std::isfinite(x); };
  for (int i = begin; i < end; ++i) {
    const float* row = actions.data() + at(i) * columns;
    if (std::any_of(row, row + columns, is_bad)) engine().note(i, Status::bad_control);
  }
}

// Ends of episodes, sums and the last observation, after `observe`.
void Env::Impl::finish(int begin, int end) {
  EnvResults& r = current();
  make_finite(r.reward.data() + at(begin), at(end - begin));
  make_finite(r.metrics.data() + at(begin) * at(runner->nmetric),
              at(end - begin) * at(runner->nmetric));
  for (int i = begin; i < end; ++i) {
    const std::size_t k = at(i);
    if (ended[k] != 0) continue;  // this step only begins its next episode
    if (engine().frozen(i)) r.terminated[k] = 1, r.reward[k] = 0;
    r.truncated[k] =
        r.terminated[k] == 0 && info.max_episode_steps > 0 && length[k] >= info.max_episode_steps;
    sum[k] += static_cast<double>(r.reward[k]);
    episode_return[k] = finite(static_cast<float>(sum[k]));
    if (r.terminated[k] == 0 && r.truncated[k] == 0) continue;
    final_length[k] = length[k], final_return[k] = episode_return[k];
  }
  const std::size_t columns = at(info.nobs);
  std::copy_n(r.obs.data() + at(begin) * columns, at(end - begin) * columns,
              r.final_obs.data() + at(begin) * columns);
}

void Env::Impl::reset(std::span<const int> which) {
  if (!begun)
    for (const int i : which) episode[at(i)] = ~std::uint32_t{0};
  flip();
  EnvResults& r = current();
  r = results[at(1 - now)];
  begin_episodes(which);
  for (const int i : which) {
    const std::size_t k = at(i);
    r.reward[k] = 0;
    r.terminated[k] = r.truncated[k] = ended[k] = 0;
    std::fill_n(r.metrics.data() + k * at(runner->nmetric), at(runner->nmetric), 0.0f);
    copy_row(r.obs, r.final_obs, i, info.nobs);
  }
}

void Env::Impl::observe() {
  flip();
  current() = results[at(1 - now)];
  const env::Places p = places();
  share(num_envs(), [&](int begin, int end) {
    runner->run(env::Phase::first, given.precision, engine().host.view(), p, nullptr, begin, end);
  });
}

// State, inputs and memory of a new episode, one refresh of all of them, the first observation.
void Env::Impl::begin_episodes(std::span<const int> which) {
  if (which.empty()) return;
  Batch::Impl& e = engine();
  const env::Places p = places();
  const auto count = static_cast<int>(which.size());
  const std::size_t bytes = memory_bytes();
  share(count, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const int i = which[at(k)];
      e.write_reference(i, FieldKind::state);
      e.write_reference(i, FieldKind::input);
      e.clear_status(i);
      std::fill_n(memory.data() + at(i) * bytes, bytes, std::byte{0});
      ++episode[at(i)];
      length[at(i)] = 0;
      sum[at(i)] = 0, episode_return[at(i)] = 0;
    }
    runner->run(env::Phase::reset, given.precision, e.host.view(), p, which.data(), begin, end);
  });
  e.run({which.data(), count, 0, true});
  share(count, [&](int begin, int end) {
    runner->run(env::Phase::first, given.precision, e.host.view(), p, which.data(), begin, end);
  });
}

}  // namespace stiction
