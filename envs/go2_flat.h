// Go2Flat: a quadruped that follows a commanded planar velocity on flat ground, with the values of
// legged_gym (its flat ANYmal task, on a Go2) or of mjlab (its flat Go1 task, on a Go2).
//
// An action is an offset of the joint targets. Position servos of the model hold them, implicit in the
// step: legged_gym computes the same torque explicitly in every physics step.
#pragma once

#include "envs/go2_rewards.h"
#include "envs/velocity_command.h"

namespace stiction::envs {

struct Go2Flat {
  // what the presets differ in
  double target[kLegJoints];  // default joint positions
  double scale[kLegJoints];   // of actions, rad
  double action_bound;
  CommandLaw command;
  bool command_last;   // its place in the observation: at the end, else fourth
  bool mjlab;          // rewards, termination and order of a step
  double observed[5];  // scales: v, ω, planar command, yaw command, q̇
  double noise[5];     // ±, before scaling: v, ω, g, q, q̇; 0: none
  double weight[kRewardTerms];
  double push_interval[2];                 // s; 0: no pushes
  double push_linear[3], push_angular[3];  // ± m/s, rad/s
  bool push_sets;                          // replaces the planar velocity instead of adding to it
  double start_height[2], start_xy, start_yaw, start_velocity;
  double start_joint[2];  // factor on the default positions
  // drawn once per environment
  bool own_friction, own_mass, own_centre;
  bool feet_only;  // that get the own friction
  double friction[2], added_mass[2], centre[3], encoder;
  double base_mass, base_centre[3];  // of the model
  int first_geom;                    // of the robot
  int foot[kLegs], thigh[kLegs], calf[kLegs], foot_geom[kLegs];

  static constexpr int num_obs = 48, num_actions = kLegJoints, num_metrics = kRewardTerms + 2;

  // Places in the memory.
  static constexpr int kCommand = 0, kPush = kCommand + kCommandNumbers, kAction = kPush + 1,
                       kQvel = kAction + kLegJoints, kAir = kQvel + kLegJoints,
                       kStood = kAir + kLegs, kPeak = kStood + kLegs, kEncoder = kPeak + kLegs,
                       num_memory = kEncoder + kLegJoints;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    team.once([&] {
      EnvView<S>& e = env.fields;
      Draw draw(env.seed, env.episode, Purpose::reset);
      for (int k = 0; k < 2; ++k) e.qpos[k] = draw.uniform(-start_xy, start_xy);
      e.qpos[2] = draw.uniform(start_height[0], start_height[1]);
      const auto half = physics::sincos(0.5 * draw.uniform(-start_yaw, start_yaw));
      e.qpos[3] = half.cos, e.qpos[4] = e.qpos[5] = 0, e.qpos[6] = half.sin;
      for (int i = 0; i < kLegJoints; ++i) {
        const double low = e.jnt_range[2 * (i + 1)], high = e.jnt_range[2 * (i + 1) + 1];
        const double q = target[i] * draw.uniform(start_joint[0], start_joint[1]);
        e.qpos[7 + i] = physics::clamp(q, low, high);
      }
      for (int i = 0; i < 6; ++i) e.qvel[i] = S(draw.uniform(-start_velocity, start_velocity));

      store_command(env.memory + kCommand,
                    draw_command<S>(command, Draw(env.seed, env.episode, Purpose::command)));
      Draw push(env.seed, env.episode, Purpose::push);
      env.memory[kPush] = S(push.uniform(mjlab ? push_interval[0] : 0.0, push_interval[1]));
      set_body(m, env);
    });
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    EnvView<S>& e = env.fields;
    team.for_each(kLegJoints, [&](int i) {
      env.memory[kQvel + i] = e.qvel[6 + i];
      e.ctrl[i] = S(target[i] + scale[i] * static_cast<double>(clipped(env, i)));
    });
    team.once([&] {
      S& left = env.memory[kPush];
      left = left - S(env.dt);
      if (push_interval[1] > 0 && left < S(0.5 * env.dt)) left = left + push_base(env);
    });
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView&, TaskEnv<S>& env, bool first) const {
    const EnvView<S>& e = env.fields;
    const Mat3<S> axes = body_axes(e, 1);
    const double heading = angle(static_cast<double>(axes.x.y), static_cast<double>(axes.x.x));
    // legged_gym draws before the reward, mjlab after it
    if (first || !mjlab) team.once([&] { steer(env, heading, !first); });
    Gait<S> g;
    g.velocity = physics::transposed(axes, physics::load3(e.qvel, 0));
    g.rate = physics::load3(e.qvel, 1);
    g.gravity = -physics::transposed(axes, Vec3<S>{S(0), S(0), S(1)});
    if (!first) {
      judge(team, env, g);
      if (mjlab) team.once([&] { steer(env, heading, true); });
    }
    write_observation(team, env, g);
  }

