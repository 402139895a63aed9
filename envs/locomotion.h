// What the tasks of robots share: numbers of a tree of bodies in MuJoCo's conventions, from
// the public fields of an environment. The robot is the tree of body 1.
#pragma once

#include "envs/gymnasium.h"
#include "physics/base/vec.h"

namespace stiction::envs {

using physics::Mat3;
using physics::Quat;
using physics::Spatial;
using physics::Sym3;
using physics::Vec3;

// Axes of a body frame, in world axes.
template <class S>
STICTION_FN Mat3<S> body_axes(const EnvView<S>& e, int b) {
  const Quat<Wide<S>> q = physics::load4(e.xquat, b);
  return physics::matrix(
      Quat<S>{static_cast<S>(q.w), static_cast<S>(q.x), static_cast<S>(q.y), static_cast<S>(q.z)});
}

// Centre of mass of body b, relative to the origin of body 1; world axes.
template <class S>
STICTION_FN Vec3<S> body_centre(const EnvView<S>& e, int b) {
  const auto offset = physics::load3(e.xpos, b) - physics::load3(e.xpos, 1);
  return physics::narrow3<S>(offset) +
         body_axes(e, b) * physics::narrow3<S>(physics::load3(e.body_ipos, b));
}

// Centre of mass of all bodies but the world, relative to the origin of body 1; world axes. Every
// thread of a team computes the whole sum.
template <class S>
STICTION_FN Vec3<S> robot_centre(const ModelView& m, const EnvView<S>& e) {
  S mass = S(0);
  Vec3<S> moment = physics::zero3<S>();
  for (int b = 1; b < m.nbody; ++b) {
    mass = mass + e.body_mass[b];
    moment = moment + e.body_mass[b] * body_centre(e, b);
  }
  return S(1) / mass * moment;
}

// MuJoCo's cfrc_ext of body b: torque about `centre`, force; of contacts, in the last physics step.
template <class S>
STICTION_FN Spatial<S> external_wrench(const EnvView<S>& e, int b, const Vec3<S>& centre) {
  const Vec3<S> force = physics::load3(e.xfrc_contact, 2 * b);
  const Vec3<S> torque = physics::load3(e.xfrc_contact, 2 * b + 1);
  if (physics::norm2(force) == S(0) && physics::norm2(torque) == S(0)) return {torque, force};
  return {torque + physics::cross(body_centre(e, b) - centre, force), force};
}

STICTION_FN void write3(float* to, const Vec3<double>& v) {
  to[0] = static_cast<float>(v.x), to[1] = static_cast<float>(v.y), to[2] = static_cast<float>(v.z);
}
template <class S>
STICTION_FN void write6(float* to, const Spatial<S>& x) {
  const S numbers[6] = {x.a.x, x.a.y, x.a.z, x.l.x, x.l.y, x.l.z};
  for (int k = 0; k < 6; ++k) to[k] = static_cast<float>(numbers[k]);
}

template <class S>
STICTION_FN S sum_of_squares(const Spatial<S>& x) {
  return physics::dot(x, x);
}

template <class S>
STICTION_FN S clip(S x, double low, double high) {
  return physics::clamp(x, static_cast<S>(low), static_cast<S>(high));
}
template <class S>
STICTION_FN Vec3<S> clip(const Vec3<S>& x, const double* range) {
  return {clip(x.x, range[0], range[1]), clip(x.y, range[0], range[1]),
          clip(x.z, range[0], range[1])};
}
template <class S>
STICTION_FN Spatial<S> clip(const Spatial<S>& x, const double* range) {
  return {clip(x.a, range), clip(x.l, range)};
}

// Noise on the state of a robot on a free joint, whose orientation stays a unit quaternion.
template <class Team, class S>
STICTION_FN void add_noise_to_robot(const Team& team, const ModelView& m, TaskEnv<S>& env,
                                    double scale, Noise velocities) {
  add_noise(team, m, env, scale, velocities);
  team.once([&] {
    physics::store4(env.fields.qpos + 3, 0,
                    physics::normalized(physics::load4(env.fields.qpos + 3, 0)));
  });
}

// x within the control range of actuator i.
template <class S>
STICTION_FN double within_control(const EnvView<S>& e, int i, double x) {
  return physics::clamp(x, static_cast<double>(e.actuator_ctrlrange[2 * i]),
                        static_cast<double>(e.actuator_ctrlrange[2 * i + 1]));
}

template <class Team, class S, int N>
STICTION_FN void write_metrics(const Team& team, TaskEnv<S>& env, const double (&numbers)[N]) {
  team.for_each(N, [&](int k) { env.metric[k] = static_cast<float>(numbers[k]); });
}

}  // namespace stiction::envs
