// Rewards of quadruped velocity tracking: ten terms of legged_gym and ten of mjlab, unweighted.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

inline constexpr int kLegs = 4, kLegJoints = 12, kRewardTerms = 10;

// What the terms are made of. Base quantities are in the axes of the base.
template <class S>
struct Gait {
  Vec3<S> velocity, rate, gravity;  // of the base; direction of gravity
  Vec3<S> up;                       // normal of the ground
  S command[3];
  double dt;
  const double* target;       // (12) default joint positions
  const float* action;        // (12) of this step
  const S* last_action;       // (12)
  const S* last_qvel;         // (12) joint velocities one control step ago
  S touch_down[kLegs];        // 1 in the step in which a foot lands
  S contact[kLegs];           // 1 while a foot stands
  S air_time[kLegs];          // s, until touch-down included
  double foot_height[kLegs];  // m, over the ground
  S peak[kLegs];              // m, greatest height of the swing
  const int* foot;            // (4) bodies
  const int* thigh;           // (4)
  const int* calf;            // (4)
};

template <class S>
STICTION_FN S tracking(const S& error2, double sigma) {
  return S(exp(-static_cast<double>(error2) / sigma));
}
template <class S>
STICTION_FN S square(const S& x) {
  return x * x;
}
template <class S>
STICTION_FN S contact_force(const EnvView<S>& e, int b) {
  return physics::norm(physics::load3(e.xfrc_contact, 2 * b));
}
template <class S>
STICTION_FN S planar_error2(const Gait<S>& g) {
  return square(g.command[0] - g.velocity.x) + square(g.command[1] - g.velocity.y);
}
template <class Team, class S>
STICTION_FN S action_rate(const Team& team, const Gait<S>& g) {
  return team.template sum<S>(kLegJoints,
                              [&](int i) { return square(S(g.action[i]) - g.last_action[i]); });
}

inline constexpr const char* kLeggedGymTerms[kRewardTerms] = {
    "tracking_lin_vel", "tracking_ang_vel", "lin_vel_z",     "ang_vel_xy", "orientation",
    "torques",          "dof_acc",          "feet_air_time", "collision",  "action_rate"};
inline constexpr double kLeggedGymWeights[kRewardTerms] = {1.0,     0.5,     -2.0, -0.05, -5.0,
                                                           -2.5e-5, -2.5e-7, 2.0,  -1.0,  -0.01};

template <class Team, class S>
STICTION_FN void legged_gym_terms(const Team& team, const EnvView<S>& e, const Gait<S>& g,
                                  S* term) {
  term[0] = tracking(planar_error2(g), 0.25);
  term[1] = tracking(square(g.command[2] - g.rate.z), 0.25);
  term[2] = square(g.velocity.z);
  term[3] = square(g.rate.x) + square(g.rate.y);
  term[4] = square(g.gravity.x) + square(g.gravity.y);
  term[5] = team.template sum<S>(kLegJoints, [&](int i) { return square(e.qfrc_actuator[6 + i]); });
  term[6] = team.template sum<S>(
      kLegJoints, [&](int i) { return square((g.last_qvel[i] - e.qvel[6 + i]) / S(g.dt)); });
  const bool walks = square(g.command[0]) + square(g.command[1]) > S(0.01);
  term[7] = !walks ? S(0) : team.template sum<S>(kLegs, [&](int f) {
    return (g.air_time[f] - S(0.5)) * g.touch_down[f];
  });
  const S hit[2] = {S(0), S(1)};
  term[8] = team.template sum<S>(kLegs, [&](int f) {
    return hit[contact_force(e, g.thigh[f]) > S(0.1)] + hit[contact_force(e, g.calf[f]) > S(0.1)];
  });
  term[9] = action_rate(team, g);
}

inline constexpr const char* kMjlabTerms[kRewardTerms] = {"track_linear_velocity",
                                                          "track_angular_velocity",
                                                          "upright",
                                                          "pose",
                                                          "dof_pos_limits",
                                                          "action_rate",
                                                          "foot_clearance",
                                                          "foot_swing_height",
                                                          "foot_slip",
                                                          "soft_landing"};
inline constexpr double kMjlabWeights[kRewardTerms] = {2,    2,    1,     1,    -1,
                                                       -0.1, -2.0, -0.25, -0.1, -1e-5};

template <class Team, class S>
STICTION_FN void mjlab_terms(const Team& team, const EnvView<S>& e, const Gait<S>& g, S* term) {
  constexpr double kSwingHeight = 0.1, kSoftRange = 0.9;
  term[0] = tracking(planar_error2(g) + square(g.velocity.z), 0.25);
  term[1] = tracking(square(g.command[2] - g.rate.z) + square(g.rate.x) + square(g.rate.y), 0.5);
  term[2] = tracking(square(g.up.x) + square(g.up.y), 0.2);

  const S u =
      physics::vsqrt(square(g.command[0]) + square(g.command[1])) + physics::vabs(g.command[2]);
  const double spread = u < S(0.05) ? 0.05 : 0.3;  // of hips and thighs; calves twice that
  const S pose = team.template sum<S>(kLegJoints, [&](int i) {
    const double s = i % 3 == 2 ? 2 * spread : spread;
    return S(square((e.qpos[7 + i] - g.target[i]) / s) / kLegJoints);
  });
  term[3] = tracking(pose, 1.0);
  term[4] = team.template sum<S>(kLegJoints, [&](int i) {
    const double low = e.jnt_range[2 * (i + 1)], high = e.jnt_range[2 * (i + 1) + 1];
    const double middle = 0.5 * (low + high), half = 0.5 * kSoftRange * (high - low);
    return S(physics::vmax(std::fabs(e.qpos[7 + i] - middle) - half, 0.0));
  });
  term[5] = action_rate(team, g);

  const S walks = S(u > S(0.05) ? 1 : 0);
  const auto speed2 = [&](int f) {
    const S* v = e.xvel + 6 * g.foot[f] + 3;
    return square(v[0]) + square(v[1]);
  };
  term[6] = walks * team.template sum<S>(kLegs, [&](int f) {
    return S(std::fabs(g.foot_height[f] - kSwingHeight)) * physics::vsqrt(speed2(f));
  });
  term[7] = walks * team.template sum<S>(kLegs, [&](int f) {
    return square(g.peak[f] / S(kSwingHeight) - S(1)) * g.touch_down[f];
  });
  term[8] = walks * team.template sum<S>(kLegs, [&](int f) { return speed2(f) * g.contact[f]; });
  term[9] = walks * team.template sum<S>(kLegs, [&](int f) {
    return contact_force(e, g.foot[f]) * g.touch_down[f];
  });
}

}  // namespace stiction::envs
