// The fields of one pack of environments in a test, without a Batch: every field of every kind is
// poisoned with NaN, then parameters, state and inputs are set per lane.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "cpu/block.h"
#include "cpu/host_model.h"
#include "cpu/pack.h"
#include "physics/base/team.h"
#include "stiction/reference.h"

namespace stiction::test {

using physics::Field;
using TestPack = physics::Pack<float, physics::kNativeLanes>;

// Options with every default resolved; float numbers get the float tolerance.
template <class S>
Options resolved(const Model& m, Options o = {}) {
  if (!o.timestep) o.timestep = m.timestep;
  if (!o.solver_tolerance) o.solver_tolerance = sizeof(physics::Lane<S>) == 8 ? 1e-6 : 1e-4;
  return o;
}

template <class S>
class Env {
 public:
  explicit Env(const Model& m, const Options& o = {}, bool dense = false)
      : host(m, resolved<S>(m, o), dense) {
    for (const cpu::FieldSpec& spec : host.specs()) {
      const std::size_t bytes = physics::block_bytes<S>(spec) + physics::kBlockAlignment;
      memory_.emplace_back(std::aligned_alloc(physics::kBlockAlignment, bytes), &std::free);
      address_.push_back(memory_.back().get());
    }
    e = physics::bind<S>(address_.data());
    poison();
    for (int f = 0; f < cpu::kFields; ++f) {
      const cpu::FieldSpec& spec = host.specs()[static_cast<std::size_t>(f)];
      const Field field = static_cast<Field>(f);
      if (spec.kind == cpu::FieldKind::param) set(field, host.param(field));
      if (spec.kind == cpu::FieldKind::state || spec.kind == cpu::FieldKind::input) fill(field, 0);
    }
    set(Field::qpos, m.qpos0);
    set(Field::active, std::vector<double>{1});
    set(Field::eq_active, std::vector<double>(m.eq_active0.begin(), m.eq_active0.end()));
    for (int b = 0; b < m.nbody; ++b) {
      const int k = m.body_mocapid[static_cast<std::size_t>(b)];
      for (int i = 0; i < 7 && k >= 0; ++i) {
        const bool pos = i < 3;
        const double x = pos ? m.body_pos[static_cast<std::size_t>(3 * b + i)]
                             : m.body_quat[static_cast<std::size_t>(4 * b + i - 3)];
        for (int lane = 0; lane < lanes(); ++lane)
          put(pos ? Field::mocap_pos : Field::mocap_quat, pos ? 3 * k + i : 4 * k + i - 3, lane, x);
      }
    }
  }

  static constexpr int lanes() { return physics::kLanes<S>; }
  const physics::ModelView& m() const { return host.view(); }
  const cpu::FieldSpec& spec(Field f) const { return host.specs()[static_cast<std::size_t>(f)]; }

  // NaN in the fields of every kind, or of one.
  void poison() {
    for (int f = 0; f < cpu::kFields; ++f) poison(static_cast<Field>(f));
  }
  void poison(cpu::FieldKind kind) {
    for (int f = 0; f < cpu::kFields; ++f)
      if (host.specs()[static_cast<std::size_t>(f)].kind == kind) poison(static_cast<Field>(f));
  }
  void poison(Field f) {
    if (f == Field::nanchorslot) {  // anchors are set in any slot
      for (int i = 0; i < m().nanchorlist; ++i) e.anchor_slot[i] = i, e.anchor_listed[i] = 1;
      e.nanchorslot[0] = m().nanchorlist;
    } else if (f == Field::anchor_slot || f == Field::anchor_listed) {
    } else if (spec(f).type == cpu::FieldType::index) {
      int* p = static_cast<int*>(address_[static_cast<std::size_t>(f)]);
      for (int i = 0; i < spec(f).size(); ++i) p[i] = std::numeric_limits<int>::min() / 2;
    } else {
      fill(f, std::numeric_limits<double>::quiet_NaN());
    }
  }
  void fill(Field f, double x) {
    for (int i = 0; i < spec(f).size(); ++i)
      for (int lane = 0; lane < lanes(); ++lane) put(f, i, lane, x);
  }
  // The same numbers in every lane, or in one; a vector over the dofs may go on behind them.
  void set(Field f, std::span<const double> x) {
    for (int lane = 0; lane < lanes(); ++lane) set(f, lane, x);
  }
  void set(Field f, int lane, std::span<const double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) put(f, static_cast<int>(i), lane, x[i]);
  }
  std::vector<double> get(Field f, int lane = 0) const {
    std::vector<double> x;
    for (int i = 0; i < spec(f).size(); ++i) x.push_back(number(f, i, lane));
    return x;
  }

  // What a field has for the dofs.
  std::vector<double> dofs(Field f, int lane = 0) const {
    std::vector<double> x = get(f, lane);
    x.resize(static_cast<std::size_t>(m().nv));
    return x;
  }

  void put(Field f, int i, int lane, double x) {
    if (spec(f).type == cpu::FieldType::wide)
      physics::set_lane(wide(f)[i], lane, x);
    else
      physics::set_lane(real(f)[i], lane, static_cast<physics::Lane<S>>(x));
  }
  double number(Field f, int i, int lane) const {
    if (spec(f).type == cpu::FieldType::wide) return physics::get_lane(wide(f)[i], lane);
    if (spec(f).type == cpu::FieldType::index)
      return static_cast<const int*>(address_[static_cast<std::size_t>(f)])[i];
    return static_cast<double>(physics::get_lane(real(f)[i], lane));
  }

  cpu::HostModel host;
  physics::EnvView<S> e;

 private:
  physics::Wide<S>* wide(Field f) const {
    return static_cast<physics::Wide<S>*>(address_[static_cast<std::size_t>(f)]);
  }
  S* real(Field f) const { return static_cast<S*>(address_[static_cast<std::size_t>(f)]); }

  std::vector<std::unique_ptr<void, void (*)(void*)>> memory_;
  std::vector<void*> address_;
};

}  // namespace stiction::test
