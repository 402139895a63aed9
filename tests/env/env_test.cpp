// Episodes: ends, resets, buffers, seeds; and that an environment does not depend on its company.
#include "stiction/env.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "batch/allocations.h"
#include "env/players.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Env, EveryTask, testing::ValuesIn(tasks_on_devices(true)), task_name);

class Episodes : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(Episodes);

TEST_P(EveryTask, AloneOrAmongManyTheSameBits) {
  const int many = kSanitized ? 40 : slow() ? 20 : 200, steps = kSanitized ? 5 : slow() ? 14 : 30;
  EnvOptions o = options(many);
  o.max_episode_steps = 12;  // so that every task resets
  set_threads(o, 2);
  Player all(task(), o);
  const std::vector<int> chosen = {0, 1, 17, many - 1};
  std::vector<Player> alone;
  for (const int i : chosen) {
    EnvOptions single = o;
    single.num_envs = 1, single.seed = static_cast<std::uint64_t>(i);
    alone.emplace_back(task(), single, i);
  }
  for (int k = 0; k < steps; ++k) {
    all.step();
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      alone[c].step();
      ASSERT_EQ(results(all.env, chosen[c]), results(alone[c].env, 0)) << chosen[c] << " " << k;
    }
  }
  EXPECT_NE(results(all.env, 0), results(all.env, 1));
}

TEST_P(EveryTask, NumbersAreFiniteAndShapesAsPromised) {
  EnvOptions o = options(3);
  for (const Precision p : {Precision::float32, Precision::float64}) {
    if (p == Precision::float64 && device() != "cpu") continue;
    o.precision = p;
    Player player(task(), o);
    Env& e = player.env;
    EXPECT_EQ(e.obs().shape[1], e.info().num_obs);
    EXPECT_EQ(e.metrics().shape[1], static_cast<int>(e.info().metrics.size()));
    EXPECT_EQ(e.action_low().size(), static_cast<std::size_t>(e.info().num_actions));
    for (int k = 0; k < 20; ++k) player.step();
    for (const ArrayView& v : {e.obs(), e.final_obs(), e.reward(), e.metrics()})
      for (const float x : numbers<float>(v)) ASSERT_TRUE(std::isfinite(x)) << v.name;
  }
}

// Poses and forces of the last episode are gone before the next one is observed.
TEST_P(EveryTask, FirstObservationsAreOfTheNewState) {
  EnvOptions o = options(slow() ? 6 : 70);
  o.max_episode_steps = 4;
  Player player(task(), o);
  Env& e = player.env;
  for (int k = 0; k < 4; ++k) player.step();
  const auto first = numbers<float>(e.obs());
  EXPECT_NE(first, numbers<float>(e.final_obs()));
  e.batch().refresh();
  e.observe();
  EXPECT_EQ(numbers<float>(e.obs()), first);
}

TEST_P(EveryTask, StepsAllocateNothing) {
  for (const Autoreset a : {Autoreset::same_step, Autoreset::next_step, Autoreset::disabled}) {
    EnvOptions o = options(slow() ? 5 : 130, a);
    o.max_episode_steps = 3;
    set_threads(o, 2);
    Player player(task(), o);
    player.step();
    const int before = allocations;
    for (int k = 0; k < 6; ++k) player.step();
    EXPECT_EQ(allocations, before);
  }
}

TEST(Env, ThreadsDoNotMatter) {
  const auto play = [](int threads) {
    EnvOptions o = options(300);
    o.threads = threads;
    Player player("Hopper-v5", o);
    std::vector<float> all;
    for (int k = 0; k < 60; ++k) {
      player.step();
      for (int i = 0; i < 300; i += 7) {
        const auto r = results(player.env, i);
        all.insert(all.end(), r.begin(), r.end());
      }
    }
    return all;
  };
  const auto one = play(1);
  EXPECT_EQ(one, play(2));
  EXPECT_EQ(one, play(3));
}

