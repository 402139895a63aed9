// Derivatives of a step, forward mode: the plain step, then its tangents in dual numbers. The equations are in
// cpu/tangents.cpp and physics/solver/tangent.h.
#include <cmath>
#include <cstring>

#include "batch/compute.h"
#include "batch/gradient_impl.h"
#include "cpu/dispatch.h"

namespace stiction {
namespace {

using namespace gradient;

// Newton's method continues until round-off stops it.
constexpr double kTightest = 1e-14;
constexpr double kFixedPoint = 1e-12;  // tolerance of the friction bounds

constexpr std::initializer_list<FieldKind> kGiven = {FieldKind::state, FieldKind::input,
                                                     FieldKind::param};

// Fields that move points on bodies other than through the state.
bool is_geometric(Field f) {
  switch (f) {
    case Field::mocap_pos:
    case Field::mocap_quat:
    case Field::mocap_vel:
    case Field::body_pos:
    case Field::body_quat:
    case Field::jnt_pos:
    case Field::jnt_axis:
    case Field::qpos0:
    case Field::geom_size:
    case Field::geom_pos:
    case Field::geom_quat:
    case Field::pair_margin:
    case Field::pair_weight: return true;
    default: return false;
  }
}

void require_derivatives(const Model& m) {
  for (int i = 0; i < m.nsensor; ++i) {
    const SensorType t = m.sensor_type[at(i)];
    if (t != SensorType::rangefinder && t != SensorType::distance && t != SensorType::normal &&
        t != SensorType::fromto)
      continue;
    throw ArgumentError("StepDerivative: sensor '" + m.sensors[at(i)].name +
                        "' casts a ray or searches, and has no derivative here");
  }
}

}  // namespace

StepDerivative::Impl::Impl(Batch& b, const std::vector<std::string>& of_names,
                           const std::vector<std::string>& wrt_names)
    : batch(*b.impl_) {
  const Visit visit(batch.guard);
  if (batch.device != nullptr) throw ArgumentError("StepDerivative: runs on device = 'cpu' only");
  if (batch.options.friction_iterations == kAutoFriction)
    throw ArgumentError(
        "StepDerivative: with friction_iterations = 'auto' friction is right within a share, and "
        "jumps where its bounds stop; take 'fixed_point', or a whole number of solves");
  rows = parts(of_names, {FieldKind::state}, "of", of);
  columns = parts(wrt_names, {FieldKind::state, FieldKind::input, FieldKind::param}, "wrt", wrt);
  for (const Part& p : columns)
    if (batch.spec(p.field).kind == FieldKind::param) batch.make_own(p.field);
  for (int i = 0; i < batch.pool->size(); ++i) workers.emplace_back(batch.host, solves());
  for (Worker& w : workers)
    for_fields(batch.host.specs(), {FieldKind::param}, [&](Field f, const FieldSpec&) {
      const std::vector<double>& x = batch.host.param(f);
      std::copy(x.begin(), x.end(), w.plain.numbers(f));
    });
  status.resize(at(batch.num_envs()));
  exact.assign(at(batch.num_envs()), 1);
  const Model& m = *batch.model;
  for (int p = 0; p < m.npair && reference == nullptr; ++p)
    if (cpu::is_lifted(m.geom_type[at(m.pair_geom1[at(p)])], m.geom_type[at(m.pair_geom2[at(p)])]))
      reference = std::make_unique<Reference>(batch.model, batch.options);
}

std::vector<StepDerivative::Impl::Part> StepDerivative::Impl::parts(
    const std::vector<std::string>& names, std::initializer_list<FieldKind> kinds,
    const char* argument, std::vector<DerivativeBlock>& blocks) {
  std::vector<Part> list;
  int first = 0;
  for (const std::string& name : names) {
    const Field f = batch.find(name);
    const FieldSpec& s = batch.spec(f);
    const bool sensors = f == Field::sensordata && std::strcmp(argument, "of") == 0;
    if (!sensors && std::find(kinds.begin(), kinds.end(), s.kind) == kinds.end())
      throw ArgumentError("StepDerivative: " + std::string(argument) + " '" + name +
                          "': not a number that a step " +
                          (std::strcmp(argument, "of") == 0 ? "moves" : "depends on"));
    // a warm start that moves no solution, and indices of meshes
    if (f == Field::qacc_warmstart || f == Field::geom_dataid || f == Field::eq_active)
      throw ArgumentError("StepDerivative: " + std::string(argument) + " '" + name +
                          "': has no derivative");
    for (const Part& p : list)
      if (p.field == f)
        throw ArgumentError("StepDerivative: " + std::string(argument) + " names '" + name +
                            "' twice");
    if (sensors) require_derivatives(*batch.model);
    const int size = f == Field::qpos ? batch.model->nv : s.size();
    list.push_back({f, first, size});
    blocks.push_back({name, first, size});
    first += size;
  }
  return list;
}

// ---- one environment

void StepDerivative::Impl::load(const Worker& w, int env) const {
  for_fields(batch.host.specs(), kGiven, [&](Field f, const FieldSpec& s) {
    if (batch.rows[at(f)] == nullptr) return;
    const bool mocap = f == Field::mocap_pos || f == Field::mocap_quat;
    const std::byte* row =
        mocap && !batch.mocap_is_good(env) ? batch.reference_row[at(f)] : batch.row(f, env);
    for (int i = 0; i < s.size(); ++i) {
      const double x = batch.get(row, s, i);
      // as in the step
      w.plain.numbers(f)[i] = s.kind == FieldKind::input && !std::isfinite(x) ? 0.0 : x;
    }
  });
  w.plain.numbers(Field::active)[0] = 1;
  list_anchors(w.plain);
}

void StepDerivative::Impl::list_anchors(const gradient::Blocks& b) const {
  if (batch.anchors.nanchor == 0) return;
  for (int slot = 0; slot < batch.anchors.nslot; ++slot)
    b.ints(Field::anchor_slot)[slot] = slot, b.ints(Field::anchor_listed)[slot] = 1;
  b.ints(Field::nanchorslot)[0] = batch.anchors.nslot;
}

bool StepDerivative::Impl::has_own_numbers(int env) const {
  for (int f = 0; f < kFields; ++f) {
    const Field field = static_cast<Field>(f);
    if (batch.owns(field) && std::memcmp(batch.row(field, env), batch.reference_row[at(f)],
                                         batch.row_bytes(batch.spec(field))) != 0)
      return true;
  }
  return false;
}

// Returns the columns of qpos in the rows of qpos and qvel, computed by the reference: (2 nv, 2 nv).
std::vector<double> StepDerivative::Impl::by_reference(const Worker& w) const {
  const auto span = [&](Field f) {
    return std::span<const double>(w.plain.numbers(f), at(batch.spec(f).size()));
  };
  Inputs in{.ctrl = span(Field::ctrl),
            .qfrc_applied = span(Field::qfrc_applied),
            .xfrc_applied = span(Field::xfrc_applied),
            .mocap_pos = span(Field::mocap_pos),
            .mocap_quat = span(Field::mocap_quat),
            .anchor = span(Field::anchor),
            .friction_anchor = span(Field::friction_anchor),
            .eq_active = span(Field::eq_active),
            .act = span(Field::act),
            .time = w.plain.numbers(Field::time)[0]};
  // poses of the mocap bodies, and their velocities in this step
  std::vector<double> pos, quat;
  if (batch.host.view().nmocapstate > 0) {
    pos.assign(in.mocap_pos.begin(), in.mocap_pos.end());
    quat.assign(in.mocap_quat.begin(), in.mocap_quat.end());
    for (int k = 0; k < batch.model->nmocap; ++k) {
      const double* const q = w.plain.numbers(Field::mocap_xquat) + 4 * k;
      if (!physics::has_direction(q)) continue;
      std::copy_n(q, 4, &quat[at(4 * k)]);
      std::copy_n(w.plain.numbers(Field::mocap_xpos) + 3 * k, 3, &pos[at(3 * k)]);
    }
    in.mocap_pos = pos, in.mocap_quat = quat, in.mocap_vel = span(Field::mocap_twist);
  }
  return reference->step_jacobian(span(Field::qpos), span(Field::qvel), in).state;
}

// Returns whether a point without tangents may also move entries that the reference does not provide.
bool StepDerivative::Impl::moves_more() const {
  const auto other = [](const Part& p) {
    return p.field != Field::qpos && p.field != Field::qvel && p.field != Field::act;
  };
  return std::any_of(columns.begin(), columns.end(),
                     [](const Part& p) { return is_geometric(p.field); }) ||
         (std::any_of(rows.begin(), rows.end(), other) && has_columns(Field::qpos));
}

std::vector<double> StepDerivative::Impl::ask_reference(const Worker& w, int env) {
  exact[at(env)] = moves_more() || has_own_numbers(env) ? 0 : 1;
  if (exact[at(env)] == 0 || !has_columns(Field::qpos)) return {};
  return by_reference(w);
}

// Solves for v of each solve; returns the bits of Status.
std::uint32_t StepDerivative::Impl::solve(Worker& w) const {
  const cpu::Kernels& k = cpu::float64_kernels();
  physics::ModelView m = batch.host.view();
  m.opt.solver_tolerance = kTightest;
  if (m.opt.friction_follows) {
    m.opt.friction_exact = true;
    m.opt.friction_renewals = kMostRenewals;
    m.opt.friction_share = kFixedPoint;
  }
  cpu::LaneReport report{};
  // fields of pairs that the cull rejects are never written
  std::fill_n(w.plain.numbers(Field::pair_near), m.npair, 0.0);
  for (int n = 1; n <= solves(); ++n) {
    if (!m.opt.friction_follows) m.opt.friction_iterations = n;
    k.forces(m, w.plain.fields.data());
    std::copy_n(w.plain.numbers(Field::v), m.nv, &w.solutions[at((n - 1) * m.nv)]);
  }
  k.report(w.plain.fields.data(), &report);
  return report.flags & ~static_cast<std::uint32_t>(Status::stalled);
}

bool StepDerivative::Impl::begin(Worker& w, int env) {
  exact[at(env)] = 1;
  std::uint32_t& found = status[at(env)];
  found = batch.status[at(env)] & static_cast<std::uint32_t>(kFrozen);
  if (found == 0) {
    if (batch.state_is_good(env)) {
      load(w, env);
      found = solve(w);
    } else {
      found = static_cast<std::uint32_t>(Status::bad_state);
    }
  }
  return !any(static_cast<Status>(found), kFrozen);
}

// ---- forward

// Copies the numbers of a field, without tangents.
void StepDerivative::Impl::to_dual(const Worker& w, Field f) const {
  const double* from = w.plain.numbers(f);
  double* to = w.dual.numbers(f);
  for (int i = 0; i < batch.spec(f).size(); ++i, to += kDual) {
    to[0] = from[i];
    std::fill_n(to + 1, kDirections, 0.0);
  }
}

void StepDerivative::Impl::prepare_jacobian() {
  for (Worker& w : workers) {
    if (w.dual.bytes > 0) continue;
    w.prepare_jacobian(batch.host, solves(), nrows());
    for_fields(batch.host.specs(), {FieldKind::param},
               [&](Field f, const FieldSpec&) { to_dual(w, f); });
  }
}

// Replaces the tangents of column c in direction d by those of the reference.
void StepDerivative::Impl::replace(Worker& w, const std::vector<double>& state, int c,
                                   int d) const {
  const auto [part, i] = column(c);
  if (part->field != Field::qpos) return;
  const int nv = batch.model->nv;
  for (const Part& row : rows) {
    if (row.field != Field::qpos && row.field != Field::qvel) continue;
    const int first = row.field == Field::qvel ? nv : 0;
    for (int r = 0; r < nv; ++r)
      w.tangents[at(row.first + r) * at(kDirections) + at(d)] =
          state[at(first + r) * at(2 * nv) + at(i)];
  }
}

// Returns the part that column c belongs to, and the index within it.
std::pair<const StepDerivative::Impl::Part*, int> StepDerivative::Impl::column(int c) const {
  std::size_t p = 0;
  while (c >= columns[p].first + columns[p].size) ++p;
  return {&columns[p], c - columns[p].first};
}
// Calls f(dual number, rate) for each number that moves with column c.
template <class F>
void StepDerivative::Impl::for_seeds(const Worker& w, int c, const F& f) const {
  const auto [part, i] = column(c);
  double* const x = w.dual.numbers(part->field);
  if (part->field != Field::qpos) return f(x + kDual * at(i), 1.0);
  const PositionTangent t = position_tangent(*batch.model, i);
  if (t.count == 1) return f(x + kDual * at(t.first), 1.0);
  const double* const q = w.plain.numbers(Field::qpos) + t.first;
  const std::array<double, 4> rate = quaternion_rate(q, t.axis);
  for (int k = 0; k < 4; ++k) f(x + kDual * at(t.first + k), rate[at(k)]);
}

// Reads the tangents of the rows of a part in all directions.
void StepDerivative::Impl::read(Worker& w, const Part& part) const {
  const double* const x = w.dual.numbers(part.field);
  for (int r = 0; r < part.size; ++r) {
    double* const to = &w.tangents[at(part.first + r) * at(kDirections)];
    if (part.field != Field::qpos) {
      std::copy_n(x + kDual * at(r) + 1, kDirections, to);
      continue;
    }
    const PositionTangent t = position_tangent(*batch.model, r);
    const double* const at_first = x + kDual * at(t.first);
    if (t.count == 1) {
      std::copy_n(at_first + 1, kDirections, to);
      continue;
    }
    const double q[4] = {at_first[0], at_first[kDual], at_first[2 * kDual], at_first[3 * kDual]};
    const std::array<double, 4> along = rotation_reading(q, t.axis);
    for (int d = 0; d < kDirections; ++d) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += along[at(k)] * at_first[kDual * at(k) + 1 + at(d)];
      to[d] = sum;
    }
  }
}

