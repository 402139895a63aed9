// Trees that do not touch are solved apart, and a step is the same whatever else is in the model.
#include "reference/solver/islands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "model/mjcf.h"
#include "stiction/reference.h"

namespace stiction::reference {
namespace {

using Dofs = std::vector<int>;

PointConstraint point_on(int nv, const Dofs& moved, bool turns = false) {
  PointConstraint c;
  Mat3X J = Mat3X::Zero(3, nv);
  for (const int i : moved) J.col(i) = Vec3(1, 2, 3 + i);
  c.J = turns ? Mat3X(Mat3X::Zero(3, nv)) : J;
  if (turns) c.J_turning = J;
  return c;
}

TEST(Islands, AreDofsThatNothingCouples) {
  const int nv = 8;
  Problem p = {MatX::Identity(nv, nv), VecX::Zero(nv), {}, {}, {}};
  EXPECT_EQ(islands(p), (std::vector<Dofs>{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
  p.A(7, 1) = p.A(1, 7) = 1e-9;
  p.points = {point_on(nv, {0}), point_on(nv, {3, 6}), point_on(nv, {2, 0}, true)};
  p.rows.push_back({VecX::Unit(nv, 4), limit_law(.01, 1, 0)});
  EXPECT_EQ(islands(p), (std::vector<Dofs>{{0, 2}, {1, 7}, {3, 6}, {4}, {5}}));
  p.rows.push_back({VecX::Unit(nv, 5) - VecX::Unit(nv, 4), limit_law(.01, 1, 0)});
  MatX J = MatX::Zero(2, nv);
  J(0, 6) = J(1, 1) = 1;
  p.blocks.push_back({0, J, VecX::Zero(2), VecX::Ones(2)});
  EXPECT_EQ(islands(p), (std::vector<Dofs>{{0, 2}, {1, 3, 6, 7}, {4, 5}}));

  const Problem part = on_island(p, {1, 3, 6, 7});
  EXPECT_EQ(part.A(0, 3), 1e-9);
  ASSERT_EQ(part.points.size(), 1u);
  EXPECT_EQ(part.points[0].J(2, 2), 9);
  EXPECT_EQ(part.rows.size(), 0u);
  ASSERT_EQ(part.blocks.size(), 1u);
  EXPECT_EQ(part.blocks[0].J.cols(), 4);
  const Problem turning = on_island(p, {0, 2});
  ASSERT_EQ(turning.points.size(), 2u);
  EXPECT_TRUE(!turning.points[0].turns() && turning.points[1].turns());
}

// Problems of several sizes, their dofs shuffled into each other.
TEST(Islands, TogetherAreTheWholeProblem) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<int> sizes = {3, 1, 6, 4};
    const int nv = std::accumulate(sizes.begin(), sizes.end(), 0);
    Dofs order(static_cast<std::size_t>(nv));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Problem p = {MatX::Zero(nv, nv), VecX::Zero(nv), {}, {}, {}};
    for (int first = 0, k = 0; k < 4; first += sizes[static_cast<std::size_t>(k++)]) {
      const int n = sizes[static_cast<std::size_t>(k)];
      const Dofs dofs(order.begin() + first, order.begin() + first + n);
      const MatX L = MatX::NullaryExpr(n, n, [&] { return normal(random); });
      p.A(dofs, dofs) = L * L.transpose() + MatX::Identity(n, n);
      p.v_star(dofs) = VecX::NullaryExpr(n, [&] { return .1 * normal(random); });
      for (int i = 0; i < n && k != 1; ++i) {  // the second is free
        PointConstraint c;
        c.J = Mat3X::Zero(3, nv);
        c.J(Eigen::all, dofs) = Mat3X::NullaryExpr(3, n, [&] { return normal(random); });
        const double phi0 = 1e-4 * normal(random);
        c.law.mu = .7;
        c.law.normal = HuntCrossley(5e-3, 1e5, 20, -1e5 * phi0);
        c.law.n0 = lagged_impulse(5e-3, 20, -1e5 * phi0, 0);
        c.law.eps = 1e-4;
        p.points.push_back(c);
      }
      p.rows.push_back({VecX::Unit(nv, dofs[0]), DryFrictionLaw{1e-4, k == 1 ? 0 : 1e-3}});
    }
    ASSERT_EQ(islands(p).size(), 4u);
    const Solution together = solve(p, VecX::Zero(nv), 1e-13, 100);
    const Solution apart = solve_by_islands(p, VecX::Zero(nv), 1e-13, 100);
    EXPECT_LT((together.v - apart.v).norm(), 1e-10);
    EXPECT_NEAR(together.cost, apart.cost, 1e-12 * evaluate(p, together.v).magnitude);
    int most = 0;
    for (const Dofs& dofs : islands(p))
      most = std::max(
          most, solve(on_island(p, dofs), VecX::Zero(static_cast<int>(dofs.size())), 1e-13, 100)
                    .iterations);
    EXPECT_EQ(apart.iterations, most);
  }
}

TEST(Islands, AnUnfinishedOneIsSaid) {
  Problem p = {MatX::Identity(2, 2), VecX::Constant(2, 1), {}, {}, {}};
  p.rows.push_back({VecX::Unit(2, 0), limit_law(.01, 1, 0)});
  EXPECT_EQ(solve_by_islands(p, VecX::Constant(2, -5), 1e-9, 0).status, Status::not_converged);
  EXPECT_EQ(solve_by_islands(p, VecX::Constant(2, -5), 1e-9, 9).status, Status::ok);
}

}  // namespace
}  // namespace stiction::reference

namespace stiction::test {
namespace {

constexpr const char* kBox =
    "<body pos='0 0 .12' euler='10 20 0'><freejoint/><geom type='box' size='.1 .1 .1' "
    "mass='1'/></body>";
constexpr const char* kOthers =
    "<body pos='3 0 .12'><freejoint/><geom size='.1' mass='3'/></body>"
    "<body pos='-3 0 2'><joint axis='0 1 0' frictionloss='.1' damping='.1'/>"
    "<geom type='capsule' fromto='0 0 0 .5 0 0' size='.05' mass='2'/></body>";

// Newton's iteration for the box is that of a model with nothing else in it: its bits are the same while it falls,
// lands and comes to rest, and the other trees do not stop it early or go on for it.
TEST(Islands, ABoxStepsTheSameWhateverElseIsThere) {
  const auto scene = [](const std::string& bodies) {
    return mjcf(
        "<compiler angle='degree'/><option timestep='.004'/><worldbody>"
        "<geom type='plane' size='9 9 1'/>" +
        bodies + "</worldbody>");
  };
  const Reference alone(scene(kBox)), among(scene(std::string(kBox) + kOthers));
  Reals q = alone.model().qpos0, v(6, 0.0), all_q = among.model().qpos0,
        all_v(at(among.model().nv), 0.0);
  int touching = 0;
  for (int k = 0; k < 300; ++k) {
    const StepResult one = alone.step(q, v), all = among.step(all_q, all_v);
    ASSERT_EQ(all.status, Status::ok);
    q = one.qpos, v = one.qvel, all_q = all.qpos, all_v = all.qvel;
    ASSERT_TRUE(std::equal(q.begin(), q.end(), all_q.begin())) << k;
    ASSERT_TRUE(std::equal(v.begin(), v.end(), all_v.begin())) << k;
    touching += one.contacts.empty() ? 0 : 1;
  }
  EXPECT_GT(touching, 100);
}

}  // namespace
}  // namespace stiction::test
