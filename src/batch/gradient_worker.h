// Workspaces of the derivative of a step: an environment in plain, dual and recorded numbers, and the tangents
// of positions.
#pragma once

#include <Eigen/LU>
#include <array>
#include <memory>
#include <vector>

#include "batch/impl.h"
#include "cpu/adjoints.h"

namespace stiction::gradient {

using cpu::kDirections;
inline constexpr std::size_t kDual = cpu::kDualBytes / sizeof(double);  // doubles per dual number

inline constexpr std::initializer_list<FieldKind> kAll = {
    FieldKind::state, FieldKind::input, FieldKind::param, FieldKind::output, FieldKind::scratch};

// All fields of one environment, for a number type of a given size.
struct Blocks {
  cpu::Buffer memory;
  std::array<void*, kFields> fields{};
  std::size_t bytes = 0;

  Blocks() = default;
  Blocks(const cpu::FieldSpecs& specs, std::size_t number_bytes) {
    const auto size = [&](const FieldSpec& s) {
      return cpu::whole_lines((s.type == FieldType::index ? sizeof(int) : number_bytes) *
                              at(s.size()));
    };
    for_fields(specs, kAll, [&](Field, const FieldSpec& s) { bytes += size(s); });
    memory = cpu::Buffer(bytes);
    std::byte* p = memory.data();
    for_fields(specs, kAll, [&](Field f, const FieldSpec& s) {
      fields[at(f)] = p;
      p += size(s);
    });
  }
  double* numbers(Field f) const { return static_cast<double*>(fields[at(f)]); }
  cpu::Recorded* recorded(Field f) const { return static_cast<cpu::Recorded*>(fields[at(f)]); }
  int* ints(Field f) const { return static_cast<int*>(fields[at(f)]); }
};

// Solves by an LU factorization with pivoting.
class GeneralSystem : public cpu::LinearSystem {
 public:
  double* matrix(int n) override {
    matrix_.resize(n, n);
    return matrix_.data();
  }
  double* columns(int n) override {
    columns_.resize(n, kDirections);
    return columns_.data();
  }
  void factor() override { lu_.compute(matrix_); }
  void solve() override { columns_ = lu_.solve(columns_).eval(); }
  void solve_transposed(double* x) override {
    Eigen::Map<Eigen::VectorXd> b(x, lu_.rows());
    b = lu_.transpose().solve(b).eval();
  }

 private:
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix_;
  Eigen::Matrix<double, Eigen::Dynamic, kDirections, Eigen::RowMajor> columns_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

// Workspace of a product: the environment in recorded numbers, and their tape.
struct Reverse {
  Blocks fields;
  cpu::Recording recording;

  Reverse(const cpu::HostModel& host, int solves)
      : fields(host.specs(), sizeof(cpu::Recorded)), recording(host.view(), solves) {}
  std::size_t bytes() const { return fields.bytes + recording.bytes(); }
};

// Workspace of one thread: the environment in plain numbers, for the solve, and in dual numbers, for a Jacobian. Memory
// that only Jacobians or only products need is allocated at the first one.
struct Worker {
  Blocks plain, dual;
  std::vector<double> solutions, factors, tangents;
  GeneralSystem following;
  std::unique_ptr<Reverse> reverse;

  Worker(const cpu::HostModel& host, int solves)
      : plain(host.specs(), sizeof(double)), solutions(at(solves * host.view().nv)) {}
  void prepare_jacobian(const cpu::HostModel& host, int solves, int rows) {
    dual = Blocks(host.specs(), cpu::kDualBytes);
    factors.resize(cpu::factor_numbers(host.view(), solves));
    tangents.resize(at(rows) * at(kDirections));
  }
  std::size_t bytes() const {
    return plain.bytes + dual.bytes + (reverse != nullptr ? reverse->bytes() : 0) +
           sizeof(double) * (solutions.size() + factors.size() + tangents.size());
  }
};

// Returns the rate of q if its tangent is e_i: q̇ = ½ q (0, e_i).
inline std::array<double, 4> quaternion_rate(const double* q, int i) {
  const double w = 0.5 * q[0], x = 0.5 * q[1], y = 0.5 * q[2], z = 0.5 * q[3];
  if (i == 0) return {-x, w, z, -y};
  if (i == 1) return {-y, -z, w, x};
  return {-z, y, -x, w};
}

// The inverse: ω_i = Σ f_k q̇_k with ω = 2 q⁻¹ q̇, so f is 4/|q|² times that rate.
inline std::array<double, 4> rotation_reading(const double* q, int i) {
  std::array<double, 4> f = quaternion_rate(q, i);
  const double norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  for (double& x : f) x *= 4 / norm2;
  return f;
}

// Relates qpos to dof i of its tangent: qpos[first + k] moves at rate[k]. Four numbers for a rotation.
struct PositionTangent {
  int first, count;
  int axis;  // of a rotation
};
inline PositionTangent position_tangent(const Model& m, int dof) {
  const int j = m.dof_jntid[at(dof)], adr = m.jnt_qposadr[at(j)], part = dof - m.jnt_dofadr[at(j)];
  const JointType type = m.jnt_type[at(j)];
  if (type == JointType::free && part >= 3) return {adr + 3, 4, part - 3};
  if (type == JointType::ball) return {adr, 4, part};
  return {adr + part, 1, 0};
}

}  // namespace stiction::gradient