 private:
  template <class S>
  STICTION_FN float clipped(const TaskEnv<S>& env, int i) const {
    const auto bound = static_cast<float>(action_bound);
    return physics::clamp(env.action[i], -bound, bound);
  }

  // Parameters that are the environment's own in all its episodes.
  template <class S>
  STICTION_FN void set_body(const ModelView& m, TaskEnv<S>& env) const {
    EnvView<S>& e = env.fields;
    Draw draw(env.seed, 0, Purpose::param);
    const S slide = S(draw.uniform(friction[0], friction[1]));
    const double more = draw.uniform(added_mass[0], added_mass[1]);
    if (own_friction && feet_only)
      for (int f = 0; f < kLegs; ++f) e.geom_friction[foot_geom[f]] = slide;
    if (own_friction && !feet_only)
      for (int i = first_geom; i < m.ngeom; ++i) e.geom_friction[i] = slide;
    if (own_mass) e.body_mass[1] = S(base_mass + more);
    for (int k = 0; k < 3; ++k) {
      const double shift = draw.uniform(-centre[k], centre[k]);
      if (own_centre) e.body_ipos[3 + k] = base_centre[k] + shift;
    }
    for (int i = 0; i < kLegJoints; ++i)
      env.memory[kEncoder + i] = S(draw.uniform(-encoder, encoder));
  }

  // A sudden change of the base's velocity; returns the seconds until the next.
  template <class S>
  STICTION_FN S push_base(TaskEnv<S>& env) const {
    EnvView<S>& e = env.fields;
    Draw draw(env.seed, env.episode, Purpose::push, static_cast<std::uint32_t>(env.step) + 1);
    double linear[3], angular[3];
    for (int k = 0; k < 3; ++k) linear[k] = draw.uniform(-push_linear[k], push_linear[k]);
    for (int k = 0; k < 3; ++k) angular[k] = draw.uniform(-push_angular[k], push_angular[k]);
    for (int k = 0; k < 3; ++k)
      e.qvel[k] = push_sets && k < 2 ? S(linear[k]) : e.qvel[k] + S(linear[k]);
    const Vec3<S> turn =
        physics::transposed(body_axes(e, 1), Vec3<S>{S(angular[0]), S(angular[1]), S(angular[2])});
    physics::store3(e.qvel, 1, physics::load3(e.qvel, 1) + turn);
    return S(draw.uniform(push_interval[0], push_interval[1]));
  }

  // The command of now; with `passes`, time goes on.
  template <class S>
  STICTION_FN void steer(TaskEnv<S>& env, double heading, bool passes) const {
    Command<S> c = load_command(env.memory + kCommand);
    if (passes) {
      c.left = c.left - S(env.dt);
      if (c.left < S(0.5 * env.dt))
        c = draw_command<S>(command, Draw(env.seed, env.episode, Purpose::command,
                                          static_cast<std::uint32_t>(env.step)));
    }
    if (c.follows > S(0)) c.yaw = yaw_to_heading(command, c, heading);
    store_command(env.memory + kCommand, c);
  }

