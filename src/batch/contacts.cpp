// The contact points of environments, in the format of the reference engine.
#include <algorithm>
#include <cmath>

#include "batch/compute.h"

namespace stiction {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Reads numbers of one lane of a workspace.
class LaneReader {
 public:
  LaneReader(const Batch::Impl& impl, const Workspace& w, std::size_t lane)
      : impl_(impl), w_(w), lane_(lane) {}

  int integer(Field f, int i = 0) const { return static_cast<const int*>(w_.fields[at(f)])[i]; }
  double number(Field f, int i) const {
    const bool wide = impl_.is_wide(impl_.spec(f));
    const std::size_t bytes = wide ? impl_.kernels.wide_bytes : impl_.kernels.real_bytes;
    const std::byte* p = static_cast<const std::byte*>(w_.fields[at(f)]) + bytes * at(i);
    if (bytes == sizeof(double) * at(impl_.kernels.lanes))
      return reinterpret_cast<const double*>(p)[lane_];
    return static_cast<double>(reinterpret_cast<const float*>(p)[lane_]);
  }
  Vector vector(Field f, int i) const {
    return {number(f, 3 * i), number(f, 3 * i + 1), number(f, 3 * i + 2)};
  }

 private:
  const Batch::Impl& impl_;
  const Workspace& w_;
  std::size_t lane_;
};

// Reads the numbers of point i; k, d, mu are those used in the problem.
Contact contact(const Batch::Impl& impl, const LaneReader& lane, int env, int i) {
  const Model& m = *impl.model;
  const auto& view = impl.host.view();
  Contact c;
  c.env = env;
  c.slot = lane.integer(Field::point_slot, i);
  c.pair = view.slot_pair[c.slot];
  c.geom1 = m.pair_geom1[at(c.pair)];
  c.geom2 = m.pair_geom2[at(c.pair)];
  c.body1 = m.geom_bodyid[at(c.geom1)];
  c.body2 = m.geom_bodyid[at(c.geom2)];
  c.normal = lane.vector(Field::point_normal, i);
  c.impulse = lane.vector(Field::point_impulse, i);
  if (view.ncouple > 0) c.couple = lane.vector(Field::point_couple, i);
  for (std::size_t k = 0; k < 3; ++k) {
    c.force[k] = c.impulse[k] / *impl.options.timestep;
    c.torque[k] = c.couple[k] / *impl.options.timestep;
  }
  c.gap = lane.number(Field::point_gap, i);
  c.friction = lane.number(Field::point_mu, i);
  c.stiffness = lane.number(Field::pair_stiffness, c.pair);
  c.dissipation = lane.number(Field::pair_dissipation, c.pair);
  c.n0 = lane.number(Field::point_n0, i);
  c.eps_s = lane.number(Field::point_eps, i);
  c.w = lane.number(Field::point_w, i);

  // point_r is relative to the tree origin of a body that can move
  const bool second = view.body_treeid[c.body2] >= 0;
  const int tree = view.body_treeid[second ? c.body2 : c.body1];
  const Vector origin = lane.vector(Field::xpos, view.tree_origin[tree]);
  const Vector r = lane.vector(second ? Field::point_r2 : Field::point_r1, i);
  for (std::size_t k = 0; k < 3; ++k) c.pos[k] = origin[k] + r[k];

  Vector velocity = lane.vector(Field::point_vel, i);
  for (std::size_t k = 0; k < 3 && view.ndriftslot > 0; ++k)  // drift of mocap bodies and surfaces
    velocity[k] += lane.number(Field::point_drift, 6 * i + 3 + static_cast<int>(k));
  c.separation_velocity = dot(c.normal, velocity);
  for (std::size_t k = 0; k < 3; ++k) c.slip[k] = velocity[k] - c.separation_velocity * c.normal[k];
  return c;
}

}  // namespace

std::vector<Contact> Batch::Impl::contacts(std::span<const int> ids) {
  fetch(kStateRows | kInputRows | kParamRows, ids);
  std::vector<std::vector<Contact>> of(ids.size());
  each_pack(*this, ids, [&](int, Workspace& w, std::span<const int> places) {
    kernels.forces(host.view(), w.fields.data());
    for (std::size_t k = 0; k < places.size(); ++k) {
      const LaneReader lane(*this, w, k);
      std::vector<Contact>& points = of[at(places[k])];
      // the list is shared by all lanes
      for (int i = 0; i < lane.integer(Field::npoint); ++i)
        if (lane.number(Field::cand_active, lane.integer(Field::point_slot, i)) > 0.5)
          points.push_back(contact(*this, lane, ids[at(places[k])], i));
      std::sort(points.begin(), points.end(),
                [](const Contact& a, const Contact& b) { return a.slot < b.slot; });
    }
  });
  std::vector<Contact> all;
  for (const std::vector<Contact>& points : of) all.insert(all.end(), points.begin(), points.end());
  return all;
}

std::vector<Contact> Batch::contacts() const {
  return contacts(all_ids(num_envs()));
}
std::vector<Contact> Batch::contacts(std::span<const int> ids) const {
  impl_->check_ids(ids, true);
  const Visit visit(impl_->guard);
  return impl_->contacts(ids);
}
std::vector<Contact> Batch::contacts(int env) const {
  return contacts(std::span(&env, 1));
}

}  // namespace stiction
