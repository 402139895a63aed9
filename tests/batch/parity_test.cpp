// One step of a batch against the reference engine, from states in the air and on the floor.
#include <algorithm>
#include <cmath>

#include "batch/batches.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

constexpr int kEnvs = 20;

struct Pair {
  Batch batch;
  Reference reference;
};
Pair make(Precision p) {
  BatchOptions o;
  o.num_envs = kEnvs;
  o.precision = p;
  o.options.friction_iterations = 1;
  o.options.solver_tolerance = p == Precision::float64 ? 1e-12 : 1e-4;
  Options reference = o.options;
  reference.solver_tolerance = 1e-12;
  Pair pair{Batch(crawler(), o), Reference(crawler(), reference)};
  for (int env = 0; env < kEnvs; ++env) start(pair.batch, env, env);
  return pair;
}

std::vector<double> inputs(Batch& b, int env) {
  std::vector<double> ctrl;
  for (int i = 0; i < b.model().nu; ++i) ctrl.push_back(number(b, "ctrl", env, i));
  return ctrl;
}

// √(vᵀ A v)
double norm_of(const std::vector<double>& A, const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) sum += v[i] * A[i * v.size() + j] * v[j];
  return std::sqrt(sum);
}

// Largest difference of velocities after one step in the norm of A, relative to ‖v‖ + √m g δt.
double largest_difference(Pair& p, int* contacts) {
  std::vector<StepResult> expected;
  for (int env = 0; env < kEnvs; ++env) {
    const BatchState s = p.batch.get_state(std::span(&env, 1));
    const std::vector<double> ctrl = inputs(p.batch, env);
    expected.push_back(p.reference.step(s.qpos, s.qvel, {ctrl}));
    *contacts += static_cast<int>(expected.back().contacts.size());
  }
  double mass = 0;
  for (const double x : p.batch.model().body_mass) mass += x;
  const double fall = std::sqrt(mass) * 9.81 * *p.batch.options().timestep;
  p.batch.step();
  double worst = 0;
  for (int env = 0; env < kEnvs; ++env) {
    const StepResult& e = expected[static_cast<std::size_t>(env)];
    std::vector<double> difference;
    for (std::size_t i = 0; i < e.qvel.size(); ++i)
      difference.push_back(number(p.batch, "qvel", env, static_cast<int>(i)) - e.qvel[i]);
    worst = std::max(worst, norm_of(e.A, difference) / (norm_of(e.A, e.qvel) + fall));
  }
  return worst;
}

// The largest difference on the way of a fall into contact.
double largest_difference(Precision precision) {
  Pair p = make(precision);
  int contacts = 0;
  double worst = 0;
  for (int k = 0; k < 40; ++k, p.batch.step(2))
    worst = std::max(worst, largest_difference(p, &contacts));
  EXPECT_GT(contacts, 500);
  return worst;
}

// Both solve to 1e-12 in double; the laws' curvature is at most 1e3 times the inertia of a leg.
TEST(Parity, InDoubleAStepIsTheReferences) {
  EXPECT_LT(largest_difference(Precision::float64), 1e-8);
}

// The residual ‖r‖ in the norm of diag(A)⁻¹ is at most 1e-4 of the momentum; since H ≥ A the error in the norm of A is at most
// ‖r‖ in that of A⁻¹, larger by the root of the condition of A scaled to a unit diagonal, which is below 10.
TEST(Parity, InFloatAStepIsTheReferencesToTheSolversTolerance) {
  EXPECT_LT(largest_difference(Precision::float32), 1e-3);
}

TEST(Parity, ContactsAreTheReferences) {
  Pair p = make(Precision::float64);
  p.batch.step(60);
  int compared = 0;
  for (int env = 0; env < kEnvs; ++env) {
    const BatchState s = p.batch.get_state(std::span(&env, 1));
    const std::vector<double> ctrl = inputs(p.batch, env);
    const StepResult expected = p.reference.step(s.qpos, s.qvel, {ctrl});
    const std::vector<Contact> contacts = p.batch.contacts(env);
    for (const Contact& c : expected.contacts) {
      if (c.impulse == std::array<double, 3>{}) continue;
      const auto found = std::find_if(contacts.begin(), contacts.end(),
                                      [&](const Contact& x) { return x.slot == c.slot; });
      ASSERT_NE(found, contacts.end());
      EXPECT_EQ(found->pair, c.pair);
      EXPECT_EQ(found->geom2, c.geom2);
      EXPECT_NEAR(found->gap, c.gap, 1e-10);
      EXPECT_NEAR(found->friction, c.friction, 1e-10);
      EXPECT_NEAR(found->stiffness, c.stiffness, 1e-6 * c.stiffness);
      EXPECT_NEAR(found->separation_velocity, c.separation_velocity, 1e-8);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(found->pos[k], c.pos[k], 1e-9);
        EXPECT_NEAR(found->normal[k], c.normal[k], 1e-10);
        EXPECT_NEAR(found->impulse[k], c.impulse[k], 1e-7);
        EXPECT_NEAR(found->slip[k], c.slip[k], 1e-8);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

// The point between the witnesses, by each side's share of the softness.
TEST(Parity, WeightsPlaceTheContactPoint) {
  BatchOptions o;
  o.num_envs = 2;
  Batch b(mjcf("<worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .09'><freejoint/>"
               "<geom size='.1'/></body></worldbody>"),
          o);
  put(b.param("pair_weight"), 0, 0, 0);
  put(b.param("pair_weight"), 1, 0, 0.25);
  for (int env = 0; env < 2; ++env) {
    const std::vector<Contact> c = b.contacts(env);
    ASSERT_EQ(c.size(), 1u);
    EXPECT_NEAR(c[0].gap, -0.01, 1e-8);
    EXPECT_NEAR(c[0].pos[2], env * 0.25 * -0.01, 1e-8);
  }
}

}  // namespace
}  // namespace stiction::test