  // Reward, end, metrics and what they remember.
  template <class Team, class S>
  STICTION_FN void judge(const Team& team, TaskEnv<S>& env, Gait<S>& g) const {
    const EnvView<S>& e = env.fields;
    S* memory = env.memory;
    float action[kLegJoints];
    for (int i = 0; i < kLegJoints; ++i) action[i] = clipped(env, i);
    for (int k = 0; k < 3; ++k) g.command[k] = memory[kCommand + k];
    g.dt = env.dt, g.target = target, g.action = action;
    g.last_action = memory + kAction, g.last_qvel = memory + kQvel;
    g.foot = foot, g.thigh = thigh, g.calf = calf;
    S stands[kLegs];
    for (int f = 0; f < kLegs; ++f) {
      // legged_gym: loaded now or one step ago; mjlab: touches
      const S load = mjlab ? contact_force(e, foot[f]) : e.xfrc_contact[6 * foot[f] + 2];
      stands[f] = S(load > S(mjlab ? 0 : 1) ? 1 : 0);
      g.contact[f] = mjlab ? stands[f] : physics::vmax(stands[f], memory[kStood + f]);
      g.touch_down[f] = memory[kAir + f] > S(0) ? g.contact[f] : S(0);
      g.air_time[f] = memory[kAir + f] + S(env.dt);
      g.peak[f] = physics::vmax(memory[kPeak + f], S(e.xpos[3 * foot[f] + 2]));
    }

    S term[kRewardTerms];
    if (mjlab)
      mjlab_terms(team, e, g, term);
    else
      legged_gym_terms(team, e, g, term);
    S reward = S(0);
    for (int k = 0; k < kRewardTerms; ++k) {
      term[k] = S(weight[k] * env.dt) * term[k];
      reward = reward + term[k];
    }
    env.reward = mjlab ? reward : physics::vmax(reward, S(0));
    constexpr double kCosTilt = 0.3420201433256687;  // 70 degrees
    env.terminated = mjlab ? g.gravity.z > S(-kCosTilt) : contact_force(e, 1) > S(1);
    const S planar = physics::vsqrt(planar_error2(g)), yaw = physics::vabs(g.command[2] - g.rate.z);

    team.sync();  // all threads have read the memory
    team.for_each(kLegs, [&](int f) {
      memory[kAir + f] = g.contact[f] > S(0) ? S(0) : g.air_time[f];
      memory[kPeak + f] = g.contact[f] > S(0) ? S(0) : g.peak[f];
      memory[kStood + f] = stands[f];
    });
    team.for_each(kLegJoints, [&](int i) { memory[kAction + i] = S(action[i]); });
    team.once([&] {
      for (int k = 0; k < kRewardTerms; ++k) env.metric[k] = static_cast<float>(term[k]);
      env.metric[kRewardTerms] = static_cast<float>(planar);
      env.metric[kRewardTerms + 1] = static_cast<float>(yaw);
    });
  }

  template <class Team, class S>
  STICTION_FN void write_observation(const Team& team, TaskEnv<S>& env, const Gait<S>& g) const {
    const EnvView<S>& e = env.fields;
    const int base = command_last ? 9 : 12, last = command_last ? 45 : 9;
    team.once([&] {
      float* obs = env.obs;
      const S numbers[9] = {g.velocity.x, g.velocity.y, g.velocity.z, g.rate.x,   g.rate.y,
                            g.rate.z,     g.gravity.x,  g.gravity.y,  g.gravity.z};
      const double scales[5] = {observed[0], observed[1], 1.0, 1.0, observed[4]};
      Draw draw(env.seed, env.episode, Purpose::noise, static_cast<std::uint32_t>(env.step));
      const auto put = [&](int place, int kind, double x) {
        const double error = noise[kind] > 0 ? draw.uniform(-noise[kind], noise[kind]) : 0.0;
        obs[place] = static_cast<float>(scales[kind] * (x + error));
      };
      for (int k = 0; k < 9; ++k) put(k, k / 3, static_cast<double>(numbers[k]));
      for (int i = 0; i < kLegJoints; ++i)
        put(base + i, 3, e.qpos[7 + i] - target[i] + static_cast<double>(env.memory[kEncoder + i]));
      for (int i = 0; i < kLegJoints; ++i)
        put(base + kLegJoints + i, 4, static_cast<double>(e.qvel[6 + i]));
      for (int i = 0; i < kLegJoints; ++i) obs[base + 2 * kLegJoints + i] = clipped(env, i);
      for (int k = 0; k < 3; ++k)
        obs[last + k] = static_cast<float>(observed[k == 2 ? 3 : 2] *
                                           static_cast<double>(env.memory[kCommand + k]));
    });
  }
};

}  // namespace stiction::envs