// Tangents of a step that keeps the state.
void StepDerivative::Impl::stay(Worker& w, int first, int count) const {
  std::fill(w.tangents.begin(), w.tangents.end(), 0.0);
  for (int d = 0; d < count; ++d) {
    const auto [part, i] = column(first + d);
    for (const Part& row : rows)
      if (row.field == part->field) w.tangents[at(row.first + i) * at(kDirections) + at(d)] = 1;
  }
}

template <class Use>
void StepDerivative::Impl::differentiate(Worker& w, int env, const Use& use) {
  const bool moves = begin(w, env);
  if (moves) {
    for_own([&](Field f) { to_dual(w, f); });
    w.dual.numbers(Field::active)[0] = 1;
    list_anchors(w.dual);
  }
  const int n = ncolumns();
  std::vector<double> state;  // from the reference, if needed
  for (int first = 0; first < n; first += kDirections) {
    const int count = std::min(kDirections, n - first);
    if (!moves) {
      stay(w, first, count);
      use(first, count);
      continue;
    }
    for_fields(batch.host.specs(), {FieldKind::state},
               [&](Field f, const FieldSpec&) { to_dual(w, f); });
    for (int d = 0; d < count; ++d)
      for_seeds(w, first + d, [&](double* x, double rate) { x[1 + d] = rate; });
    const bool lifted = cpu::tangent_kernels().step(
        batch.host.view(), w.dual.fields.data(), w.plain.fields.data(), w.solutions.data(),
        solves(), first == 0, has_rows(Field::sensordata), w.factors.data(), w.following);
    if (lifted && first == 0) state = ask_reference(w, env);
    for (const Part& part : rows) read(w, part);
    for (int d = 0; d < count && !state.empty(); ++d) replace(w, state, first + d, d);
    use(first, count);
    for (int d = 0; d < count; ++d)
      for_seeds(w, first + d, [&](double* x, double) { x[1 + d] = 0; });
  }
}

