// Mass matrix and A against the reference engine.
#include "physics/tree/inertia.h"

#include "physics/states.h"
#include "physics/tree/kinematics.h"

namespace stiction::test {
namespace {

constexpr auto kRun = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::kinematics(team, m, e);
  physics::inertia(team, m, e);
};
const std::vector<Field> kFields = {Field::cinert, Field::crb, Field::A};

// M + δt D + δt² K from M of the reference engine, lower triangle.
std::vector<double> expected_A(const Model& m, const std::vector<double>& M, double dt) {
  std::vector<double> A;
  for (int i = 0; i < m.nv; ++i)
    for (int j = 0; j <= i; ++j) {
      A.push_back(M[static_cast<std::size_t>(i * m.nv + j)]);
      const auto dof = static_cast<std::size_t>(i);
      if (i == j)
        A.back() += dt * m.dof_damping[dof] +
                    dt * dt * m.jnt_stiffness[static_cast<std::size_t>(m.dof_jntid[dof])];
    }
  return A;
}

template <class S>
void compare(const NamedModel& model, double tolerance) {
  const Model& m = *model.model;
  beside_the_reference<S>(model, kRun, [&](const Env<S>& env, const ForwardResult& f) {
    expect_near(env.get(Field::A), expected_A(m, f.M, m.timestep), tolerance, model.name + " A");
  });
}

TEST(Inertia, AgreesWithTheReference) {
  for (const NamedModel& model : all_models()) compare<double>(model, 1e-13);
}

// Each entry sums up to 100 products of numbers below the largest entry: 16 ε by random walk, with
// room for the two rotations in float.
TEST(Inertia, AgreesWithTheReferenceInFloat) {
  for (const NamedModel& model : all_models()) {
    compare<float>(model, 16 * 0x1p-23);
    compare<TestPack>(model, 16 * 0x1p-23);
  }
}

TEST(Inertia, IsExactlyZeroBetweenBranches) {
  for (const NamedModel& model : all_models()) {
    const Model& m = *model.model;
    Env<float> env(m);
    set_state(env, RandomStates()(m));
    kRun(physics::TeamOfOne(), env.m(), env.e);
    for (int i = 0; i < m.nv; ++i) {
      std::vector<bool> above(static_cast<std::size_t>(m.nv), false);
      for (int j = i; j >= 0; j = m.dof_parentid[static_cast<std::size_t>(j)])
        above[static_cast<std::size_t>(j)] = true;
      for (int j = 0; j <= i; ++j) {
        if (!above[static_cast<std::size_t>(j)]) {
          EXPECT_EQ(env.e.A[physics::tri(i, j)], 0) << model.name << i << " " << j;
        }
      }
    }
  }
}

TEST(Inertia, AnyTeamGivesTheSameBits) {
  for (const NamedModel& model : all_models()) {
    expect_any_team<double>(model, kRun, kFields);
    expect_any_team<TestPack>(model, kRun, kFields);
  }
}

TEST(Inertia, LanesAreIndependent) {
  for (const NamedModel& model : all_models()) expect_independent_lanes(model, kRun, kFields);
}

}  // namespace
}  // namespace stiction::test
