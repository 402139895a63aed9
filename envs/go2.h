// Go2Flat and Go2Rough: a quadruped that follows a commanded planar velocity on flat ground or over terrain, with the values of
// legged_gym (its ANYmal tasks, on a Go2) or of mjlab (its Go1 tasks, on a Go2).
//
// An action is an offset of the joint targets. Position servos of the model hold them, implicit in the
// step: legged_gym computes the same torque explicitly in every physics step.
#pragma once

#include "envs/go2_rewards.h"
#include "envs/ground.h"
#include "envs/velocity_command.h"

namespace stiction::envs {

template <class Ground>
struct Go2 {
  Ground ground;
  // what the presets differ in
  double target[kLegJoints];  // default joint positions
  double scale[kLegJoints];   // of actions, rad
  double action_bound;
  CommandLaw command;
  bool command_last;   // its place in the observation: at the end, else fourth
  bool mjlab;          // rewards, termination and order of a step
  double observed[5];  // scales: v, ω, planar command, yaw command, q̇
  double noise[5];     // ±, before scaling: v, ω, g, q, q̇; 0: none
  double weight[kRewardTerms + Ground::num_terms];
  // of heights: how far the base is over the ground less the offset, clipped, with noise, scaled
  double height_offset, height_clip[2], height_noise, height_scale;
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

  static constexpr int kTerms = kRewardTerms + Ground::num_terms;
  // errors of the planar velocity and the yaw rate, and the level
  static constexpr int num_obs = 48 + Ground::num_heights, num_actions = kLegJoints,
                       num_metrics = kTerms + 2 + Ground::num_terms;

