// Episodes on a device beside those of the CPU, and what only a device has.
#include <cstdlib>

#include "env/players.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

EnvOptions here(EnvOptions o) {
  o.device = "cpu";
  return o;
}

// Ends and lengths are the same; the rest within the tolerances, relative to 1 or the number.
void expect_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance,
                 const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double scale = std::max(1.0, std::fabs(static_cast<double>(b[k])));
    ASSERT_NEAR(static_cast<double>(a[k]), static_cast<double>(b[k]), tolerance * scale)
        << what << " " << k;
  }
}
void expect_same_ends(Env& a, Env& b) {
  EXPECT_EQ(numbers<std::uint8_t>(a.terminated()), numbers<std::uint8_t>(b.terminated()));
  EXPECT_EQ(numbers<std::uint8_t>(a.truncated()), numbers<std::uint8_t>(b.truncated()));
  EXPECT_EQ(numbers<std::int32_t>(a.episode_length()), numbers<std::int32_t>(b.episode_length()));
  EXPECT_EQ(numbers<std::int32_t>(a.final_episode_length()),
            numbers<std::int32_t>(b.final_episode_length()));
}

// What a solver tolerance of 1e-4 leaves to the speeds of light bodies grows over the steps of a control
// step to more than the tolerances here: both devices solve to the last bits that single precision has, and the
// bounds of friction to their fixed point, since those of "auto" stop within 2 % of it, where round-off decides.
EnvOptions solved_to_the_end(const std::string& id, EnvOptions o) {
  for (const TaskInfo& t : Env::tasks())
    if (t.id == id) o.engine = t.engine;
  o.engine->solver_tolerance = 1e-6;
  if (o.engine->friction_iterations == kAutoFriction)
    o.engine->friction_iterations = kFixedPointFriction;
  return o;
}

class DeviceTask : public EveryTask {};
INSTANTIATE_TEST_SUITE_P(Env, DeviceTask, testing::ValuesIn(tasks_on_devices(false)), task_name);

// Each control step from the same snapshot, which both devices read: states do not drift apart.
TEST_P(DeviceTask, AControlStepIsThatOfTheCpu) {
  const int n = 3, steps = slow() ? 16 : 60;
  for (const Autoreset a : {Autoreset::same_step, Autoreset::next_step, Autoreset::disabled}) {
    EnvOptions o = solved_to_the_end(task(), options(n, a, 5));
    o.max_episode_steps = 7;
    Player there(task(), o), cpu(task(), here(o));
    int ends = 0;
    for (int k = 0; k < steps; ++k) {
      cpu.env.restore(there.env.snapshot());
      EXPECT_EQ(cpu.env.batch().state_hash(), there.env.batch().state_hash());
      for (int i = 0; i < n; ++i) ASSERT_EQ(results(cpu.env, i), results(there.env, i));
      there.step(), cpu.step();
      expect_same_ends(there.env, cpu.env);
      for (int i = 0; i < n; ++i) ends += cpu.done(i) ? 1 : 0;
      expect_near(numbers<float>(there.env.reward()), numbers<float>(cpu.env.reward()), 2e-3,
                  "reward");
      expect_near(numbers<float>(there.env.obs()), numbers<float>(cpu.env.obs()), 2e-2, "obs");
      expect_near(numbers<float>(there.env.final_obs()), numbers<float>(cpu.env.final_obs()), 2e-2,
                  "final_obs");
      expect_near(numbers<float>(there.env.episode_return()),
                  numbers<float>(cpu.env.episode_return()), 2e-3, "return");
      if (a == Autoreset::disabled && k % 7 == 6) there.env.reset();
    }
    EXPECT_GE(ends, n);
  }
}

// First observations come from the same random numbers in every episode, of own parameters too.
TEST_P(DeviceTask, EpisodesBeginAsOnTheCpu) {
  EnvOptions o = options(3, Autoreset::disabled, 11);
  Player there(task(), o), cpu(task(), here(o));
  // who begins on the floor sees forces, which each device solves to 1e-4 of all momentum
  const double tolerance = task() == "HumanoidStandup-v5" ? 1e-3 : 1e-4;
  for (int k = 0; k < 3; ++k) {
    expect_near(numbers<float>(there.env.obs()), numbers<float>(cpu.env.obs()), tolerance, "obs");
    there.env.reset(), cpu.env.reset();
    if (k == 0) there.env.reset(), cpu.env.reset();
  }
  for (const std::string name : {"geom_friction", "body_mass"}) {
    ASSERT_EQ(there.env.batch().param_is_own(name), cpu.env.batch().param_is_own(name));
    if (!cpu.env.batch().param_is_own(name)) continue;
    EXPECT_EQ(numbers<float>(there.env.batch().param(name)),
              numbers<float>(cpu.env.batch().param(name)));
  }
}

