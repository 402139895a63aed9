// What the derivative of a step works with: an environment in plain and in dual numbers, and the tangents of positions.
#pragma once

#include <Eigen/LU>
#include <array>
#include <vector>

#include "batch/impl.h"
#include "cpu/tangents.h"

namespace stiction::gradient {

using cpu::kDirections;
inline constexpr std::size_t kDual = cpu::kDualBytes / sizeof(double);  // numbers of a dual

inline constexpr std::initializer_list<FieldKind> kAll = {
    FieldKind::state, FieldKind::input, FieldKind::param, FieldKind::output, FieldKind::scratch};

// All fields of one environment, of numbers of so many bytes.
struct Blocks {
  cpu::Buffer memory;
  std::array<void*, kFields> fields{};
  std::size_t bytes = 0;

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
  int* ints(Field f) const { return static_cast<int*>(fields[at(f)]); }
};

// By an LU factorization with pivots.
class GeneralSystem : public cpu::LinearSystem {
 public:
  using Columns = Eigen::Matrix<double, Eigen::Dynamic, kDirections, Eigen::RowMajor>;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  void factor(const double* M, int n) override { lu_.compute(Eigen::Map<const Square>(M, n, n)); }
  void solve(double* x) const override {
    Eigen::Map<Columns> columns(x, lu_.rows(), kDirections);
    columns = lu_.solve(columns).eval();
  }

 private:
  Eigen::PartialPivLU<Square> lu_;
};

// Of one thread: the environment in plain numbers, for the solve, and in dual ones; what is found there.
struct Worker {
  Blocks plain, dual;
  std::vector<double> solutions, factors, tangents;
  GeneralSystem following;

  Worker(const cpu::HostModel& host, int solves, int rows)
      : plain(host.specs(), sizeof(double)),
        dual(host.specs(), cpu::kDualBytes),
        solutions(at(solves * host.view().nv)),
        factors(cpu::factor_numbers(host.view(), solves)),
        tangents(at(rows) * at(kDirections)) {}
  std::size_t bytes() const {
    return plain.bytes + dual.bytes +
           sizeof(double) * (solutions.size() + factors.size() + tangents.size());
  }
};

// The rotation q moves at this rate where its tangent is e_i: q̇ = ½ q (0, e_i).
inline std::array<double, 4> quaternion_rate(const double* q, int i) {
  const double w = 0.5 * q[0], x = 0.5 * q[1], y = 0.5 * q[2], z = 0.5 * q[3];
  if (i == 0) return {-x, w, z, -y};
  if (i == 1) return {-y, -z, w, x};
  return {-z, y, -x, w};
}

// How qpos moves with dof i of its tangent, and back: qpos[first + k] at the rate[k]. Of a rotation four numbers.
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
