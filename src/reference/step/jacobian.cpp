#include "reference/step/jacobian.h"

#include <algorithm>

#include "reference/step/step.h"

#ifndef STICTION_DUAL
#error "compiled in dual numbers only"
#endif

namespace stiction::reference {
namespace {

using Eigen::Quaterniond;

// The variable of a column of the Jacobian.
struct Direction {
  enum class Of { position, velocity, control, friction } of;
  int index;
};

// Arguments of a step, each seeded in one direction per component of the tangents.
struct Seeds {
  std::vector<Real> qpos, qvel, ctrl, friction;
};

// q ⊕ ε e_i
void seed_position(const Model& m, int i, int k, std::vector<Real>& qpos) {
  const int j = m.dof_jntid[at(i)], adr = m.jnt_qposadr[at(j)], part = i - m.jnt_dofadr[at(j)];
  const bool free = m.jnt_type[at(j)] == JointType::free;
  if ((free && part < 3) || m.jnt_type[at(j)] == JointType::hinge ||
      m.jnt_type[at(j)] == JointType::slide) {
    qpos[at(adr + part)].tangent[k] = 1;
    return;
  }
  // q̇ = ½ q (0, ω)
  const int first = free ? adr + 3 : adr;
  const Quaterniond q(qpos[at(first)].value, qpos[at(first + 1)].value, qpos[at(first + 2)].value,
                      qpos[at(first + 3)].value);
  Quaterniond omega(0, 0, 0, 0);
  omega.vec()[free ? part - 3 : part] = 0.5;
  const Quaterniond rate = q * omega;
  qpos[at(first)].tangent[k] = rate.w();
  for (int c = 0; c < 3; ++c) qpos[at(first + 1 + c)].tangent[k] = rate.vec()[c];
}

// Tangent k of a position, in the tangent space at that position: the inverse of seed_position.
Eigen::VectorXd position_tangent(const Model& m, const VecX& q, int k) {
  Eigen::VectorXd result(m.nv);
  for (int j = 0; j < m.njnt; ++j) {
    const int adr = m.jnt_qposadr[at(j)], dof = m.jnt_dofadr[at(j)];
    const JointType type = m.jnt_type[at(j)];
    const auto rotation = [&](int first, int to) {
      const auto number = [&](auto&& part) {
        return Quaterniond(part(q[first]), part(q[first + 1]), part(q[first + 2]),
                           part(q[first + 3]));
      };
      const Quaterniond now = number([](const Real& x) { return x.value; });
      const Quaterniond rate = number([k](const Real& x) { return x.tangent[k]; });
      result.segment<3>(to) = 2 * (now.conjugate() * rate).vec();
    };
    if (type == JointType::hinge || type == JointType::slide) {
      result[dof] = q[adr].tangent[k];
    } else if (type == JointType::ball) {
      rotation(adr, dof);
    } else {
      for (int c = 0; c < 3; ++c) result[dof + c] = q[adr + c].tangent[k];
      rotation(adr + 3, dof + 3);
    }
  }
  return result;
}

std::vector<Real> lifted(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

// All columns except those of pairs that were not in the problem, whose derivative is 0.
std::vector<Direction> directions(const Model& m, const StepResult& step) {
  std::vector<Direction> all;
  for (int i = 0; i < m.nv; ++i) all.push_back({Direction::Of::position, i});
  for (int i = 0; i < m.nv; ++i) all.push_back({Direction::Of::velocity, i});
  for (int i = 0; i < m.nu; ++i) all.push_back({Direction::Of::control, i});
  int last = -1;  // contacts are in the order of their pairs
  for (const Contact& c : step.contacts)
    if (c.pair != last) all.push_back({Direction::Of::friction, last = c.pair});
  return all;
}

}  // namespace

void differentiate(const Model& m, const Options& o, std::span<const double> qpos,
                   std::span<const double> qvel, const Inputs& in, StepJacobian& jacobian) {
  const int rows = 2 * m.nv;
  jacobian.state.assign(at(rows * rows), 0.0);
  jacobian.ctrl.assign(at(rows * m.nu), 0.0);
  jacobian.friction.assign(at(rows * m.npair), 0.0);
  if (any(jacobian.step.status, kFrozen)) {
    for (int i = 0; i < rows; ++i) jacobian.state[at(i * rows + i)] = 1;
    return;
  }

  const std::vector<Direction> all = directions(m, jacobian.step);
  const Seeds still{lifted(qpos), lifted(qvel), lifted(in.ctrl), std::vector<Real>(at(m.npair))};
  for (std::size_t first = 0; first < all.size(); first += at(Real::kDirections)) {
    const std::span<const Direction> chunk =
        std::span(all).subspan(first, std::min(all.size() - first, at(Real::kDirections)));
    Seeds seeds = still;
    for (std::size_t c = 0; c < chunk.size(); ++c) {
      const auto [of, index] = chunk[c];
      const int k = static_cast<int>(c);
      switch (of) {
        case Direction::Of::position: seed_position(m, index, k, seeds.qpos); break;
        case Direction::Of::velocity: seeds.qvel[at(index)].tangent[k] = 1; break;
        case Direction::Of::control: seeds.ctrl[at(index)].tangent[k] = 1; break;
        case Direction::Of::friction: seeds.friction[at(index)].tangent[k] = 1; break;
      }
    }
    const Step step =
        take_step(m, o,
                  {seeds.qpos, seeds.qvel, seeds.ctrl, in.qfrc_applied, in.xfrc_applied,
                   in.mocap_pos, in.mocap_quat, in.mocap_vel, in.anchor, in.friction_anchor,
                   in.rebound, in.time, seeds.friction, in.eq_active, in.act});

    for (std::size_t c = 0; c < chunk.size(); ++c) {
      const auto [of, index] = chunk[c];
      const int k = static_cast<int>(c);
      Eigen::VectorXd column(rows);
      column << position_tangent(m, step.q, k),
          step.v_end.unaryExpr([k](const Real& x) { return x.tangent[k]; });
      const auto write = [&](std::vector<double>& matrix, int columns, int to) {
        for (int r = 0; r < rows; ++r) matrix[at(r * columns + to)] = column[r];
      };
      switch (of) {
        case Direction::Of::position: write(jacobian.state, rows, index); break;
        case Direction::Of::velocity: write(jacobian.state, rows, m.nv + index); break;
        case Direction::Of::control: write(jacobian.ctrl, m.nu, index); break;
        case Direction::Of::friction: write(jacobian.friction, m.npair, index); break;
      }
    }
  }
}

}  // namespace stiction::reference
