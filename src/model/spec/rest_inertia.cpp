#include "model/spec/rest_inertia.h"

#include <algorithm>
#include <set>

#include "math.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

// Returns the last dof on the path from the world to body b, -1 if the body cannot move.
int last_dof(const Model& m, int b) {
  for (; b > 0; b = m.body_parentid[at(b)])
    if (m.body_dofnum[at(b)] > 0) return m.body_dofadr[at(b)] + m.body_dofnum[at(b)] - 1;
  return -1;
}

bool is_nonzero(double x) {
  return x != 0;
}

// Returns (nv) the first dof of the tree of each dof; trees coupled by a nonempty Jacobian in `strings` are one.
std::vector<int> coupled_roots(const Model& m, const std::vector<VecX>& strings) {
  std::vector<int> root(at(m.nv));
  for (int i = 0; i < m.nv; ++i)
    root[at(i)] = m.dof_parentid[at(i)] < 0 ? i : root[at(m.dof_parentid[at(i)])];
  for (const VecX& j : strings) {
    std::set<int> coupled;
    for (Eigen::Index i = 0; i < j.size(); ++i)
      if (is_nonzero(j[i])) coupled.insert(root[at(static_cast<int>(i))]);
    for (int& r : root)
      if (coupled.count(r) != 0) r = *coupled.begin();
  }
  return root;
}

}  // namespace

RestPose::RestPose(const Model& m)
    : pos(at(m.nbody), Vec3::Zero()),
      com(at(m.nbody), Vec3::Zero()),
      quat(at(m.nbody), Quat::Identity()),
      dof_angular(3, m.nv),
      dof_linear(3, m.nv) {
  // Every joint is at zero displacement, so the frames are those of the file.
  for (int b = 1; b < m.nbody; ++b) {
    const auto parent = at(m.body_parentid[at(b)]);
    pos[at(b)] = pos[parent] + quat[parent] * row3(m.body_pos, b);
    quat[at(b)] = (quat[parent] * row4(m.body_quat, b)).normalized();
    com[at(b)] = pos[at(b)] + quat[at(b)] * row3(m.body_ipos, b);
  }

  const auto turns = [this](int dof, const Vec3& axis, const Vec3& anchor) {
    dof_angular.col(dof) = axis;
    dof_linear.col(dof) = anchor.cross(axis);  // v(p) = ω × (p - anchor) at p = 0
  };
  const auto slides = [this](int dof, const Vec3& axis) {
    dof_angular.col(dof).setZero();
    dof_linear.col(dof) = axis;
  };
  for (int j = 0; j < m.njnt; ++j) {
    const auto b = at(m.jnt_bodyid[at(j)]);
    const int dof = m.jnt_dofadr[at(j)];
    const Mat3 body_axes = quat[b].toRotationMatrix();
    const Vec3 anchor = pos[b] + body_axes * row3(m.jnt_pos, j);
    switch (m.jnt_type[at(j)]) {
      case JointType::free:  // linear in world axes, angular in body axes
        for (int k = 0; k < 3; ++k) slides(dof + k, Vec3::Unit(k));
        for (int k = 0; k < 3; ++k) turns(dof + 3 + k, body_axes.col(k), pos[b]);
        break;
      case JointType::ball:
        for (int k = 0; k < 3; ++k) turns(dof + k, body_axes.col(k), anchor);
        break;
      case JointType::slide: slides(dof, body_axes * row3(m.jnt_axis, j)); break;
      case JointType::hinge: turns(dof, body_axes * row3(m.jnt_axis, j), anchor); break;
    }
  }
}