// The three modes see the same episodes; they differ in when the next one begins.
TEST_P(Episodes, AutoresetModes) {
  constexpr int kEnvs = 20;
  Player same("InvertedPendulum-v5", options(kEnvs, Autoreset::same_step));
  Player next("InvertedPendulum-v5", options(kEnvs, Autoreset::next_step));
  Player off("InvertedPendulum-v5", options(kEnvs, Autoreset::disabled));
  const auto first = numbers<float>(same.env.obs());
  EXPECT_EQ(first, numbers<float>(off.env.obs()));
  std::vector<bool> ended(kEnvs, false), begun(kEnvs, false);
  int ends = 0;
  for (int k = 0; k < 60; ++k) {
    same.step(), next.step(), off.step();
    for (int i = 0; i < kEnvs; ++i) {
      if (begun[at(i)]) continue;
      if (ended[at(i)]) {
        // the step after the end: a first observation, no reward
        begun[at(i)] = true;
        EXPECT_EQ(row<float>(next.env.reward(), i)[0], 0);
        EXPECT_EQ(row<float>(next.env.metrics(), i), std::vector<float>{0});
        EXPECT_FALSE(next.done(i));
        EXPECT_EQ(row<std::int32_t>(next.env.episode_length(), i)[0], 0);
        EXPECT_EQ(row<float>(next.env.final_obs(), i), row<float>(next.env.obs(), i));
        continue;
      }
      EXPECT_EQ(row<float>(same.env.final_obs(), i), row<float>(off.env.obs(), i));
      EXPECT_EQ(row<float>(next.env.obs(), i), row<float>(off.env.obs(), i));
      EXPECT_EQ(row<float>(same.env.reward(), i), row<float>(off.env.reward(), i));
      EXPECT_EQ(row<float>(next.env.reward(), i), row<float>(off.env.reward(), i));
      ASSERT_EQ(same.done(i), off.done(i));
      ASSERT_EQ(next.done(i), off.done(i));
      if (!off.done(i)) {
        EXPECT_EQ(row<float>(same.env.obs(), i), row<float>(same.env.final_obs(), i));
        continue;
      }
      ended[at(i)] = true, ++ends;
      EXPECT_EQ(row<std::int32_t>(same.env.episode_length(), i)[0], 0);
      EXPECT_EQ(row<float>(same.env.episode_return(), i)[0], 0);
      for (Env* e : {&same.env, &next.env, &off.env}) {
        EXPECT_EQ(row<std::int32_t>(e->final_episode_length(), i)[0], k + 1);
        EXPECT_EQ(row<float>(e->final_episode_return(), i)[0], static_cast<float>(k));
      }
      EXPECT_EQ(row<std::int32_t>(next.env.episode_length(), i)[0], k + 1);
      EXPECT_NE(row<float>(same.env.obs(), i), row<float>(same.env.final_obs(), i));
    }
  }
  EXPECT_EQ(ends, kEnvs);
  EXPECT_EQ(begun, std::vector<bool>(kEnvs, true));
}

// Episode 1 begins in the same state whenever it begins.
TEST_P(Episodes, NextEpisodeIsTheSameInEveryMode) {
  Player same("InvertedPendulum-v5", options(1, Autoreset::same_step));
  Player next("InvertedPendulum-v5", options(1, Autoreset::next_step));
  Player off("InvertedPendulum-v5", options(1, Autoreset::disabled));
  do same.step(), next.step(), off.step();
  while (!off.done(0));
  next.step();
  off.env.reset();
  EXPECT_EQ(numbers<float>(same.env.obs()), numbers<float>(off.env.obs()));
  EXPECT_EQ(numbers<float>(next.env.obs()), numbers<float>(off.env.obs()));
}

TEST_P(Episodes, TimeLimit) {
  EnvOptions o = options(4, Autoreset::same_step);
  o.max_episode_steps = 5;
  Player player("HalfCheetah-v5", o);
  Env& e = player.env;
  EXPECT_EQ(e.info().max_episode_steps, 5);
  poke<std::int32_t>(e.episode_length(), 2, 3);  // as trainers do, to spread the episodes
  for (int k = 1; k <= 5; ++k) {
    player.step();
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(row<std::uint8_t>(e.truncated(), i)[0], k == (i == 2 ? 2 : 5)) << i << " " << k;
      EXPECT_EQ(row<std::uint8_t>(e.terminated(), i)[0], 0);
    }
  }
  EXPECT_EQ(row<std::int32_t>(e.final_episode_length(), 0)[0], 5);
  EXPECT_EQ(row<std::int32_t>(e.episode_length(), 2)[0], 3);
  o.max_episode_steps = 0;
  Player endless("Reacher-v5", o);
  for (int k = 0; k < 60; ++k) {
    endless.step();
    ASSERT_FALSE(endless.done(0));
  }
}