// A snapshot of the CPU goes on there as one of its own does.
TEST_P(DeviceTask, RestoresASnapshotOfTheCpu) {
  EnvOptions o = options(3, Autoreset::same_step, 2);
  o.max_episode_steps = 5;
  Player cpu(task(), here(o)), a(task(), o), b(task(), o);
  for (int k = 0; k < 4; ++k) cpu.step();
  a.env.restore(cpu.env.snapshot());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(results(a.env, i), results(cpu.env, i));
  EXPECT_EQ(a.env.steps(), cpu.env.steps());
  b.env.restore(a.env.snapshot());
  for (int k = 0; k < 4; ++k) {
    a.step(), b.step();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(results(a.env, i), results(b.env, i));
  }
  EXPECT_EQ(a.env.batch().state_hash(), b.env.batch().state_hash());
}

// What a step must not read, and what it must write, is NaN before it.
TEST_P(DeviceTask, PoisonChangesNoBit) {
  EnvOptions o = options(2, Autoreset::next_step, 1);
  o.max_episode_steps = 4;
  Player clean(task(), o);
  setenv("STICTION_POISON", "1", 1);
  Player poisoned(task(), o);
  unsetenv("STICTION_POISON");
  for (int k = 0; k < 10; ++k) {
    clean.step(), poisoned.step();
    for (int i = 0; i < 2; ++i) ASSERT_EQ(results(clean.env, i), results(poisoned.env, i)) << k;
  }
}

class DeviceEpisodes : public EveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceEpisodes, testing::ValuesIn(device_names(false)),
                         [](const auto& named) { return named.param; });

// Whole episodes without help from the CPU: the pendulum forgets how it was summed.
TEST_P(DeviceEpisodes, HundredsOfStepsEndWhereThoseOfTheCpuDo) {
  for (const char* id : {"InvertedPendulum-v5", "IsaacCartpole", "Reacher-v5"})
    for (const Autoreset a : {Autoreset::same_step, Autoreset::next_step}) {
      SCOPED_TRACE(id);
      EnvOptions o = options(slow() ? 8 : 64, a, 3);
      o.max_episode_steps = 40;
      Player there(id, o), cpu(id, here(o));
      for (int k = 0; k < 300; ++k) {
        there.step(), cpu.step();
        expect_same_ends(there.env, cpu.env);
        if (testing::Test::HasFailure()) return;
      }
      expect_near(numbers<float>(there.env.final_episode_return()),
                  numbers<float>(cpu.env.final_episode_return()), 1e-3, "return");
    }
}

// A warp computes what one lane does, up to the order of sums.
TEST(EmulatedWarp, AControlStepIsThatOfOneLane) {
  for (const char* id : {"InvertedPendulum-v5", "Ant-v5", "Go2Flat"}) {
    SCOPED_TRACE(id);
    use_device("emulated");
    EnvOptions o = options(1, Autoreset::same_step, 7);
    o.max_episode_steps = 2;
    Player one(id, o);
    o.device = "emulated_warp";
    Player warp(id, o);
    use_device("cpu");
    for (int k = 0; k < (kSanitized ? 1 : 3); ++k) {
      warp.env.restore(one.env.snapshot());
      one.step(), warp.step();
      expect_same_ends(warp.env, one.env);
      expect_near(numbers<float>(warp.env.reward()), numbers<float>(one.env.reward()), 2e-3,
                  "reward");
      expect_near(numbers<float>(warp.env.final_obs()), numbers<float>(one.env.final_obs()), 2e-2,
                  "final_obs");
    }
  }
}

