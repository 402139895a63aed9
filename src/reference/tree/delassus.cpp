#include "reference/tree/delassus.h"

namespace stiction::reference::inline STICTION_REAL {

DelassusScale::DelassusScale(const Model& m, const Kinematics& kin, const MatX& A)
    : to_world_(MatX::Identity(m.nv, m.nv)) {
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[at(j)] != JointType::free) continue;
    const int dof = m.jnt_dofadr[at(j)] + 3;
    to_world_.block<3, 3>(dof, dof) = kin.xmat[at(m.jnt_bodyid[at(j)])];
  }
  inverse_diag_ = (to_world_ * A * to_world_.transpose()).diagonal().cwiseInverse();
}

Real DelassusScale::operator()(const MatX& J) const {
  const MatX j = J * to_world_.transpose();
  // dof by dof: those that J leaves alone add zeros, and no bit depends on how many they are
  MatX sum = MatX::Zero(J.rows(), J.rows());
  for (Eigen::Index k = 0; k < j.cols(); ++k)
    sum += inverse_diag_[k] * j.col(k) * j.col(k).transpose();
  return sum.norm() / static_cast<double>(J.rows());
}

Real DelassusScale::operator()(const VecX& a, const VecX& b) const {
  return (to_world_ * a).dot(inverse_diag_.cwiseProduct(to_world_ * b));
}

}  // namespace stiction::reference::inline STICTION_REAL