TEST_P(Episodes, ResultsOfAStepOutliveTheNextOne) {
  Player player("InvertedPendulum-v5", options(slow() ? 9 : 70));
  Env& e = player.env;
  for (int k = 0; k < 10; ++k) {
    player.step();
    std::vector<ArrayView> views = {e.obs(),       e.reward(),    e.terminated(),
                                    e.truncated(), e.final_obs(), e.metrics()};
    std::vector<std::string> before;
    const auto bytes_of = [](const ArrayView& v) {
      const std::size_t one = v.dtype == DType::uint8 ? 1 : 4;
      std::string all(one * static_cast<std::size_t>(v.size()), '\0');
      copy_memory(v.device, all.data(), v.data, all.size());
      return all;
    };
    for (const ArrayView& v : views) before.push_back(bytes_of(v));
    player.step();
    for (std::size_t i = 0; i < views.size(); ++i) EXPECT_EQ(bytes_of(views[i]), before[i]);
    EXPECT_NE(e.obs().data, views[0].data);
  }
}

// Before anything is allocated; own parameters too.
TEST_P(Episodes, MemoryIsKnownBefore) {
  for (const char* id : {"HalfCheetah-v5", "Go2Flat"}) {
    const EnvOptions o = options(7);
    const BatchMemory before = env_memory(id, o);
    Env e(id, o);
    const BatchMemory now = e.memory(), batch = e.batch().memory();
    EXPECT_EQ(before.per_env, now.per_env);
    EXPECT_EQ(before.device, now.device);
    EXPECT_EQ(before.local, now.local);
    EXPECT_EQ(now.local > 0, device() == "cuda");
    EXPECT_GT(now.per_env, batch.per_env + sizeof(float) * 2 * 2 * at(e.info().num_obs));
    EXPECT_GT(device() == "cpu" ? now.total : now.device,
              device() == "cpu" ? batch.total : batch.device);
  }
}

TEST_P(Episodes, SeedsAndEpisodes) {
  Env a("HalfCheetah-v5", options(3, Autoreset::disabled, 10));
  const auto zero = numbers<float>(a.obs());
  a.reset();  // the first reset after construction begins the same episode
  EXPECT_EQ(numbers<float>(a.obs()), zero);
  a.reset();
  const auto one = numbers<float>(a.obs());
  EXPECT_NE(one, zero);
  a.seed(10);
  a.reset();
  EXPECT_EQ(numbers<float>(a.obs()), zero);
  // seed + index: environment 1 of seed 10 is environment 0 of seed 11
  Env b("HalfCheetah-v5", options(3, Autoreset::disabled, 11));
  EXPECT_EQ(row<float>(a.obs(), 1), row<float>(b.obs(), 0));

  const int second[] = {1};
  a.reset(second);
  EXPECT_EQ(row<float>(a.obs(), 1), (std::vector<float>(one.begin() + 17, one.begin() + 34)));
  EXPECT_EQ(row<float>(a.obs(), 0), (std::vector<float>(zero.begin(), zero.begin() + 17)));
  const std::uint64_t seeds[] = {12};
  a.seed(second, seeds);
  a.reset(second);
  EXPECT_EQ(row<float>(a.obs(), 1), (std::vector<float>(zero.begin() + 34, zero.end())));
}

TEST_P(Episodes, ResetOfSomeLeavesTheOthers) {
  Player player("HalfCheetah-v5", options(4, Autoreset::disabled));
  for (int k = 0; k < 5; ++k) player.step();
  Env& e = player.env;
  std::vector<std::vector<float>> before;
  for (int i = 0; i < 4; ++i) before.push_back(results(e, i));
  const int some[] = {2, 0};
  e.reset(some);
  for (const int i : {1, 3}) EXPECT_EQ(results(e, i), before[at(i)]);
  for (const int i : {0, 2}) {
    EXPECT_EQ(row<float>(e.reward(), i)[0], 0);
    EXPECT_EQ(row<std::int32_t>(e.episode_length(), i)[0], 0);
    EXPECT_EQ(row<float>(e.metrics(), i), std::vector<float>(4, 0));
    EXPECT_EQ(row<float>(e.final_obs(), i), row<float>(e.obs(), i));
  }
  const int twice[] = {1, 1}, far[] = {4};
  EXPECT_THAT(error_message([&] { e.reset(twice); }), HasSubstr("twice"));
  EXPECT_THAT(error_message([&] { e.reset(far); }), HasSubstr("ids[0] = 4"));
}

