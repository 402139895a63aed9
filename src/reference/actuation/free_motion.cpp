#include "reference/actuation/free_motion.h"

#include <Eigen/Cholesky>

#include "reference/actuation/servos.h"
#include "reference/tree/dynamics.h"
#include "reference/tree/fluid.h"
#include "reference/tree/springs.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Returns −bias + gravity compensation + wrenches on the bodies.
VecX forces_on_bodies(const Model& m, const Kinematics& kin, const std::vector<Motion>& bodies,
                      const StepInputs& in) {
  return -bias_force(m, kin, bodies) + gravity_compensation(m, kin) +
         applied_wrenches(m, kin, in.xfrc_applied);
}

// Solves M(q̄) (v − v0) = δt k(q̄, v̄),  v̄ = (v0 + v)/2,  q̄ = q0 ⊕ ½ δt v̄. The matrix A of the iteration omits the
// change of M and of the velocity products with v, a fraction of δt |v|, so the iteration contracts.
FreeMotion midpoint(const Model& m, double dt, const StepInputs& in) {
  constexpr int kIterations = 100;
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  const Parameters applied(in.qfrc_applied.data(), m.nv);
  FreeMotion free{{}, v0, {}};
  int still = 0;  // consecutive iterations that changed nothing but round-off
  for (int k = 0; still < 3; ++k) {
    if (k == kIterations) {
      free.converged = false;
      break;
    }
    const VecX v = 0.5 * (v0 + free.v_star);
    const VecX q = integrate_position(m, in.qpos, v, 0.5 * dt);
    const std::span<const Real> qpos(q.data(), at(m.nq)), qvel(v.data(), at(m.nv));
    const Kinematics kin = kinematics(m, qpos, in.mocap_pos, in.mocap_quat);
    const std::vector<Motion> bodies = motion(m, kin, qvel, in.mocap_vel);
    const FluidForces medium = fluid_forces(m, kin, bodies);
    const MatX M = mass_matrix(m, kin);
    const VecX damping = damper_coefficients(m, v), stiffness = spring_coefficients(m, qpos);
    const VecX force =
        forces_on_bodies(m, kin, bodies, in) - damping.cwiseProduct(v) + medium.force +
        spring_force(m, qpos) +
        explicit_actuation(m, kin, tendons(m, kin, qpos), qpos, qvel, in.ctrl, in.act) + applied;
    free.A = M;
    free.A.diagonal() +=
        0.5 * dt * implicit_part(damping) + 0.25 * dt * dt * implicit_part(stiffness);
    free.A += dt * medium.drag;  // the slope of quadratic drag is twice as large
    const Eigen::LLT<MatX> factor(free.A);
    free.solved = factor.info() == Eigen::Success;
    if (!free.solved) break;
    const VecX change = factor.solve(dt * force - M * (free.v_star - v0));
    free.v_star += change;
    still = change.norm() > 1e-15 * free.v_star.norm() ? 0 : still + 1;
  }
  return free;
}

}  // namespace

Theta theta(Scheme scheme) {
  switch (scheme) {
    case Scheme::implicit_euler: return {1, 1};
    case Scheme::symplectic_euler: return {0, 1};
    case Scheme::explicit_euler: return {0, 0};
    case Scheme::midpoint: break;
  }
  return {0.5, 0.5};
}

FreeMotion free_motion(const Model& m, const Options& o, const Kinematics& kin,
                       const StepInputs& in) {
  const double dt = *o.timestep;
  if (o.scheme == Scheme::midpoint) return midpoint(m, dt, in);
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  const Parameters applied(in.qfrc_applied.data(), m.nv);
  const VecX damping = damper_coefficients(m, v0);
  const VecX stiffness = implicit_part(spring_coefficients(m, in.qpos));

  // A = M + θ δt D + θ θ_qv δt² K, D with the drag of the medium
  const std::vector<Motion> bodies = motion(m, kin, in.qvel, in.mocap_vel);
  const FluidForces medium = fluid_forces(m, kin, bodies);
  const Theta share = theta(o.scheme);
  FreeMotion free{mass_matrix(m, kin), v0, {}};
  free.A.diagonal() += share.force * dt * implicit_part(damping) +
                       share.force * share.position * dt * dt * stiffness;
  free.A += share.force * dt * medium.drag;

  // k = −bias − D v0 + medium + springs at q0 + θ δt v0 + explicit forces
  const VecX on_bodies = forces_on_bodies(m, kin, bodies, in);
  const VecX k =
      on_bodies - damping.cwiseProduct(v0) + medium.force + spring_force(m, in.qpos) -
      share.force * dt * stiffness.cwiseProduct(v0) +
      explicit_actuation(m, kin, tendons(m, kin, in.qpos), in.qpos, in.qvel, in.ctrl, in.act) +
      applied;
  const Eigen::LLT<MatX> factor(free.A);
  free.solved = factor.info() == Eigen::Success;
  if (!free.solved) return free;
  free.v_star = v0 + factor.solve(dt * k);
  if (gyroscopic_law(o) == Gyroscopic::midpoint) {
    const bool moving = o.mocap_velocity != MocapVelocity::none;
    free.turning = turning(m, kin, moving, dt * (implicit_part(damping) + dt * stiffness));
    free.v_star += first_half(free.turning, dt, v0, on_bodies);
  }
  return free;
}

}  // namespace stiction::reference::inline STICTION_REAL
