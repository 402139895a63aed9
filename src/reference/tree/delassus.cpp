#include "reference/tree/delassus.h"

namespace stiction::reference::inline STICTION_REAL {

DelassusScale::DelassusScale(const Model& m, const Kinematics& kin, const MatX& A)
    : inverse_diag_(A.diagonal()) {
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[at(j)] != JointType::free) continue;
    const Turning t = {m.jnt_dofadr[at(j)] + 3, kin.xmat[at(m.jnt_bodyid[at(j)])]};
    const Mat3 block = A.block<3, 3>(t.dof, t.dof);
    inverse_diag_.segment<3>(t.dof) = (t.axes * block * t.axes.transpose()).diagonal();
    turning_.push_back(t);
  }
  inverse_diag_ = inverse_diag_.cwiseInverse().eval();
}

MatX DelassusScale::to_world(MatX J) const {
  for (const Turning& t : turning_) {
    const Mat3X columns = J.middleCols<3>(t.dof).transpose();
    J.middleCols<3>(t.dof) = (t.axes * columns).transpose();
  }
  return J;
}

Real DelassusScale::operator()(const MatX& J) const {
  const MatX j = to_world(J);
  MatX sum = MatX::Zero(J.rows(), J.rows());
  for (Eigen::Index k = 0; k < j.cols(); ++k)
    sum += inverse_diag_[k] * j.col(k) * j.col(k).transpose();
  return sum.norm() / static_cast<double>(J.rows());
}

Real DelassusScale::operator()(const VecX& a, const VecX& b) const {
  const VecX u = to_world(a.transpose()).row(0), v = to_world(b.transpose()).row(0);
  return u.dot(inverse_diag_.cwiseProduct(v));
}

}  // namespace stiction::reference::inline STICTION_REAL