TEST_P(Episodes, AFrozenEnvironmentEndsAndBeginsAgain) {
  Player player("HalfCheetah-v5", options(3));
  Env& e = player.env;
  player.step();
  poke(e.batch().field("qvel"), 1 * 9 + 4, 1e20f);
  player.step();
  EXPECT_EQ(numbers<std::uint8_t>(e.terminated()), (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(e.batch().status_count(), 0u);
  player.step();
  EXPECT_EQ(numbers<std::uint8_t>(e.terminated()), (std::vector<std::uint8_t>{0, 0, 0}));
  for (const float x : numbers<float>(e.obs())) EXPECT_TRUE(std::isfinite(x));
}

// What is not finite counts as zero, in the motors, in the reward and in what a task shows of the
// last action; the status says so, and the episode goes on.
TEST_P(Episodes, ActionsThatAreNotNumbers) {
  for (const TaskInfo& task : Env::tasks()) {
    SCOPED_TRACE(task.id);
    Player zero(task.id, options(3)), spoilt(task.id, options(3));
    const int n = task.num_actions;
    set_actions(zero.actions, n, 0, 0);
    spoilt.actions = zero.actions;
    constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()};
    for (int k = 0; k < std::min(n, 3); ++k)
      zero.actions[at(n + k)] = 0, spoilt.actions[at(n + k)] = kBad[k];
    zero.env.step(zero.actions);
    spoilt.env.step(spoilt.actions);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(results(zero.env, i), results(spoilt.env, i));
    EXPECT_FALSE(spoilt.done(1));
    const auto status = numbers<std::uint32_t>(spoilt.env.batch().status());
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(any(static_cast<Status>(status[at(i)]), Status::bad_control), i == 1);
  }
}

// Squares of actions and sums of rewards end at the largest float.
TEST_P(Episodes, RewardsAreFiniteWhateverTheActions) {
  for (const TaskInfo& task : Env::tasks()) {
    SCOPED_TRACE(task.id);
    Env e(task.id, options(2));
    for (int k = 0; k < 3; ++k) {
      e.step(std::vector<float>(at(2 * task.num_actions), k == 1 ? -3e38f : 3e38f));
      for (const ArrayView& v : {e.obs(), e.reward(), e.final_obs(), e.metrics(),
                                 e.episode_return(), e.final_episode_return()})
        for (const float x : numbers<float>(v)) ASSERT_TRUE(std::isfinite(x)) << v.name;
    }
  }
}

// From a snapshot everything goes on as it would have: ends, resets, returns, own parameters, noise.
TEST_P(Episodes, ASnapshotGoesOnWithTheSameBits) {
  for (const TaskInfo& task : Env::tasks())
    for (const Autoreset autoreset : {Autoreset::same_step, Autoreset::next_step}) {
      SCOPED_TRACE(task.id);
      EnvOptions o = options(5, autoreset, 3);
      o.max_episode_steps = 7;
      Player first(task.id, o);
      o.seed = 99;
      Player second(task.id, o);
      for (int k = 0; k < 10; ++k) first.step();
      second.env.restore(first.env.snapshot());
      for (int k = 0; k < 10; ++k) {
        EXPECT_EQ(first.env.steps(), second.env.steps());
        for (int i = 0; i < 5; ++i) {
          EXPECT_EQ(results(first.env, i), results(second.env, i)) << k;
          EXPECT_EQ(row<float>(first.env.episode_return(), i),
                    row<float>(second.env.episode_return(), i));
        }
        EXPECT_EQ(first.env.batch().state_hash(), second.env.batch().state_hash());
        first.step(), second.step();
      }
    }
}

TEST_P(Episodes, RefusesForeignSnapshots) {
  Player player("Hopper-v5", options(2));
  player.step();
  const std::vector<std::byte> good = player.env.snapshot();
  const auto refusal = [&](const std::vector<std::byte>& bytes) {
    const std::uint64_t before = player.env.batch().state_hash();
    const std::string message = error_message([&] { player.env.restore(bytes); });
    EXPECT_EQ(player.env.batch().state_hash(), before);
    return message;
  };
  EXPECT_THAT(refusal({}), HasSubstr("too short"));
  std::vector<std::byte> bytes = good;
  bytes[0] ^= std::byte{1};
  EXPECT_THAT(refusal(bytes), HasSubstr("not one"));
  for (const std::size_t place : {good.size() / 4, good.size() - 20}) {
    bytes = good;
    bytes[place] ^= std::byte{1};
    EXPECT_THAT(refusal(bytes), HasSubstr("checksum"));
  }
  EXPECT_THAT(refusal(Env("Hopper-v5", options(3)).snapshot()), HasSubstr("3 environments"));
  EXPECT_THAT(refusal(Env("Walker2d-v5", options(2)).snapshot()), HasSubstr("another task"));
  EnvOptions o = options(2);
  o.task["reset_noise_scale"] = 0.1;
  EXPECT_THAT(refusal(Env("Hopper-v5", o).snapshot()), HasSubstr("other options"));
  o = options(2);
  o.engine = Env("Hopper-v5", o).info().engine;
  o.engine->timestep = 0.001;
  EXPECT_THAT(refusal(Env("Hopper-v5", o).snapshot()), HasSubstr("other options"));
  o = options(2);
  o.precision = Precision::float64, o.device = "cpu";
  EXPECT_THAT(refusal(Env("Hopper-v5", o).snapshot()), HasSubstr("precision"));
}

// Numbers beyond float are the largest ones, in observations too, at resets too.
TEST_P(Episodes, ObservationsAreFiniteWhateverTheOptions) {
  EnvOptions o = options(8);
  o.task["contact_force_scale"] = 1e37, o.task["dof_velocity_scale"] = 1e38;
  Player p("IsaacAnt", o);
  bool large = false;
  for (int k = 0; k < (slow() ? 40 : 120); ++k) {
    p.step();
    for (const ArrayView& v : {p.env.obs(), p.env.final_obs()})
      for (const float x : numbers<float>(v)) {
        ASSERT_TRUE(std::isfinite(x)) << v.name << " " << k;
        large = large || std::fabs(x) == std::numeric_limits<float>::max();
      }
  }
  EXPECT_TRUE(large);
}

TEST_P(Episodes, RefusesWhatItCanNotDo) {
  const auto refusal = [](const std::string& id, const auto& change) {
    EnvOptions o = options(1);
    change(o);
    return error_message([&] { Env(id, o); });
  };
  const auto with = [&](const std::string& name, TaskOption value) {
    return refusal("Hopper-v5", [&](EnvOptions& o) { o.task[name] = value; });
  };
  const auto nothing = [](EnvOptions&) {};
  EXPECT_THAT(refusal("Hoper-v5", nothing), HasSubstr("no task 'Hoper-v5'; nearest: 'Hopper-v5'"));
  EXPECT_THAT(with("ctrl_weight", 1.0),
              HasSubstr("no option 'ctrl_weight'; nearest: 'ctrl_cost_weight'"));
  EXPECT_THAT(with("reset_noise_scale", -1.0), HasSubstr("reset_noise_scale = -1: must be >= 0"));
  EXPECT_THAT(with("reset_noise_scale", true), HasSubstr("true: must be a number"));
  EXPECT_THAT(with("healthy_z_range", std::vector<double>{2, 1}), HasSubstr("low < high"));
  EXPECT_THAT(with("healthy_z_range", std::vector<double>{2}), HasSubstr("2 numbers"));
  EXPECT_THAT(with("frame_skip", 2.5), HasSubstr("whole number"));
  EXPECT_THAT(with("ctrl_cost_weight", std::nan("")), HasSubstr("finite"));
  EXPECT_THAT(refusal("Hopper-v5", [](EnvOptions& o) { o.num_envs = 0; }),
              HasSubstr("num_envs = 0"));
  EXPECT_THAT(refusal("Hopper-v5", [](EnvOptions& o) { o.threads = -1; }), HasSubstr("threads"));
  EXPECT_THAT(refusal("Hopper-v5", [](EnvOptions& o) { o.max_episode_steps = -2; }),
              HasSubstr("max_episode_steps"));
  Env e("Hopper-v5", options(2));
  EXPECT_THAT(error_message([&] { e.step(std::vector<float>(5)); }),
              HasSubstr("actions has 5 numbers, 2 environments need 2 x 3"));
}

TEST_P(Episodes, OptionsOfTheEngineAndFrameSkip) {
  EnvOptions o = options(1);
  o.engine.emplace().timestep = 0.004;
  o.task["frame_skip"] = 3.0;
  Env e("HalfCheetah-v5", o);
  EXPECT_DOUBLE_EQ(e.dt(), 0.012);
  EXPECT_EQ(e.info().frame_skip, 3);
  e.step(std::vector<float>(6, 0.5f));
  EXPECT_NEAR(peek<double>(e.batch().field("time"), 0), 0.012, 1e-12);
}

TEST_P(Episodes, ObserveShowsWhatWasWritten) {
  Player player("HalfCheetah-v5", options(2));
  player.step();
  Env& e = player.env;
  const auto reward = numbers<float>(e.reward());
  poke(e.batch().field("qpos"), 1 * 9 + 3, 0.625);
  e.observe();
  EXPECT_EQ(row<float>(e.obs(), 1)[2], 0.625f);
  EXPECT_EQ(numbers<float>(e.reward()), reward);
}

}  // namespace
}  // namespace stiction::test