  // Places in the memory.
  static constexpr int kCommand = 0, kPush = kCommand + kCommandNumbers, kAction = kPush + 1,
                       kQvel = kAction + kLegJoints, kAir = kQvel + kLegJoints,
                       kStood = kAir + kLegs, kPeak = kStood + kLegs, kEncoder = kPeak + kLegs,
                       kGround = kEncoder + kLegJoints, num_memory = kGround + Ground::num_memory,
                       num_kept = Ground::num_kept;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    team.once([&] {
      EnvView<S>& e = env.fields;
      Draw draw(env.seed, env.episode, Purpose::reset);
      const Vec3<double> origin = ground.begin(m, env, env.memory + kGround);
      e.qpos[0] = origin.x + draw.uniform(-start_xy, start_xy);
      e.qpos[1] = origin.y + draw.uniform(-start_xy, start_xy);
      e.qpos[2] = origin.z + draw.uniform(start_height[0], start_height[1]);
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
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
    const EnvView<S>& e = env.fields;
    const Mat3<S> axes = body_axes(e, 1);
    const double heading = angle(static_cast<double>(axes.x.y), static_cast<double>(axes.x.x));
    // legged_gym draws before the reward, mjlab after it
    if (first || !mjlab) team.once([&] { steer(env, heading, !first); });
    Gait<S> g;
    g.velocity = physics::transposed(axes, physics::load3(e.qvel, 0));
    g.rate = physics::load3(e.qvel, 1);
    g.gravity = -physics::transposed(axes, Vec3<S>{S(0), S(0), S(1)});
    g.up = -g.gravity;
    if constexpr (Ground::num_heights > 0) scan(team, m, env, axes, g);
    if (!first) {
      judge(team, m, env, g);
      if (mjlab) team.once([&] { steer(env, heading, true); });
    }
    write_observation(team, env, g);
    if constexpr (Ground::num_heights > 0) write_heights(team, env);
  }

 private:
  // Heights of the ground over the base into their place in the observation, and the normal of the plane through them.
  template <class Team, class S>
  STICTION_FN void scan(const Team& team, const ModelView& m, TaskEnv<S>& env, const Mat3<S>& axes,
                        Gait<S>& g) const {
    float* const heights = env.obs + 48;
    physics::height_scan(team, m, env.fields, ground.scan, 1, heights);
    team.sync();
    // of a grid about the origin, least squares: slope = Σ x h / Σ x²
    const HeightScan& grid = ground.scan;
    const auto x_of = [&](int k) { return (k / grid.ny - 0.5 * (grid.nx - 1)) * grid.step; };
    const auto y_of = [&](int k) { return (k % grid.ny - 0.5 * (grid.ny - 1)) * grid.step; };
    const auto height = [&](int k) { return S(physics::clamp(heights[k], -5.0f, 5.0f)); };
    const int n = grid.count();
    const S xx = team.template sum<S>(n, [&](int k) { return S(x_of(k) * x_of(k)); });
    const S yy = team.template sum<S>(n, [&](int k) { return S(y_of(k) * y_of(k)); });
    const S xh = team.template sum<S>(n, [&](int k) { return S(x_of(k)) * height(k); });
    const S yh = team.template sum<S>(n, [&](int k) { return S(y_of(k)) * height(k); });
    const S along = -xh / xx, beside = -yh / yy;
    const auto heading = physics::heading_of(axes.x);
    const S c = heading.cos, s = heading.sin;
    const Vec3<S> normal = {c * along - s * beside, s * along + c * beside, S(1)};
    g.up = (S(1) / physics::norm(normal)) * physics::transposed(axes, normal);
  }

  // scale · (clip(z − h − offset) ± noise)
  template <class Team, class S>
  STICTION_FN void write_heights(const Team& team, TaskEnv<S>& env) const {
    float* const heights = env.obs + 48;
    constexpr int kAtOnce = 4;  // numbers of a draw
    team.for_each((Ground::num_heights + kAtOnce - 1) / kAtOnce, [&](int group) {
      Draw draw(env.seed, env.episode, Purpose::ground, static_cast<std::uint32_t>(env.step) + 1);
      if (height_noise > 0) draw.skip(static_cast<std::uint32_t>(kAtOnce * group));
      for (int j = 0; j < kAtOnce; ++j) {
        const int k = kAtOnce * group + j;
        if (k >= Ground::num_heights) break;
        const double over = -static_cast<double>(heights[k]) - height_offset;
        const double error = height_noise > 0 ? draw.uniform(-height_noise, height_noise) : 0.0;
        heights[k] = static_cast<float>(
            height_scale * (physics::clamp(over, height_clip[0], height_clip[1]) + error));
      }
    });
  }

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
  STICTION_FN void judge(const Team& team, const ModelView& m, TaskEnv<S>& env, Gait<S>& g) const {
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
      const Vec3<double> p = physics::load3(e.xpos, foot[f]);
      g.foot_height[f] = p.z - ground.height(m, p.x, p.y);
      g.peak[f] = physics::vmax(memory[kPeak + f], S(g.foot_height[f]));
    }

    S term[kTerms];
    if (mjlab)
      mjlab_terms(team, e, g, term);
    else
      legged_gym_terms(team, e, g, term);
    if constexpr (Ground::num_terms > 0) term[kRewardTerms] = mjlab ? hits(e) : stumbles(e);
    S reward = S(0);
    for (int k = 0; k < kTerms; ++k) {
      term[k] = S(weight[k] * env.dt) * term[k];
      reward = reward + term[k];
    }
    env.reward = mjlab ? reward : physics::vmax(reward, S(0));
    constexpr double kCosTilt = 0.3420201433256687;  // 70 degrees
    constexpr bool kRough = Ground::num_heights > 0;
    const bool tilts = g.gravity.z > S(-kCosTilt), kneels = kRough && touches_a_thigh(e);
    env.terminated = !mjlab ? contact_force(e, 1) > S(1) : kRough ? kneels : tilts;
    const S planar = physics::vsqrt(planar_error2(g)), yaw = physics::vabs(g.command[2] - g.rate.z);

    team.sync();  // all threads have read the memory
    team.for_each(kLegs, [&](int f) {
      memory[kAir + f] = g.contact[f] > S(0) ? S(0) : g.air_time[f];
      memory[kPeak + f] = g.contact[f] > S(0) ? S(0) : g.peak[f];
      memory[kStood + f] = stands[f];
    });
    team.for_each(kLegJoints, [&](int i) { memory[kAction + i] = S(action[i]); });
    team.once([&] {
      for (int k = 0; k < kTerms; ++k) env.metric[k] = static_cast<float>(term[k]);
      env.metric[kTerms] = static_cast<float>(planar);
      env.metric[kTerms + 1] = static_cast<float>(yaw);
      if constexpr (kRough) {
        S* own = memory + kGround;
        const double x = e.qpos[0] - static_cast<double>(own[Ground::kOrigin]);
        const double y = e.qpos[1] - static_cast<double>(own[Ground::kOrigin + 1]);
        own[Ground::kWalked] = S(physics::vsqrt(x * x + y * y));
        own[Ground::kAsked] = physics::vsqrt(square(g.command[0]) + square(g.command[1]));
        env.metric[kTerms + 2] = static_cast<float>(own[Ground::kLevel]) - 1;
      }
    });
  }

  // mjlab's bodies that should not touch the terrain, in the last physics step.
  template <class S>
  STICTION_FN S hits(const EnvView<S>& e) const {
    int n = contact_force(e, 1) > S(10) ? 1 : 0;
    for (int f = 0; f < kLegs; ++f) n += contact_force(e, calf[f]) > S(10) ? 1 : 0;
    return S(n);
  }
  template <class S>
  STICTION_FN bool touches_a_thigh(const EnvView<S>& e) const {
    bool touches = false;
    for (int f = 0; f < kLegs; ++f) touches = touches || contact_force(e, thigh[f]) > S(10);
    return touches;
  }
  // legged_gym: a foot against something steep.
  template <class S>
  STICTION_FN S stumbles(const EnvView<S>& e) const {
    bool any = false;
    for (int f = 0; f < kLegs; ++f) {
      const Vec3<S> force = physics::load3(e.xfrc_contact, 2 * foot[f]);
      const S aside = physics::vsqrt(force.x * force.x + force.y * force.y);
      any = any || aside > S(5) * physics::vabs(force.z);
    }
    return S(any ? 1 : 0);
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

struct Go2Flat : Go2<FlatGround> {};
struct Go2Rough : Go2<PatchedGround> {};

}  // namespace stiction::envs
