// Tendons: their paths and the dofs that move them.
#include <algorithm>
#include <numeric>
#include <set>

#include "cpu/host_model.h"
#include "index.h"

namespace stiction::cpu {
namespace {

// Adds the dofs that move two bodies relative to each other: those on the paths to the root below the common ancestor.
void add_between(const physics::ModelView& w, int body1, int body2, std::set<int>& dofs) {
  int a = w.body_lastdof[body1], b = w.body_lastdof[body2];
  while (a != b) {
    int& later = a > b ? a : b;
    dofs.insert(later);
    later = w.dof_parentid[later];
  }
}

int body_of(const Model& m, int wrap) {
  const int id = m.wrap_objid[at(wrap)];
  return m.wrap_type[at(wrap)] == WrapType::site ? m.site_bodyid[at(id)] : m.geom_bodyid[at(id)];
}

}  // namespace

// Returns the dofs of the moment arm of tendon t, ascending.
std::vector<int> HostModel::tendon_dofs(const Model& m, int t) const {
  std::set<int> dofs;
  const int begin = m.tendon_adr[at(t)], end = begin + m.tendon_num[at(t)];
  for (int k = begin; k < end; ++k) {
    if (m.wrap_type[at(k)] == WrapType::joint)
      dofs.insert(m.jnt_dofadr[at(m.wrap_objid[at(k)])]);
    else if (k + 1 < end && m.wrap_type[at(k)] != WrapType::pulley &&
             m.wrap_type[at(k + 1)] != WrapType::pulley)
      add_between(view_, body_of(m, k), body_of(m, k + 1), dofs);
    // past a geom that the tendon may not touch
    if (k + 2 < end && m.wrap_type[at(k)] == WrapType::site &&
        m.wrap_type[at(k + 1)] >= WrapType::sphere)
      add_between(view_, body_of(m, k), body_of(m, k + 2), dofs);
  }
  return {dofs.begin(), dofs.end()};
}

// Returns the dofs that move the site of an actuator relative to its reference site, its slider or the world.
std::vector<int> HostModel::site_dofs(const Model& m, int a) const {
  std::set<int> dofs;
  const int ref = m.actuator_refid[at(a)];
  add_between(view_, ref < 0 ? 0 : m.site_bodyid[at(ref)],
              m.site_bodyid[at(m.actuator_trnid[at(a)])], dofs);
  return {dofs.begin(), dofs.end()};
}

void HostModel::tendons(const Model& m) {
  physics::ModelView& w = view_;
  std::vector<int> fixed, types, moment;
  for (int t = 0; t < m.ntendon; ++t)
    fixed.push_back(m.wrap_type[at(m.tendon_adr[at(t)])] == WrapType::joint ? 1 : 0);
  w.nspatialtendon = m.ntendon - std::accumulate(fixed.begin(), fixed.end(), 0);
  for (int t = 0; t < m.ntendon; ++t) {
    for (int k = m.tendon_adr[at(t)]; k < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++k) {
      types.push_back(static_cast<int>(m.wrap_type[at(k)]));
      const int* const begin = w.moment_dof + w.coord_momentadr[m.nv + m.nu + t];
      const int* const end = w.moment_dof + w.coord_momentadr[m.nv + m.nu + t + 1];
      const int* const entry =
          fixed[at(t)] != 0 ? std::find(begin, end, m.jnt_dofadr[at(m.wrap_objid[at(k)])]) : end;
      moment.push_back(entry == end ? -1 : static_cast<int>(entry - w.moment_dof));
    }
  }
  w.tendon_length0 = keep(m.tendon_length0);
  w.tendon_adr = keep(m.tendon_adr), w.tendon_num = keep(m.tendon_num);
  w.tendon_fixed = keep(fixed);
  w.wrap_type = keep(types), w.wrap_moment = keep(moment);
  w.wrap_objid = keep(m.wrap_objid), w.wrap_sideid = keep(m.wrap_sideid);

  const auto given = [](const Reals& values) {
    std::vector<int> flags;
    for (const double v : values) flags.push_back(v != 0 ? 1 : 0);
    return flags;
  };
  tendon_limited_ = m.tendon_limited;
  tendon_springs_ = given(m.tendon_stiffness);
  tendon_drags_ = given(m.tendon_damping);
  const auto is_curved = [](const Reals& poly, int t) {
    return poly[at(2 * t)] != 0 || poly[at(2 * t + 1)] != 0;
  };
  for (int t = 0; t < m.ntendon; ++t) {
    if (is_curved(m.tendon_stiffnesspoly, t)) tendon_springs_[at(t)] = 1;
    if (m.tendon_armature[at(t)] != 0 || is_curved(m.tendon_dampingpoly, t))
      tendon_drags_[at(t)] = 1;
  }
  tendon_rubs_ = given(m.tendon_frictionloss);
}

// Appends the rows of the tendons after the `first` of the others, in the order of their laws; `adr` continues.
void HostModel::tendon_rows(std::vector<int>& adr, std::vector<int>& limits) {
  std::vector<int> rows[4];
  for (int t = 0; t < view_.ntendon; ++t) {
    int row = adr.back();
    const std::vector<int>* const has[4] = {&tendon_limited_, &tendon_springs_, &tendon_drags_,
                                            &tendon_rubs_};
    for (std::size_t k = 0; k < 4; ++k) rows[k].push_back((*has[k])[at(t)] != 0 ? row++ : -1);
    limits[at(view_.nv + view_.nu + t)] = tendon_limited_[at(t)] + tendon_springs_[at(t)];
    adr.push_back(row);
  }
  view_.tendon_limitrow = keep(rows[0]), view_.tendon_springrow = keep(rows[1]);
  view_.tendon_dragrow = keep(rows[2]), view_.tendon_rubrow = keep(rows[3]);
}

void HostModel::make_tendons_own(Field f) {
  const auto all = [&](std::vector<int>& flags) { std::fill(flags.begin(), flags.end(), 1); };
  if (f == Field::tendon_stiffness) all(tendon_springs_);
  if (f == Field::tendon_damping || f == Field::tendon_armature) all(tendon_drags_);
  if (f == Field::tendon_frictionloss) all(tendon_rubs_);
}

}  // namespace stiction::cpu