// Rows of ctrl are memory of the device.
TEST_P(DeviceEpisodes, TakesActionsOfTheDevice) {
  Player host("HalfCheetah-v5", options(3)), there("HalfCheetah-v5", options(3));
  Env other("HalfCheetah-v5", options(3));
  const ArrayView actions = other.batch().field("ctrl");
  for (int k = 0; k < 3; ++k) {
    host.step();
    copy_memory(actions.device, actions.data, host.actions.data(),
                host.actions.size() * sizeof(float));
    there.env.step(actions);
    other.batch().synchronize();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(results(host.env, i), results(there.env, i));
  }
  const auto refusal = [&](auto change) {
    ArrayView v = actions;
    change(v);
    return error_message([&] { there.env.step(v); });
  };
  EXPECT_THAT(refusal([](ArrayView& v) { v.data = nullptr; }), HasSubstr("null"));
  EXPECT_THAT(refusal([&](ArrayView& v) { v.data = host.actions.data(); }),
              HasSubstr("not memory of"));
  EXPECT_THAT(refusal([](ArrayView& v) { v.shape[1] = 5; }), HasSubstr("actions has 15 numbers"));
  EXPECT_THAT(refusal([](ArrayView& v) { v.dtype = DType::int32; }), HasSubstr("float32"));
  EXPECT_THAT(refusal([](ArrayView& v) { v.device = "cuda:7"; }), HasSubstr("on cuda:7"));
  EXPECT_EQ(there.env.steps(), 3u);
}

TEST_P(DeviceEpisodes, PhysicsOfTheCaller) {
  Player whole("Ant-v5", options(2)), halves("Ant-v5", options(2));
  for (int k = 0; k < 4; ++k) {
    whole.step();
    set_actions(halves.actions, 8, 0, k);
    halves.env.step(halves.actions, [&] { halves.env.batch().step(halves.env.info().frame_skip); });
    for (int i = 0; i < 2; ++i) EXPECT_EQ(results(whole.env, i), results(halves.env, i));
  }
}

// An episode that begins is no business of the others: their outputs are those of the step.
TEST_P(DeviceEpisodes, AnEpisodeThatBeginsLeavesTheOthers) {
  EnvOptions o = options(3, Autoreset::disabled);
  o.max_episode_steps = 20;
  Player off("Ant-v5", o);
  o.autoreset = Autoreset::same_step;
  Player same("Ant-v5", o);
  for (Player* p : {&off, &same}) poke<std::int32_t>(p->env.episode_length(), 1, 17);
  for (int k = 0; k < 3; ++k) off.step(), same.step();
  EXPECT_EQ(numbers<std::uint8_t>(same.env.truncated()), (std::vector<std::uint8_t>{0, 1, 0}));
  for (const int i : {0, 2}) EXPECT_EQ(bytes(same.env.batch(), i), bytes(off.env.batch(), i));
  EXPECT_NE(bytes(same.env.batch(), 1), bytes(off.env.batch(), 1));
}

// What the kernels were given before is what they read after.
TEST_P(DeviceEpisodes, AParameterBecomesOwnBetweenSteps) {
  Player plain("Hopper-v5", options(2)), own("Hopper-v5", options(2));
  plain.step(), own.step();
  const ArrayView mass = own.env.batch().param("body_mass");
  plain.step(), own.step();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(results(plain.env, i), results(own.env, i));
  put(mass, 1, 1, 30.0);
  plain.step(), own.step();
  EXPECT_EQ(results(plain.env, 0), results(own.env, 0));
  EXPECT_NE(results(plain.env, 1), results(own.env, 1));
}

TEST_P(DeviceEpisodes, ResultsAreOnTheDevice) {
  Env e("Hopper-v5", options(2));
  for (const ArrayView& v :
       {e.obs(), e.reward(), e.terminated(), e.truncated(), e.final_obs(), e.metrics(),
        e.episode_return(), e.final_episode_length(), e.final_episode_return()}) {
    EXPECT_EQ(v.device, e.batch().device()) << v.name;
    EXPECT_FALSE(v.writable) << v.name;
  }
  EXPECT_TRUE(e.episode_length().writable);
  EnvOptions o = options(2);
  o.threads = 2;
  EXPECT_THAT(error_message([&] { Env("Hopper-v5", o); }), HasSubstr("has no threads"));
  o = options(2), o.precision = Precision::float64;
  EXPECT_THAT(error_message([&] { Env("Hopper-v5", o); }), HasSubstr("float64"));
}

}  // namespace
}  // namespace stiction::test
