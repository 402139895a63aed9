// Products of weights with the derivative of a step, in reverse mode on a tape: from the results of the step to its
// arguments. The equations are in cpu/adjoints.cpp.
#include <cmath>

#include "batch/gradient_impl.h"

namespace stiction {

using namespace gradient;

namespace {

bool is_motion(Field f) {
  return f == Field::qpos || f == Field::qvel;
}

}  // namespace

// Copies the numbers of a field as constants.
void StepDerivative::Impl::to_tape(const Worker& w, Field f) const {
  const double* const from = w.plain.numbers(f);
  cpu::Recorded* const to = w.reverse->fields.recorded(f);
  for (int i = 0; i < batch.spec(f).size(); ++i) to[i] = {from[i], 0};
}

void StepDerivative::Impl::prepare_product() {
  for (Worker& w : workers) {
    if (w.reverse != nullptr) continue;
    w.reverse = std::make_unique<Reverse>(batch.host, solves());
    for_fields(batch.host.specs(), {FieldKind::param},
               [&](Field f, const FieldSpec&) { to_tape(w, f); });
  }
}

// Makes the numbers of the columns, in order, the first nodes of the tape; returns their number.
int StepDerivative::Impl::plant_leaves(const Worker& w) const {
  cpu::Tape& tape = w.reverse->recording.tape;
  tape.clear();
  int count = 0;
  for (const Part& part : columns) {
    cpu::Recorded* const x = w.reverse->fields.recorded(part.field);
    const int size = batch.spec(part.field).size();
    for (int i = 0; i < size; ++i) x[i].node = tape.leaf();
    count += size;
  }
  return count;
}

// The transpose of `read`: adds the weights of the rows of a part to their nodes.
void StepDerivative::Impl::seed(const Worker& w, const Part& row, const double* weights) const {
  cpu::Tape& tape = w.reverse->recording.tape;
  const cpu::Recorded* const x = w.reverse->fields.recorded(row.field);
  for (int r = 0; r < row.size; ++r) {
    const double weight = weights[row.first + r];
    if (row.field != Field::qpos) {
      tape.bar(x[r].node) += weight;
      continue;
    }
    const PositionTangent t = position_tangent(*batch.model, r);
    const cpu::Recorded* const q = x + t.first;
    if (t.count == 1) {
      tape.bar(q->node) += weight;
      continue;
    }
    const double value[4] = {q[0].value, q[1].value, q[2].value, q[3].value};
    const std::array<double, 4> along = rotation_reading(value, t.axis);
    for (int k = 0; k < 4; ++k) tape.bar(q[k].node) += weight * along[at(k)];
  }
}

// The transpose of `for_seeds`: accumulates the leaves of a part into its columns.
void StepDerivative::Impl::harvest(const Worker& w, const Part& part, std::uint32_t first_leaf,
                                   double* out) const {
  cpu::Tape& tape = w.reverse->recording.tape;
  const auto bar = [&](int i) { return tape.bar(first_leaf + static_cast<std::uint32_t>(i)); };
  for (int i = 0; i < part.size; ++i) {
    double& to = out[part.first + i];
    if (part.field != Field::qpos) {
      to = bar(i);
      continue;
    }
    const PositionTangent t = position_tangent(*batch.model, i);
    if (t.count == 1) {
      to = bar(t.first);
      continue;
    }
    const double* const q = w.plain.numbers(Field::qpos) + t.first;
    const std::array<double, 4> rate = quaternion_rate(q, t.axis);
    to = 0;
    for (int k = 0; k < 4; ++k) to += rate[at(k)] * bar(t.first + k);
  }
}

// Sweeps from the rows in of_rows to the columns in to_columns.
template <class Rows, class Columns>
void StepDerivative::Impl::sweep(Worker& w, int leaves, const double* weights, double* out,
                                 const Rows& of_rows, const Columns& to_columns) const {
  Reverse& r = *w.reverse;
  for (const Part& row : rows)
    if (of_rows(row.field)) seed(w, row, weights);
  cpu::adjoint_kernels().sweep(batch.host.view(), r.fields.fields.data(), r.recording, leaves,
                               w.following);
  std::uint32_t first = 1;
  for (const Part& part : columns) {
    if (to_columns(part.field)) harvest(w, part, first, out);
    first += static_cast<std::uint32_t>(batch.spec(part.field).size());
  }
  for (std::uint32_t leaf = 0; leaf < first; ++leaf) r.recording.tape.take(leaf);
}

// Product for a step that keeps the state.
void StepDerivative::Impl::stay(const double* weights, double* out) const {
  for (const Part& part : columns)
    for (const Part& row : rows)
      if (row.field == part.field) std::copy_n(weights + row.first, row.size, out + part.first);
}

void StepDerivative::Impl::pull(Worker& w, int env, const double* weights, double* out) {
  if (!begin(w, env)) return stay(weights, out);
  Reverse& r = *w.reverse;
  for_own([&](Field f) { to_tape(w, f); });
  r.fields.recorded(Field::active)[0] = {1, 0};
  list_anchors(r.fields);
  const int leaves = plant_leaves(w);
  const bool lifted = cpu::adjoint_kernels().record(
      batch.host.view(), r.fields.fields.data(), w.plain.fields.data(), w.solutions.data(),
      solves(), has_rows(Field::sensordata), r.recording, w.following);
  const auto all = [](Field) { return true; };
  sweep(w, leaves, weights, out, all, all);
  if (!lifted) return;
  const std::vector<double> state = ask_reference(w, env);
  if (state.empty()) return;
  // from qpos to qpos and qvel with the reference's columns, to all other rows by the sweep
  const auto others = [](Field f) { return !is_motion(f); };
  sweep(w, leaves, weights, out, others, [](Field f) { return f == Field::qpos; });
  const int nv = batch.model->nv;
  for (const Part& part : columns) {
    if (part.field != Field::qpos) continue;
    for (const Part& row : rows) {
      if (!is_motion(row.field)) continue;
      const double* const block = state.data() + (row.field == Field::qvel ? 2 * nv * nv : 0);
      for (int i = 0; i < nv; ++i)
        for (int k = 0; k < nv; ++k)
          out[part.first + k] += weights[row.first + i] * block[i * 2 * nv + k];
    }
  }
}

std::vector<double> StepDerivative::product(std::span<const double> weights) {
  const std::size_t nrows = at(rows()), ncolumns = at(columns()), n = at(impl_->batch.num_envs());
  if (weights.size() != n * nrows)
    throw ArgumentError("product: weights has " + std::to_string(weights.size()) + " numbers, " +
                        std::to_string(n) + " environments need " + std::to_string(n) + " x " +
                        std::to_string(nrows));
  if (!std::all_of(weights.begin(), weights.end(), [](double x) { return std::isfinite(x); }))
    throw ArgumentError("product: a weight is not finite");
  std::vector<double> out(n * ncolumns);
  const Visit visit(impl_->batch.guard);
  impl_->batch.check_written_params();
  impl_->prepare_product();
  impl_->each([&](Worker& w, int env) {
    impl_->pull(w, env, weights.data() + at(env) * nrows, out.data() + at(env) * ncolumns);
  });
  return out;
}

}  // namespace stiction
