// What a step showed is shown again, and a step that fails has not happened.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "env/players.h"

namespace stiction::test {
namespace {

class WholeSteps : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(WholeSteps);

// Of a state that nobody changed: the same bits, with the last action, noise and commands.
TEST_P(WholeSteps, ObserveShowsWhatTheLastStepShowed) {
  for (const TaskInfo& task : Env::tasks())
    for (const Autoreset autoreset : {Autoreset::same_step, Autoreset::next_step}) {
      SCOPED_TRACE(task.id);
      EnvOptions o = options(4, autoreset, 5);
      o.max_episode_steps = 6;
      Player player(task.id, o), other(task.id, o);
      const auto expect_shown = [&](const char* when) {
        const std::vector<float> shown = numbers<float>(player.env.obs());
        player.env.observe();
        EXPECT_EQ(numbers<float>(player.env.obs()), shown) << when;
      };
      expect_shown("before a step");
      for (int k = 0; k < 9; ++k) {
        player.step();
        expect_shown("after a step");
      }
      player.env.reset(std::vector<int>{2});
      expect_shown("after a reset");
      player.step();
      other.env.restore(player.env.snapshot());
      const std::vector<float> shown = numbers<float>(other.env.obs());
      other.env.observe();
      // but forces of the last interval, which a snapshot leaves out
      constexpr const char* kForces[] = {"Ant-v5", "Humanoid-v5", "HumanoidStandup-v5", "IsaacAnt",
                                         "IsaacHumanoid"};
      if (std::find(std::begin(kForces), std::end(kForces), task.id) == std::end(kForces)) {
        EXPECT_EQ(numbers<float>(other.env.obs()), shown);
      }
    }
}

// Whatever the function in the place of the physics did before it gave up.
TEST_P(WholeSteps, AStepWhosePhysicsThrowsHasNotHappened) {
  for (const TaskInfo& task : Env::tasks()) {
    SCOPED_TRACE(task.id);
    EnvOptions o = options(4, Autoreset::same_step, 5);
    o.max_episode_steps = 6;
    Player steady(task.id, o), broken(task.id, o);
    for (int k = 0; k < 8; ++k) {
      steady.step(), broken.step();
      Batch& b = broken.env.batch();
      const SolverCounts counts = b.counts();
      std::vector<float> actions(broken.actions.size(), k == 3 ? NAN : 0.5f);
      const std::function<void()> physics = [&] {
        b.step(2);
        put(b.field("qvel"), 1, 0, 3.0);
        if (k == 5) put(b.param("gravity"), 2, 2, -1.0), put(b.field("qpos"), 3, 0, NAN);
        b.step();
        if (k == 6) b.reset();
        throw std::domain_error("gave up");
      };
      EXPECT_THROW(broken.env.step(actions, physics), std::domain_error);
      EXPECT_EQ(broken.env.steps(), steady.env.steps());
      EXPECT_EQ(b.counts().env_steps, counts.env_steps);
      EXPECT_EQ(b.counts().iterations, counts.iterations);
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(results(broken.env, i), results(steady.env, i)) << k;
        EXPECT_EQ(bytes(b, i), bytes(steady.env.batch(), i)) << k;
        EXPECT_EQ(status(b, i), status(steady.env.batch(), i));
      }
    }
  }
}

}  // namespace
}  // namespace stiction::test
