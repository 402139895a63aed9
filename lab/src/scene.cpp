#include "lab/src/scene.h"

#include <algorithm>

#include "lab/src/stages.h"
#include "stiction/error.h"

namespace stiction::lab {

using namespace reference;

Scene::Scene(ModelPtr model, double timestep, double recover) : recover_(recover) {
  if (!(recover >= 0 && recover <= 1)) throw ArgumentError("recover: must be between 0 and 1");
  if (model->nanchor > model->nslot)
    throw ArgumentError("the laboratory's solvers have sliding friction alone: write condim=\"3\"");
  if (std::ranges::count(model->actuator_trntype, Transmission::body) > 0)
    throw ArgumentError("the laboratory's solvers have no adhesion: remove the actuator");
  Options options;
  options.gyroscopic = Gyroscopic::explicit_euler;  // as the papers have it
  if (timestep > 0) options.timestep = timestep;
  const Reference engine(std::move(model), options);  // its checks and defaults
  options_ = engine.options();
  model_ = std::make_shared<const Model>(engine.model());
}

ContactProblem Scene::problem(const State& state, const Actions& actions, double near) const {
  const Model& m = *model_;
  const double dt = timestep();
  Start s;
  begin(m, options_, state, actions, s);
  const DelassusScale delassus(m, s.kin, s.free.A);
  s.rows = joint_rows(m, options_, dt, s.free, s.in, delassus, s.kin, tendons(m, s.kin, s.in.qpos));
  add_points(m, options_, dt, near, s);

  const int n = static_cast<int>(s.points.size());
  ContactProblem p;
  p.dt = dt;
  p.A = s.free.A, p.v_star = s.free.v_star, p.v0 = state.qvel, p.rows = s.rows;
  p.J = MatX(3 * n, m.nv);
  p.mu = p.gap = p.stiffness = p.dissipation = p.relaxation_time = p.weight = VecX(n);
  p.R = p.bias = VecX::Zero(3 * n);
  for (int i = 0; i < n; ++i) {
    const ContactPoint& point = s.points[at(i)];
    p.J.middleRows<3>(3 * i) = contact_jacobian(m, s.kin, point);
    p.mu[i] = point.friction[0], p.gap[i] = point.gap;
    p.bias[3 * i + 2] = rigid_bias(point.gap, dt, recover_);
    p.stiffness[i] = point.stiffness, p.dissipation[i] = point.dissipation;
    p.relaxation_time[i] = m.pair_relaxation_time[at(point.pair)];
    p.weight[i] = delassus(p.J.middleRows<3>(3 * i));
  }
  return p;
}

State Scene::advance(const State& state, const VecX& v) const {
  const Model& m = *model_;
  require(v, m.nv, "v");
  Start s;
  begin(m, options_, state, {}, s);
  return {integrate_position(m, s.in.qpos, v, timestep()),
          second_half(s.free.turning, timestep(), v)};
}

}  // namespace stiction::lab
