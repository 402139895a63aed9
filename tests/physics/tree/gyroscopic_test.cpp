// The implicit gyroscopic torque: its equation, its derivative, and what a body keeps on which nothing
// acts.
#include "physics/tree/gyroscopic.h"

#include <sstream>

#include "math.h"
#include "physics/states.h"
#include "physics/step.h"

namespace stiction::test {
namespace {

constexpr auto kStep = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::step(team, m, e, false);
};
const std::vector<Field> kFields = {Field::qpos, Field::qvel, Field::qacc, Field::qfrc_smooth};

using V = physics::Vec3<double>;
V from(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}
Vec3 to(const V& v) {
  return {v.x, v.y, v.z};
}

// A body's moments: prolate, oblate, nearly round, flat, a rod, and without symmetry.
const Vec3 kMoments[] = {{1, 1, .02},      {1, 1, 1.99},    {1, 1.001, .999},
                         {1, .01, 1.0099}, {1, .99, .0101}, {1, .6, .45}};

Mat3 inertia_in(const physics::Sym3<double>& i) {
  Mat3 m;
  m << i.xx, i.xy, i.xz, i.xy, i.yy, i.yz, i.xz, i.yz, i.zz;
  return m;
}

physics::Turning<double> turning_of(const Vec3& moments, RandomStates& random) {
  const Quat q(random.real(1), random.real(1), random.real(1), random.real(1));
  const Mat3 r = q.normalized().toRotationMatrix(), i = r * moments.asDiagonal() * r.transpose();
  return {{i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}, {0, 0, 0}, {0, 0, 0}};
}

// s = tan(δt |Ω|/2)/|Ω|, to the first power that the series leaves out; then s |Ω| stays.
TEST(Gyroscopic, HalfTurnIsATangent) {
  const double dt = 0.01;
  for (const double angle : {1e-6, 0.05, 0.2, 0.5, 0.9, 0.999, 1.001, 3.0, 300.0}) {
    const V omega = {angle / dt * 0.6, 0, angle / dt * 0.8};
    const auto at = physics::half_turn(dt, omega);
    const double expected = std::tan(0.5 * std::min(angle, 1.0)) / (angle / dt);
    EXPECT_NEAR(at.s, expected, expected * (1e-15 + 1e-6 * std::pow(std::min(angle, 1.0), 12)));

    // ds/d|Ω|² against a difference quotient, exact to its square
    const double h = 1e-5, u = (angle / dt) * (angle / dt);
    const auto beside = [&](double k) {
      return physics::half_turn(dt, std::sqrt(1 + k * h) * omega).s;
    };
    EXPECT_NEAR(at.slope, (beside(1) - beside(-1)) / (2 * h * u), 1e-6 * at.s / u) << angle;
  }
}

// (I + J) (Ω - Ω0) + s Ω × I Ω = impulse is solved.
template <class S>
void solves(double tolerance, double fastest) {
  RandomStates random(4);
  const double dt = 0.01;
  for (const Vec3& moments : kMoments)
    for (const double angle : {0.01, 0.2, 0.5, fastest})
      for (const bool resisted : {false, true}) {
        physics::Turning<double> t = turning_of(moments, random);
        if (resisted) t.extra = {0.1, 0.2, 0.05};
        const Vec3 direction(random.real(1), random.real(1), random.real(1));
        const Vec3 omega0 = direction.normalized() * (angle / dt);
        const Mat3 I = inertia_in(t.inertia), J = to(t.extra).asDiagonal();
        const Vec3 impulse = dt * omega0.cross(I * omega0) * 0.1;
        const auto narrow3 = [](const Vec3& v) {
          return physics::Vec3<S>{S(v.x()), S(v.y()), S(v.z())};
        };
        const physics::Turning<S> narrowed = {{S(t.inertia.xx), S(t.inertia.yy), S(t.inertia.zz),
                                               S(t.inertia.xy), S(t.inertia.xz), S(t.inertia.yz)},
                                              narrow3(to(t.extra)),
                                              narrow3(to(t.arm))};
        const auto found =
            physics::middle_velocity<S>(narrowed, S(dt), narrow3(omega0), narrow3(impulse));
        const Vec3 omega(physics::get_lane(found.x, 0), physics::get_lane(found.y, 0),
                         physics::get_lane(found.z, 0));
        const double s = physics::half_turn(dt, from(omega)).s;
        const Vec3 f = (I + J) * (omega - omega0) + s * omega.cross(I * omega) - impulse;
        EXPECT_LE(f.norm(), tolerance * (I * omega0).norm())
            << moments.transpose() << ", " << angle;
      }
}
TEST(Gyroscopic, TheEquationIsSolved) {
  solves<double>(1e-8, 1.0);  // what kTurnIterations leaves where it is slowest
  solves<double>(1e-8, 20.0);
  solves<float>(1e-5, 1.0);  // 24 bits, of moments up to 100 times the least
  solves<TestPack>(1e-5, 1.0);
}

// ---- whole steps

std::string body(const std::string& joint, const Vec3& moments, const std::string& place) {
  std::ostringstream xml;
  xml << "<mujoco><option gravity='0 0 0'/><worldbody><body>" << joint << "<inertial pos='" << place
      << "' mass='2' diaginertia='" << moments.x() << ' ' << moments.y() << ' ' << moments.z()
      << "' quat='.8 .2 -.4 .1'/></body></worldbody></mujoco>";
  return xml.str();
}

struct Kept {
  double most_energy, energy, momentum, linear;  // shares of the start; m/s
};

// Ten seconds of free flight at |ω| = 20 rad/s: energy and the momentum's direction, R I ω and v.
template <class S>
Kept fly(const ModelPtr& model, double dt, const Vec3& axis, double seconds) {
  Options o;
  o.timestep = dt;
  const Reference ref(model, o);
  Env<S> env(*model, o);
  std::vector<double> v(at(model->nv), 0.0);
  for (int k = 0; k < 3; ++k) v[at(model->nv - 3 + k)] = 20 * axis.normalized()[k];
  env.set(Field::qvel, v);
  const auto measured = [&] { return ref.forward(env.get(Field::qpos), env.get(Field::qvel)); };
  const ForwardResult start = measured();
  const auto vector = [](const std::array<double, 3>& a) { return Vec3(a[0], a[1], a[2]); };
  const Vec3 L = vector(start.angular_momentum);
  Kept kept{};
  for (int k = 0; k < std::lround(seconds / dt); ++k) {
    kStep(physics::TeamOfOne(), env.m(), env.e);
    const ForwardResult f = measured();
    kept.energy = f.energy_kinetic / start.energy_kinetic;
    kept.most_energy = std::max(kept.most_energy, kept.energy);
    kept.momentum = std::max(kept.momentum, (vector(f.angular_momentum) - L).norm() / L.norm());
    kept.linear =
        std::max(kept.linear, (vector(f.linear_momentum) - vector(start.linear_momentum)).norm());
  }
  return kept;
}

// δt |ω| = 0.02, 0.2; round-off of 10^4 steps. The turn of a step is exact to 1e-6 (δt |Ω|)^12.
TEST(Gyroscopic, ATumblingBodyKeepsEnergyAndMomentum) {
  for (const Vec3& moments : kMoments)
    for (const char* place : {"0 0 0", ".3 -.1 .2"}) {
      const ModelPtr model = load_model_from_string(body("<freejoint/>", .01 * moments, place));
      for (const double dt : {0.001, 0.01}) {
        const Kept exact = fly<double>(model, dt, {1, .3, .5}, 10);
        EXPECT_LT(std::abs(exact.energy - 1), 1e-11) << moments.transpose();
        EXPECT_LT(exact.most_energy, 1 + 1e-11);
        EXPECT_LT(exact.momentum, 1e-10);
        EXPECT_LT(exact.linear, 1e-10);
      }
      const Kept rounded = fly<float>(model, 0.01, {1, .3, .5}, 10);
      // moments beside m r², up to 2800 times the least of them, are rounded to 2^-24 of it
      const double digits = place[0] == '0' ? 1e-4 : 1e-3;
      EXPECT_LT(rounded.most_energy, 1 + digits) << moments.transpose();
      EXPECT_GT(rounded.energy, 1 - digits);
      EXPECT_LT(rounded.momentum, 1e-3);
    }
}

// Beyond, the momentum's direction is lost, but nothing is gained and nothing is killed.
TEST(Gyroscopic, EnergyIsKeptAtAnySpeed) {
  for (const Vec3& moments : kMoments)
    for (const double dt : {0.025, 0.05, 0.1, 0.5}) {
      const ModelPtr model = load_model_from_string(body("<freejoint/>", moments, "0 0 0"));
      const Kept kept = fly<double>(model, dt, {1, .3, .5}, 100 * dt);
      EXPECT_NEAR(kept.most_energy, 1, 1e-6) << moments.transpose() << " " << dt;
      EXPECT_NEAR(kept.energy, 1, 1e-6);
    }
}

TEST(Gyroscopic, ABallJointKeepsEnergyAboutItsAnchor) {
  const ModelPtr model = load_model_from_string(
      body("<joint type='ball' pos='.1 0 -.2'/>", {.02, .03, .04}, "0 .1 0"));
  for (const double dt : {0.001, 0.01})
    EXPECT_LT(std::abs(fly<double>(model, dt, {1, .3, .5}, 10).energy - 1), 1e-11);
}

// A tree that its springs hold stiff is one body: its inertia is the composite one.
TEST(Gyroscopic, WhatTheJointCarriesTurnsWithIt) {
  const ModelPtr model = load_model_from_string(R"(<mujoco><option gravity='0 0 0'/><worldbody>
      <body><geom type='box' size='.1 .2 .05' mass='1'/>
        <body pos='.2 0 0'><joint axis='0 1 0' stiffness='1000' damping='10'/>
          <geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='.3'/></body>
        <body pos='-.1 .1 0'><joint type='ball' stiffness='1000' damping='10'/>
          <geom type='capsule' fromto='0 0 0 0 .3 0' size='.03' mass='.3'/></body>
        <freejoint/></body></worldbody></mujoco>)");
  Options o;
  o.timestep = 0.01;
  const Reference ref(model, o);
  Env<double> env(*model, o);
  std::vector<double> v(at(model->nv), 0.0);
  v[3] = 17, v[4] = 5, v[5] = 9;
  env.set(Field::qvel, v);
  const ForwardResult start = ref.forward(model->qpos0, v);
  for (int k = 0; k < 500; ++k) kStep(physics::TeamOfOne(), env.m(), env.e);
  const ForwardResult end = ref.forward(env.get(Field::qpos), env.get(Field::qvel));
  // the limbs yield a little and damp it; the explicit torque makes 1e9 of it
  EXPECT_LT(end.energy_kinetic, 1.001 * start.energy_kinetic);
  EXPECT_GT(end.energy_kinetic, 0.95 * start.energy_kinetic);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(end.angular_momentum[k], start.angular_momentum[k], 1e-3);
}

// All of it in k, as before, where the papers' laws are asked for.
TEST(Gyroscopic, TheExplicitTorqueIsImpliedByTheDeepestPoints) {
  const Model& m = *all_models().back().model;
  Options deepest, chosen;
  deepest.contact_pairs = ContactPairs::penetrating_deepest;
  chosen.gyroscopic = Gyroscopic::explicit_euler;
  EXPECT_EQ(Env<double>(m, deepest).m().nturn, 0);
  EXPECT_EQ(Env<double>(m, chosen).m().nturn, 0);
  EXPECT_GT(Env<double>(m).m().nturn, 0);
  deepest.gyroscopic = Gyroscopic::midpoint;
  EXPECT_GT(Env<double>(m, deepest).m().nturn, 0);
}

// ---- the same in every engine

// Whether a cylinder or an ellipsoid may touch another shape than a plane.
bool searches(const Model& m) {
  for (int p = 0; p < m.npair; ++p) {
    const GeomType a = m.geom_type[at(m.pair_geom1[at(p)])],
                   b = m.geom_type[at(m.pair_geom2[at(p)])];
    for (const GeomType t : {a, b})
      if (a != GeomType::plane && (t == GeomType::cylinder || t == GeomType::ellipsoid))
        return true;
  }
  return false;
}

TEST(Gyroscopic, AgreesWithTheReference) {
  for (const NamedModel& model : all_models())
    for (const double dt : {0.002, 0.02}) {
      Options o;
      o.timestep = dt, o.solver_tolerance = 1e-13, o.max_iterations = 100;
      o.friction_iterations = 1;
      const Reference ref(model.model, o);
      // Points of cylinders that overlap deeply, as in random poses, agree to 2e-7 m: the reference's
      // search ends up to so much deeper. All else is the same to round-off.
      const double tolerance = searches(*model.model) ? 4e-6 : 1e-8;
      RandomStates random(7);
      for (int k = 0; k < 10; ++k) {
        State s = random(*model.model, k % 2 == 0);
        for (double& x : s.qvel) x *= 4;
        Env<double> env(ref.model(), o);  // with contact as stiff as at this timestep
        set_state(env, s);
        if (model.model->nslot > 0) env.fill(Field::anchor, 0);
        env.fill(Field::body_airtime, 0);
        kStep(physics::TeamOfOne(), env.m(), env.e);
        const StepResult r = ref.step(s.qpos, s.qvel, s.inputs());
        if (any(r.status, kFrozen)) continue;
        expect_near(env.get(Field::qvel), r.qvel, tolerance, model.name + " qvel");
        std::vector<double> qacc;
        for (std::size_t i = 0; i < s.qvel.size(); ++i)
          qacc.push_back((r.qvel[i] - s.qvel[i]) / dt);
        expect_near(env.get(Field::qacc), qacc, tolerance, model.name + " qacc");
      }
    }
}

TEST(Gyroscopic, AnyTeamGivesTheSameBits) {
  for (const NamedModel& model : all_models())
    if (model.name == "zoo" || model.name == "gantry")
      expect_any_team<double>(model, kStep, kFields),
          expect_any_team<TestPack>(model, kStep, kFields);
}
TEST(Gyroscopic, LanesAreIndependent) {
  for (const NamedModel& model : all_models())
    if (model.name == "zoo" || model.name == "gantry")
      expect_independent_lanes(model, kStep, kFields);
}

}  // namespace
}  // namespace stiction::test
