#include "batch/emulated_episodes.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "cpu/buffer.h"
#include "cuda/emulated_lanes.h"
#include "stiction/error.h"

namespace stiction::test {
namespace {

using cuda::EpisodeLaunch;
using cuda::EpisodePhase;

// A card has a warp for every task, whatever solves, or a thread.
using RunTask = void (*)(Lanes lanes, LanesShared& warp, const void* task,
                         const physics::ModelView& m, const cuda::Launch& l, const EpisodeLaunch& k,
                         int env);

template <class Task>
void run_task(Lanes lanes, LanesShared& warp, const void* given, const physics::ModelView& m,
              const cuda::Launch& l, const EpisodeLaunch& k, int env) {
  const Task& task = *static_cast<const Task*>(given);
  const auto text = [&](const auto& team) { physics::run_task(team, m, l, k, task, env); };
  if (lanes == Lanes::one) return text(physics::TeamOfOne());
  if constexpr (cuda::kTaskByThread<Task>)
    if (lanes == Lanes::thread) return text(physics::GroupTeam(physics::ThreadGroup()));
  on_lanes<EmulatedTile>(warp, text);
}

struct Kind {
  RunTask run;
  std::size_t bytes;
};
template <class... Tasks>
Kind kind_of(envs::TaskList<Tasks...>, int kind) {
  static constexpr Kind kKinds[] = {{run_task<Tasks>, sizeof(Tasks)}...};
  return kKinds[kind];
}

class EmulatedEpisodes final : public DeviceEpisodes {
 public:
  EmulatedEpisodes(const EpisodesSpec& spec, Lanes lanes, EmulatedHost host)
      : spec_(spec),
        host_(std::move(host)),
        lanes_(lanes),
        kind_(kind_of(envs::AllTasks(), spec.kind)),
        memory_(spec.bytes),
        claimed_(memory_.data(), spec.bytes) {
    const auto* task = static_cast<const std::byte*>(spec.task);
    task_.assign(task, task + kind_.bytes);
  }

  std::byte* memory() const override { return memory_.data(); }
  void bind(const std::array<envs::EpisodeArrays, kSets>& sets) override { sets_ = sets; }

  void take_actions(const float* actions, bool on_device) override {
    if (on_device != EmulatedMemory::holds(actions))
      throw ArgumentError("actions: not memory of " + std::string(on_device ? "emulated" : "cpu"));
    const std::size_t n = envs::row_begin(host_.num_envs, spec_.num_actions);
    std::memcpy(const_cast<float*>(sets_[0].given), actions, n * sizeof(float));
  }
  void step(int set) override {
    act(set);
    host_.run(host_.launch(), spec_.frame_skip);
    finish(set);
  }
  void act(int set) override {
    if (host_.poison) fill_unwritten(set);
    launch(set, EpisodePhase::act);
  }
  void finish(int set) override {
    launch(set, EpisodePhase::observe);
    const envs::Begin begin = sets_[0].begin;
    if (begin != envs::Begin::disabled) first(set, begin == envs::Begin::next_step);
  }
  void begin(int set, bool restart) override {
    launch(set, EpisodePhase::begin, restart);
    first(set, true);
  }
  void observe(int set) override { launch(set, EpisodePhase::show); }

 private:
  void launch(int set, EpisodePhase phase, bool restart = false, bool clear = false) const {
    const EpisodeLaunch k{sets_[static_cast<std::size_t>(set)], phase, restart, clear};
    const cuda::Launch l = host_.launch();
    for (int env = 0; env < l.count; ++env)
      kind_.run(lanes_, *warp_, task_.data(), host_.model(), l, k, env);
  }
  void first(int set, bool clear) const {
    cuda::Launch l = host_.launch();
    l.chosen = sets_[0].begins, l.store_frozen = true;
    host_.run(l, 0);
    launch(set, EpisodePhase::first, false, clear);
  }
  // A step writes all its results.
  void fill_unwritten(int set) const {
    const envs::EpisodeArrays& a = sets_[static_cast<std::size_t>(set)];
    const auto fill = [&](auto* x, int columns) {
      std::memset(x, 0xff, sizeof *x * envs::row_begin(host_.num_envs, columns));
    };
    fill(a.obs, a.num_obs), fill(a.final_obs, a.num_obs), fill(a.metrics, a.num_metrics);
    fill(a.reward, 1), fill(a.terminated, 1), fill(a.truncated, 1);
  }

  EpisodesSpec spec_;
  EmulatedHost host_;
  Lanes lanes_;
  Kind kind_;
  std::vector<std::byte> task_;
  std::unique_ptr<LanesShared> warp_ = std::make_unique<LanesShared>(1);
  cpu::Buffer memory_;
  EmulatedMemory claimed_;
  std::array<envs::EpisodeArrays, kSets> sets_{};
};

struct Claims {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> bytes;
};
Claims& claims() {
  static Claims all;
  return all;
}

}  // namespace

EmulatedMemory::EmulatedMemory(const std::byte* begin, std::size_t bytes) : begin_(begin) {
  const std::lock_guard lock(claims().mutex);
  claims().bytes[begin] = bytes;
}
EmulatedMemory::~EmulatedMemory() {
  const std::lock_guard lock(claims().mutex);
  claims().bytes.erase(begin_);
}
bool EmulatedMemory::holds(const void* p) {
  const std::lock_guard lock(claims().mutex);
  const auto* byte = static_cast<const std::byte*>(p);
  const auto after = claims().bytes.upper_bound(byte);
  if (after == claims().bytes.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return byte < begin + bytes;
}

std::unique_ptr<DeviceEpisodes> emulated_episodes(const EpisodesSpec& spec, Lanes lanes,
                                                  EmulatedHost host) {
  return std::make_unique<EmulatedEpisodes>(spec, lanes, std::move(host));
}

}  // namespace stiction::test
