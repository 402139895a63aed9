// What a task is made of. A task turns the state of a robot into observation, reward and end of the
// episode, and says how an episode begins; it never steps the physics.
//
// A task is a struct of plain numbers (its options and what it looked up in the model), copied to the
// device, with three functions on one environment, written on Team x Scalar:
//
//   reset    writes qpos, qvel (from the reference pose that they hold) and memory of a new episode
//   act      once before the physics steps of a control step: action -> ctrl or other inputs
//   observe  after them: obs, reward, terminated, metrics. With `first` obs alone: after a reset, and
//            when Env::observe() shows a state again, of a step with what the step showed
//
//   template <class Team, class S> void reset(const Team&, const ModelView&, TaskEnv<S>&) const;
//   template <class Team, class S> void act(const Team&, const ModelView&, TaskEnv<S>&) const;
//   template <class Team, class S> void observe(const Team&, const ModelView&, TaskEnv<S>&, bool first) const;
//
// and four counts: num_obs, num_actions, num_metrics, num_memory; and where a task needs to know how earlier episodes went,
// num_kept. The host side (names, options, the model's file)
// is the task's entry in src/env/registry_*.cpp.
//
// Members of TaskEnv are each thread's own: all threads of a team assign reward and terminated. The
// arrays that it points to are shared: write them in for_each or once (physics/base/team.h).
#pragma once

#include "envs/philox.h"
#include "physics/base/views.h"

namespace stiction::envs {

using physics::EnvView;
using physics::ModelView;

// One environment as a task sees it. The fields are its dense rows: those of kind scratch are null,
// parameters are the model's unless own (Batch::param) and only own ones may be written.
template <class S>
struct TaskEnv {
  EnvView<S> fields;
  const float* action;  // (num_actions) as given by the user, finite, not clipped; 0 after a reset
  float* obs;           // (num_obs)
  float* metric;        // (num_metrics) terms of the reward and what else is worth logging
  // (num_memory) lives from step to step; zero at the beginning of an episode, the last num_kept of episode 0 alone
  S* memory;
  S reward;
  bool terminated;
  std::uint64_t seed;     // of the environment: the batch's seed + its index
  std::uint32_t episode;  // its number, from 0
  std::int32_t step;      // control steps since the reset: in the first act 0, then 1 in observe
  double dt;              // of a control step, s
};

// A wide number in two places of the memory, from act to observe: one float resolves 1e-5 m at 100 m.
template <class S>
STICTION_FN void keep(S* memory, const physics::Wide<S>& x) {
  memory[0] = physics::narrow<S>(x);
  memory[1] = physics::narrow<S>(x - physics::widen<S>(memory[0]));
}
template <class S>
STICTION_FN physics::Wide<S> kept(const S* memory) {
  return physics::widen<S>(memory[0]) + physics::widen<S>(memory[1]);
}

}  // namespace stiction::envs
