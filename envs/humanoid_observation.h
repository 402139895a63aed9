// What Gymnasium's Humanoid and HumanoidStandup observe, in that order.
//
// Inertias, velocities and positions belong to the state after the step, cfrc_ext and qfrc_actuator to
// its last physics step; in MuJoCo all of them are those of the start of that physics step.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

struct HumanoidObservation {
  bool exclude_current_positions_from_observation = true;
  bool include_cinert_in_observation = true, include_cvel_in_observation = true;
  bool include_qfrc_actuator_in_observation = true, include_cfrc_ext_in_observation = true;

  // `centre`: of mass, as robot_centre gives it.
  template <class Team, class S>
  STICTION_FN void write_observation(const Team& team, const ModelView& m, TaskEnv<S>& env,
                                     const Vec3<S>& centre) const {
    const EnvView<S>& e = env.fields;
    const int moving = m.nbody - 1, skip = exclude_current_positions_from_observation ? 2 : 0;
    observe_state(team, m, env, skip, kUnbounded);
    float* obs = env.obs + m.nq - skip + m.nv;
    if (include_cinert_in_observation) {
      team.for_each(moving, [&](int i) { write_inertia(obs + 10 * i, e, i + 1, centre); });
      obs += 10 * moving;
    }
    if (include_cvel_in_observation) {
      team.for_each(moving,
                    [&](int i) { write6(obs + 6 * i, velocity_at_centre(e, i + 1, centre)); });
      obs += 6 * moving;
    }
    if (include_qfrc_actuator_in_observation) {
      team.for_each(m.nv - 6, [&](int i) { obs[i] = static_cast<float>(e.qfrc_actuator[i + 6]); });
      obs += m.nv - 6;
    }
    if (include_cfrc_ext_in_observation)
      team.for_each(moving, [&](int i) { write6(obs + 6 * i, external_wrench(e, i + 1, centre)); });
  }

  // Σ |cfrc_ext|² over the bodies.
  template <class Team, class S>
  static STICTION_FN double squared_forces(const Team& team, const ModelView& m,
                                           const TaskEnv<S>& env, const Vec3<S>& centre) {
    return static_cast<double>(team.template sum<S>(m.nbody - 1, [&](int i) {
      return sum_of_squares(external_wrench(env.fields, i + 1, centre));
    }));
  }

 private:
  // MuJoCo's cinert: inertia about `centre`, xx yy zz xy xz yz; mass times offset; mass.
  template <class S>
  static STICTION_FN void write_inertia(float* to, const EnvView<S>& e, int b,
                                        const Vec3<S>& centre) {
    const S mass = e.body_mass[b];
    const Vec3<S> r = body_centre(e, b) - centre;
    const Mat3<S> axes = body_axes(e, b);
    const Mat3<S> local = physics::matrix(physics::load4(e.body_iquat, b));
    const Vec3<S> axis[3] = {axes * local.x, axes * local.y, axes * local.z};
    // Σ I_k a aᵀ + m (|r|² 1 − r rᵀ)
    const S m2 = mass * physics::norm2(r);
    S i[10] = {m2 - mass * r.x * r.x,
               m2 - mass * r.y * r.y,
               m2 - mass * r.z * r.z,
               -mass * r.x * r.y,
               -mass * r.x * r.z,
               -mass * r.y * r.z,
               mass * r.x,
               mass * r.y,
               mass * r.z,
               mass};
    for (int k = 0; k < 3; ++k) {
      const Vec3<S>& a = axis[k];
      const S moment = e.body_inertia[3 * b + k];
      i[0] += moment * a.x * a.x, i[1] += moment * a.y * a.y, i[2] += moment * a.z * a.z;
      i[3] += moment * a.x * a.y, i[4] += moment * a.x * a.z, i[5] += moment * a.y * a.z;
    }
    for (int k = 0; k < 10; ++k) to[k] = static_cast<float>(i[k]);
  }

  // MuJoCo's cvel: angular velocity; velocity of the body-fixed point at `centre`.
  template <class S>
  static STICTION_FN Spatial<S> velocity_at_centre(const EnvView<S>& e, int b,
                                                   const Vec3<S>& centre) {
    const Spatial<S> v = physics::load6(e.xvel, b);
    const auto offset = physics::load3(e.xpos, 1) - physics::load3(e.xpos, b);
    return {v.a, physics::velocity_at(v, physics::narrow3<S>(offset) + centre)};
  }
};

}  // namespace stiction::envs