// ---- public interface

StepDerivative::StepDerivative(Batch& batch, const std::vector<std::string>& of,
                               const std::vector<std::string>& wrt)
    : impl_(std::make_unique<Impl>(batch, of, wrt)) {}
StepDerivative::~StepDerivative() = default;
StepDerivative::StepDerivative(StepDerivative&&) noexcept = default;
StepDerivative& StepDerivative::operator=(StepDerivative&&) noexcept = default;

const std::vector<DerivativeBlock>& StepDerivative::of() const {
  return impl_->of;
}
const std::vector<DerivativeBlock>& StepDerivative::wrt() const {
  return impl_->wrt;
}
int StepDerivative::rows() const {
  return impl_->nrows();
}
int StepDerivative::columns() const {
  return impl_->ncolumns();
}
std::size_t StepDerivative::memory() const {
  std::size_t bytes = 0;
  for (const Worker& w : impl_->workers) bytes += w.bytes();
  return bytes;
}
const std::vector<std::uint32_t>& StepDerivative::status() const {
  return impl_->status;
}

const std::vector<std::uint8_t>& StepDerivative::exact() const {
  return impl_->exact;
}

std::vector<double> StepDerivative::jacobian() {
  const std::size_t nrows = at(rows()), ncolumns = at(columns());
  std::vector<double> out(at(impl_->batch.num_envs()) * nrows * ncolumns);
  const Visit visit(impl_->batch.guard);
  impl_->batch.check_written_params();
  impl_->prepare_jacobian();
  impl_->each([&](Worker& w, int env) {
    double* const matrix = out.data() + at(env) * nrows * ncolumns;
    impl_->differentiate(w, env, [&](int first, int count) {
      for (std::size_t r = 0; r < nrows; ++r)
        std::copy_n(&w.tangents[r * at(kDirections)], count, matrix + r * ncolumns + at(first));
    });
  });
  return out;
}

}  // namespace stiction