RestInertia::RestInertia(const Model& m, const RestPose& pose)
    : m_(m), pose_(pose), dof_tree_(at(m.nv)), dof_column_(at(m.nv)) {
  // Jacobians of the tendons whose armature contributes a J Jᵀ to M
  std::vector<VecX> strings(at(m.ntendon));
  for (int t = 0; t < m.ntendon; ++t)
    if (m.tendon_armature[at(t)] != 0) strings[at(t)] = tendon_jacobian0(m, pose, t);
  const std::vector<int> root = coupled_roots(m, strings);
  std::vector<int> tree_of_root(at(m.nv), -1);
  for (int i = 0; i < m.nv; ++i) {
    int& tree = tree_of_root[at(root[at(i)])];
    if (tree < 0) tree = static_cast<int>(trees_.size()), trees_.emplace_back();
    dof_tree_[at(i)] = tree;
    dof_column_[at(i)] = static_cast<int>(trees_[at(tree)].dofs.size());
    trees_[at(tree)].dofs.push_back(i);
  }

  std::vector<MatX> mass;
  for (const Tree& tree : trees_) {
    const auto n = static_cast<Eigen::Index>(tree.dofs.size());
    mass.push_back(MatX::Zero(n, n));
    for (const int i : tree.dofs) {
      const int k = dof_column_[at(i)];
      mass.back()(k, k) = m.dof_armature[at(i)];
    }
  }
  for (int b = 1; b < m.nbody; ++b) {
    const int dof = last_dof(m, b);
    if (dof < 0) continue;
    const MatX j = jacobian(b);
    const Mat3 axes = (pose.quat[at(b)] * row4(m.body_iquat, b)).toRotationMatrix();
    const Mat3 inertia = axes * row3(m.body_inertia, b).asDiagonal() * axes.transpose();
    MatX& tree_mass = mass[at(dof_tree_[at(dof)])];
    tree_mass += j.topRows<3>().transpose() * inertia * j.topRows<3>();
    tree_mass += m.body_mass[at(b)] * j.bottomRows<3>().transpose() * j.bottomRows<3>();
  }

  for (int t = 0; t < m.ntendon; ++t) {
    const VecX& j = strings[at(t)];
    if (j.size() == 0 || j.isZero(0)) continue;
    const int moved = static_cast<int>(std::find_if(j.begin(), j.end(), is_nonzero) - j.begin());
    const int tree = dof_tree_[at(moved)];
    const VecX part = j(trees_[at(tree)].dofs);
    mass[at(tree)] += m.tendon_armature[at(t)] * part * part.transpose();
  }

  for (std::size_t t = 0; t < trees_.size(); ++t) {
    trees_[t].mass.compute(mass[t]);
    if (trees_[t].mass.info() == Eigen::Success) continue;
    const int body = m.dof_bodyid[at(trees_[t].dofs.front())];
    throw ModelError(visible(m.file) +
                     ": the mass matrix at qpos0 is not positive definite in the tree of body " +
                     std::to_string(body) + " '" + visible(m.body_names[at(body)]) +
                     "': give every moving body mass and inertia, or its joints armature, and no "
                     "two joints the same motion");
  }
}

MatX RestInertia::jacobian(int b) const {
  int i = last_dof(m_, b);
  const Tree& tree = trees_[at(dof_tree_[at(i)])];
  MatX j = MatX::Zero(6, static_cast<Eigen::Index>(tree.dofs.size()));
  for (; i >= 0; i = m_.dof_parentid[at(i)]) {
    const Vec3 w = pose_.dof_angular.col(i);
    j.col(dof_column_[at(i)]).head<3>() = w;
    j.col(dof_column_[at(i)]).tail<3>() = pose_.dof_linear.col(i) + w.cross(pose_.com[at(b)]);
  }
  return j;
}

Mat6 RestInertia::inverse_spatial(int b) const {
  const int dof = last_dof(m_, b);
  if (dof < 0) return Mat6::Zero();
  // with M = L Lᵀ: J M⁻¹ Jᵀ = (L⁻¹ Jᵀ)ᵀ (L⁻¹ Jᵀ)
  const MatX half = trees_[at(dof_tree_[at(dof)])].mass.matrixL().solve(jacobian(b).transpose());
  return half.transpose() * half;
}

VecX RestInertia::solve(const VecX& force) const {
  VecX x = VecX::Zero(force.size());
  for (const Tree& tree : trees_) {
    if (std::all_of(tree.dofs.begin(), tree.dofs.end(), [&](int i) { return force[i] == 0; }))
      continue;
    const VecX solution = tree.mass.solve(VecX(force(tree.dofs)));
    x(tree.dofs) = solution;
  }
  return x;
}

VecX RestInertia::inverse_diagonal() const {
  VecX diagonal(m_.nv);
  for (const Tree& tree : trees_) {
    const auto n = static_cast<Eigen::Index>(tree.dofs.size());
    const MatX half = tree.mass.matrixL().solve(MatX::Identity(n, n));
    diagonal(tree.dofs) = half.colwise().squaredNorm().transpose();
  }
  return diagonal;
}

}  // namespace stiction::model
