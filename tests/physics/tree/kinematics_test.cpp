// Poses and motion axes against the reference engine; centres of geoms, too.
#include "physics/tree/kinematics.h"

#include "physics/contact/cull.h"
#include "physics/states.h"

namespace stiction::test {
namespace {

constexpr auto kRun = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::kinematics(team, m, e);
  team.for_each(m.ngeom, [&](int g) { physics::place_geom(m, e, g); });
};
const std::vector<Field> kFields = {Field::xpos,  Field::xquat, Field::xmat,      Field::xoff,
                                    Field::xioff, Field::cdof,  Field::geom_xpos, Field::geom_off};

// x - O, O the origin of the body's tree.
std::vector<double> about_origin(const Model& m, const physics::ModelView& view,
                                 const std::vector<double>& x, const std::vector<double>& xpos) {
  std::vector<double> r(x.size(), 0.0);
  for (int b = 0; b < m.nbody; ++b)
    for (int k = 0; k < 3 && view.body_treeid[b] >= 0; ++k)
      r[static_cast<std::size_t>(3 * b + k)] =
          x[static_cast<std::size_t>(3 * b + k)] -
          xpos[static_cast<std::size_t>(3 * view.tree_origin[view.body_treeid[b]] + k)];
  return r;
}

template <class S>
void compare(const NamedModel& model, double wide, double real) {
  const Model& m = *model.model;
  beside_the_reference<S>(model, kRun, [&](const Env<S>& env, const ForwardResult& f) {
    const std::string what = model.name + " ";
    expect_near(env.get(Field::xpos), f.xpos, wide, what + "xpos");
    expect_near(env.get(Field::xquat), f.xquat, wide, what + "xquat");
    expect_near(env.get(Field::geom_xpos), f.geom_xpos, wide, what + "geom_xpos");
    expect_near(env.get(Field::xoff), about_origin(m, env.m(), f.xpos, f.xpos), real,
                what + "xoff");
    expect_near(env.get(Field::xioff), about_origin(m, env.m(), f.xipos, f.xpos), real,
                what + "xioff");
    std::vector<double> off = f.geom_xpos;
    for (std::size_t k = 0; k < off.size(); ++k)
      off[k] -= f.xpos[3 * static_cast<std::size_t>(env.m().tree_origin[0]) + k % 3];
    expect_near(env.get(Field::geom_off), off, real, what + "geom_off");
  });
}

TEST(Kinematics, AgreesWithTheReference) {
  for (const NamedModel& model : all_models()) compare<double>(model, 1e-13, 1e-13);
}

// Poses are wide in every number type: as exact as in double. Offsets are rounded once.
TEST(Kinematics, AgreesWithTheReferenceInFloat) {
  for (const NamedModel& model : all_models()) {
    compare<float>(model, 1e-13, 0x1p-23);
    compare<TestPack>(model, 1e-13, 0x1p-23);
  }
}

// Column i of the velocities of all bodies: what a unit velocity of dof i does.
TEST(Kinematics, MotionAxesAreTheDerivativeOfThePoses) {
  for (const NamedModel& model : all_models()) {
    const Model& m = *model.model;
    const Reference ref(model.model);
    RandomStates random;
    const State s = random(m);
    Env<double> env(m);
    set_state(env, s);
    kRun(physics::TeamOfOne(), env.m(), env.e);
    for (int i = 0; i < m.nv; ++i) {
      std::vector<double> unit(static_cast<std::size_t>(m.nv), 0.0);
      unit[static_cast<std::size_t>(i)] = 1;
      const ForwardResult f = ref.forward(s.qpos, unit, s.inputs());
      const int b = m.dof_bodyid[static_cast<std::size_t>(i)];
      const auto axis = physics::load6(env.e.cdof, i);
      const auto at_frame = physics::velocity_at(axis, physics::load3(env.e.xoff, b));
      const auto expected = f.xvel.begin() + 6 * b;
      expect_near({axis.a.x, axis.a.y, axis.a.z, at_frame.x, at_frame.y, at_frame.z},
                  {expected, expected + 6}, 1e-12, model.name + " dof " + std::to_string(i));
    }
  }
}

TEST(Kinematics, AnyTeamGivesTheSameBits) {
  for (const NamedModel& model : all_models()) {
    expect_any_team<double>(model, kRun, kFields);
    expect_any_team<TestPack>(model, kRun, kFields);
  }
}

TEST(Kinematics, LanesAreIndependent) {
  for (const NamedModel& model : all_models()) expect_independent_lanes(model, kRun, kFields);
}

// An anchor may be moved in one lane only: the others keep their bits, the sign of a zero included.
TEST(Kinematics, LanesWithoutAnOffsetDontSeeTheirNeighbours) {
  const Model& m = *all_models().back().model;
  const State s = RandomStates()(m);
  Env<TestPack> with(m), without(m);
  for (Env<TestPack>* env : {&with, &without}) {
    set_state(*env, s);
    env->fill(Field::jnt_pos, 0);
    env->fill(Field::body_pos, -0.0);
  }
  for (int i = 0; i < 3 * m.njnt; ++i) with.put(Field::jnt_pos, i, 1, 0.25);
  kRun(physics::TeamOfOne(), with.m(), with.e);
  kRun(physics::TeamOfOne(), without.m(), without.e);
  for (const Field f : kFields) {
    expect_same_bits(with.get(f, 0), without.get(f, 0), with.spec(f).name);
    expect_same_bits(with.get(f, 2), without.get(f, 2), with.spec(f).name);
  }
}

// What the dynamics read does not change where the whole scene is 1 km away: q and the poses are
// wide, and 1000 m lose 20 digits of 53.
TEST(Kinematics, OffsetsDontDependOnThePlaceOfTheScene) {
  for (const NamedModel& model : all_models()) {
    const Model& m = *model.model;
    const State near = RandomStates()(m);
    State far = near;
    Env<TestPack> here(m), there(m);
    for (int j = 0; j < m.njnt; ++j)
      if (m.jnt_type[static_cast<std::size_t>(j)] == JointType::free)
        for (int k = 0; k < 3; ++k)
          far.qpos[static_cast<std::size_t>(m.jnt_qposadr[static_cast<std::size_t>(j)] + k)] +=
              1000;
    for (double& x : far.mocap_pos) x += 1000;
    for (int b = 1; b < m.nbody; ++b)
      for (int k = 0; k < 3 && m.body_parentid[static_cast<std::size_t>(b)] == 0; ++k)
        for (int lane = 0; lane < there.lanes(); ++lane)
          there.put(Field::body_pos, 3 * b + k, lane,
                    m.body_pos[static_cast<std::size_t>(3 * b + k)] + 1000);
    set_state(here, near);
    set_state(there, far);
    kRun(physics::TeamOfOne(), here.m(), here.e);
    kRun(physics::TeamOfOne(), there.m(), there.e);
    for (const Field f : {Field::xoff, Field::xioff, Field::cdof})
      expect_near(there.get(f), here.get(f), 0x1p-22, model.name + ", " + here.spec(f).name);
  }
}

// Nor where the slides before its origin have gone, whatever is left behind.
TEST(Kinematics, OffsetsDontDependOnThePlaceOfAGantry) {
  const ModelPtr model = load_model_from_string(kGantry);
  const Model& m = *model;
  const int origin = m.body("carriage");
  const State near = RandomStates()(m);
  State far = near;
  far.qpos[0] += 1000, far.qpos[1] -= 2000;
  Env<TestPack> here(m), there(m);
  ASSERT_EQ(here.m().tree_origin[0], origin);
  set_state(here, near);
  set_state(there, far);
  kRun(physics::TeamOfOne(), here.m(), here.e);
  kRun(physics::TeamOfOne(), there.m(), there.e);
  const auto from_origin = [](std::vector<double> x, int columns, int first) {
    x.erase(x.begin(), x.begin() + columns * first);
    return x;
  };
  for (const auto& [f, columns] : {std::pair{Field::xoff, 3}, {Field::xioff, 3}})
    expect_near(from_origin(there.get(f), columns, origin),
                from_origin(here.get(f), columns, origin), 0x1p-22, here.spec(f).name);
  expect_near(there.get(Field::cdof), here.get(Field::cdof), 0x1p-22, "cdof");
}

}  // namespace
}  // namespace stiction::test
