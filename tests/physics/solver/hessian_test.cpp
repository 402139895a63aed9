// The Hessian and Jᵀγ, formed over the tree, against a Jacobian made column by column.
#include "physics/solver/hessian.h"

#include <gtest/gtest.h>

#include "physics/solver/solve.h"
#include "physics/solver/solve_models.h"
#include "physics/solver/solve_scene.h"

namespace stiction::test {
namespace {

using namespace physics;

TEST(Hessian, AgreesWithTheExplicitJacobian) {
  int cross = 0, points = 0, couples = 0;
  for (const TestModel& t : solve_models()) {
    const Options o = step_options(*t.model, one_solve(), 1e-6);
    for (const SolveCase& state : rollout(t.model, o, 8, 30, 4)) {
      const Case c = make_case(t.model, o, state);
      Scene<double> s(t.model, o, {c});
      const TeamOfOne team;
      const ModelView& m = s.m();
      EnvView<double>& e = s.e;
      rows(team, m, e), solve(team, m, e);
      const int n = 3 * e.npoint[0];
      points += e.npoint[0];
      for (int p = 0; p < e.npoint[0]; ++p) cross += is_cross(e, p) ? 1 : 0;

      // J: the velocities of the points when one dof moves
      MatX J(n, m.nv), J_turning = MatX::Zero(n, m.nv);
      std::vector<double> column(at(n) + 1), turning(at(n) + 1, 0.0);
      for (int i = 0; i < m.nv; ++i) {
        const VecX unit = VecX::Unit(m.nv, i);
        point_velocities(team, m, e, unit.data(), column.data(), turning.data());
        for (int k = 0; k < n; ++k) J(k, i) = column[at(k)], J_turning(k, i) = turning[at(k)];
      }
      const bool turns = m.ncouple > 0;
      const VecX couple = turns ? VecX(Eigen::Map<const VecX>(e.point_couple, n)) : VecX::Zero(n);
      couples += couple.norm() > 0 ? 1 : 0;
      const Eigen::Map<const VecX> impulse(e.point_impulse, n);
      VecX impulses(m.nv);
      contact_impulses(team, m, e, impulses.data());
      EXPECT_LT((impulses - J.transpose() * impulse - J_turning.transpose() * couple).norm(),
                1e-12 * (1e-9 + impulse.norm()))
          << t.name;

      // A + Jᵀ G J + rows + blocks
      MatX expected = c.free.A;
      for (int p = 0; p < e.npoint[0]; ++p) {
        const auto add = [&](const MatX& jacobian, const Sym3<double>& g) {
          stiction::Mat3 G;
          G << g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz;
          const MatX rows = jacobian.middleRows<3>(3 * p);
          expected += rows.transpose() * G * rows;
        };
        add(J, load_sym3(e.point_hess, p));
        if (turns) add(J_turning, load_sym3(e.point_couple_hess, p));
      }
      for (int i = 0; i < m.nv; ++i) expected(i, i) += e.row_hess[i];
      for (int a = 0; a < m.nu; ++a)
        if (m.actuator_mayservo[a] != 0)
          expected += e.row_hess[m.nv + a] * c.actuation[at(a)].moment *
                      c.actuation[at(a)].moment.transpose();
      for (int k = 0; k < m.neq; ++k) {
        MatX block = MatX::Zero(6, m.nv);
        for (int x = m.block_adr[k]; x < m.block_adr[k + 1]; ++x)
          block.col(m.block_dof[x]) += Eigen::Map<const VecX>(e.block_jacobian + 6 * x, 6);
        VecX inverse_R = VecX::Constant(6, e.block_law[8 * k + 7]);
        inverse_R.head<3>().setConstant(e.block_law[8 * k + 6]);
        expected += block.transpose() * inverse_R.asDiagonal() * block;
      }
      hessian(team, m, e, true);
      MatX dense = MatX::Zero(m.nv, m.nv);
      for (int i = 0; i < m.nv; ++i) {
        dense(i, i) = e.H[place(e, i, i)];
        for_columns(e, i, [&](auto k, auto j) { dense(i, j) = dense(j, i) = e.H[tri(i, 0) + k]; });
      }
      // sums of 6x6 composites about the origin of the tree: lengths of 1 m at most
      EXPECT_LT((dense - expected).norm(), 1e-12 * expected.norm()) << t.name;
    }
  }
  EXPECT_GT(cross, 5);
  EXPECT_GT(couples, 5);
  EXPECT_GT(points, 50);
}

}  // namespace
}  // namespace stiction::test
