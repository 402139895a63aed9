// Forces of a medium: against the reference engine, and closed forms of both.
#include "physics/tree/fluid.h"

#include <cmath>

#include "physics/states.h"
#include "physics/tree/kinematics.h"

namespace stiction::test {
namespace {

constexpr auto kRun = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::mocap(team, m, e, 1);
  physics::kinematics(team, m, e);
  physics::inertia(team, m, e);
  physics::bias(team, m, e);
  physics::fluid(team, m, e);
};
const std::vector<Field> kFields = {Field::A, Field::qfrc_fluid, Field::cfrc_fluid,
                                    Field::fluid_drag};

// Every joint, boxes and ellipsoids of every shape, several on one body, wind.
NamedModel medium() {
  std::string xml = kZoo;
  const auto put = [&](const std::string& before, const std::string& text) {
    const std::size_t i = xml.find(before);
    if (i == std::string::npos) throw std::runtime_error(before);
    xml.insert(i + before.size(), text);
  };
  put("<option", " density='800' viscosity='0.3' wind='0.5 -0.4 0.8'");
  put("<geom type=\"capsule\" size=\".05 .2\"", " fluidshape='ellipsoid'");
  put("<geom type=\"sphere\" size=\".08\"", " fluidshape='ellipsoid' fluidcoef='1 2 3 4 5'");
  put("<geom type=\"box\" size=\".1 .2 .3\"", " fluidshape='ellipsoid'");
  put("pos=\"0.05 0.1 -0.02\" euler=\"10 20 30\"/>",
      "<geom type='cylinder' size='.05 .2' mass='1' pos='.2 0 .1' fluidshape='ellipsoid'/>"
      "<geom type='ellipsoid' size='.05 .2 .1' mass='1' euler='40 50 60' fluidshape='ellipsoid'/>");
  return {"medium", load_model_from_string(xml)};
}

template <class S>
void compare(double tolerance) {
  const NamedModel model = medium();
  const Model& m = *model.model;
  const Reference ref(model.model);
  RandomStates random;
  for (int i = 0; i < 20; ++i) {
    const State s = random(m);
    Env<S> env(m);
    set_state(env, s);
    kRun(physics::TeamOfOne(), env.m(), env.e);
    const ForwardResult f = ref.forward(s.qpos, s.qvel, s.inputs());
    const std::vector<double> full = ref.step(s.qpos, s.qvel, s.inputs()).A;
    std::vector<double> A;
    for (int r = 0; r < m.nv; ++r)
      for (int c = 0; c <= r; ++c) A.push_back(full[static_cast<std::size_t>(r * m.nv + c)]);
    expect_near(env.get(Field::qfrc_fluid), f.qfrc_fluid, tolerance, "qfrc_fluid");
    expect_near(env.get(Field::A), A, tolerance, "A");
  }
}

TEST(Fluid, AgreesWithTheReference) {
  compare<double>(1e-12);
}
// The zoo's largest velocities, of the tips, are sums of ten; squared, and sides of boxes from differences
// of moments: a hundred roundings.
TEST(Fluid, AgreesWithTheReferenceInFloat) {
  compare<float>(100 * 0x1p-23);
  compare<TestPack>(100 * 0x1p-23);
}
TEST(Fluid, AnyTeamGivesTheSameBits) {
  expect_any_team<double>(medium(), kRun, kFields);
  expect_any_team<TestPack>(medium(), kRun, kFields);
}
TEST(Fluid, LanesAreIndependent) {
  expect_independent_lanes(medium(), kRun, kFields);
}
TEST(Fluid, WithoutAMediumNothingIsKept) {
  for (const NamedModel& model : all_models()) {
    const Env<double> env(*model.model);
    EXPECT_EQ(env.m().nfluidbody, 0);
    EXPECT_EQ(env.spec(Field::fluid_drag).size(), 0);
  }
}

// A cube of side a and mass m on rails, along an edge: a² ½ ρ v² of drag, v = v0/(1 + ρ a² v0 t/2m). A step
// takes it there exactly, however long it is.
TEST(Fluid, QuadraticDragIsExactAtEveryTimestep) {
  const ModelPtr model = load_model_from_string(
      "<mujoco><option density='1000' gravity='0 0 0'/><worldbody><body><joint type='slide' "
      "axis='1 0 0'/><geom type='box' size='.1 .1 .1' mass='2'/></body></worldbody></mujoco>");
  for (const double dt : {1e-4, 1e-2, 1.0, 100.0}) {
    Options o;
    o.timestep = dt;
    const Reference ref(model, o);
    std::vector<double> q{0}, v{30};
    for (int k = 1; k <= 20; ++k) {
      const StepResult s = ref.step(q, v);
      q = s.qpos, v = s.qvel;
      EXPECT_NEAR(v[0], 30 / (1 + 1000 * 0.04 * 30 * dt * k / (2 * 2)), 1e-13 * 30) << dt;
    }
  }
}

// A ball that falls: m g = 3π d μ v + ½ ... with blunt drag coefficient 0.5 on the disk π r².
TEST(Fluid, ABallFallsAtItsTerminalVelocity) {
  const ModelPtr model = load_model_from_string(
      "<mujoco><option density='1.2' viscosity='2' timestep='0.01' gravity='0 0 -9.81'/><worldbody>"
      "<body><freejoint/><geom size='.05' mass='1' fluidshape='ellipsoid'/></body></worldbody>"
      "</mujoco>");
  const Reference ref(model);
  std::vector<double> q = model->qpos0, v(6, 0.0);
  for (int k = 0; k < 3000; ++k) {
    const StepResult s = ref.step(q, v);
    q = s.qpos, v = s.qvel;
  }
  const double pi = std::acos(-1.0), r = 0.05, c1 = 6 * pi * r * 2, c2 = 1.2 * 0.5 * pi * r * r;
  EXPECT_NEAR(-v[2], (std::sqrt(c1 * c1 + 4 * c2 * 9.81) - c1) / (2 * c2), 1e-10);
}

// Thrown into water, spinning, at steps in which explicit drag would throw them back: a plate's box, and an
// ellipsoid without lift, heavier than what moves along.
TEST(Fluid, EnergyFallsAtEveryStep) {
  for (const char* shape : {"type='box' size='.2 .3 .01' mass='1'",
                            "type='ellipsoid' size='.2 .3 .1' mass='60' fluidshape='ellipsoid' "
                            "fluidcoef='.5 .25 1.5 0 0'"}) {
    const ModelPtr model = load_model_from_string(
        std::string("<mujoco><option density='1000' viscosity='.1' gravity='0 0 0'/><worldbody>"
                    "<body><freejoint/><geom ") +
        shape + "/></body></worldbody></mujoco>");
    for (const double dt : {0.01, 0.1}) {
      Options o;
      o.timestep = dt;
      const Reference ref(model, o);
      std::vector<double> q = model->qpos0, v{3, -2, 5, 2, 3, -1};
      const double first = ref.forward(q, v).energy_kinetic;
      double energy = first;
      for (int k = 0; k < 200; ++k) {
        const StepResult s = ref.step(q, v);
        q = s.qpos, v = s.qvel;
        const double next = ref.forward(q, v).energy_kinetic;
        EXPECT_LE(next, energy) << shape << " " << dt << " step " << k;
        energy = next;
      }
      EXPECT_LT(energy, 0.01 * first);
    }
  }
}

}  // namespace
}  // namespace stiction::test
