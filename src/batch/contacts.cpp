// The contact points of one environment, as the reference engine reports them.
#include <cmath>

#include "batch/impl.h"

namespace stiction {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Reads numbers of the first lane of a workspace.
class FirstLane {
 public:
  FirstLane(const Batch::Impl& impl, const Workspace& w) : impl_(impl), w_(w) {}

  int integer(Field f, int i = 0) const { return static_cast<const int*>(w_.fields[at(f)])[i]; }
  double number(Field f, int i) const {
    const bool wide = impl_.is_wide(impl_.spec(f));
    const std::size_t bytes = wide ? impl_.kernels.wide_bytes : impl_.kernels.real_bytes;
    const std::byte* p = static_cast<const std::byte*>(w_.fields[at(f)]) + bytes * at(i);
    if (bytes == sizeof(double) * at(impl_.kernels.lanes))
      return *reinterpret_cast<const double*>(p);
    return static_cast<double>(*reinterpret_cast<const float*>(p));
  }
  Vector vector(Field f, int i) const {
    return {number(f, 3 * i), number(f, 3 * i + 1), number(f, 3 * i + 2)};
  }

 private:
  const Batch::Impl& impl_;
  const Workspace& w_;
};

// Numbers of point i that belong to the point; k, d, mu are the problem's own.
Contact contact(const Batch::Impl& impl, const FirstLane& lane, int i) {
  const Model& m = *impl.model;
  const auto& view = impl.host.view();
  Contact c;
  c.slot = lane.integer(Field::point_slot, i);
  c.pair = view.slot_pair[c.slot];
  c.geom1 = m.pair_geom1[at(c.pair)];
  c.geom2 = m.pair_geom2[at(c.pair)];
  c.normal = lane.vector(Field::point_normal, i);
  c.impulse = lane.vector(Field::point_impulse, i);
  c.gap = lane.number(Field::point_gap, i);
  c.friction = lane.number(Field::point_mu, i);
  c.stiffness = lane.number(Field::pair_stiffness, c.pair);
  c.dissipation = lane.number(Field::pair_dissipation, c.pair);
  c.n0 = lane.number(Field::point_n0, i);
  c.eps_s = lane.number(Field::point_eps, i);
  c.w = lane.number(Field::point_w, i);

  // point_r is relative to the origin of the tree of a body that can move
  const int body2 = m.geom_bodyid[at(c.geom2)], body1 = m.geom_bodyid[at(c.geom1)];
  const bool second = view.body_treeid[body2] >= 0;
  const int tree = view.body_treeid[second ? body2 : body1];
  const Vector origin = lane.vector(Field::xpos, view.tree_origin[tree]);
  const Vector r = lane.vector(second ? Field::point_r2 : Field::point_r1, i);
  for (std::size_t k = 0; k < 3; ++k) c.pos[k] = origin[k] + r[k];

  const Vector velocity = lane.vector(Field::point_vel, i);
  c.separation_velocity = dot(c.normal, velocity);
  for (std::size_t k = 0; k < 3; ++k) c.slip[k] = velocity[k] - c.separation_velocity * c.normal[k];
  return c;
}

}  // namespace

std::vector<Contact> Batch::Impl::contacts(int env) {
  Workspace& w = workspaces[0];
  const int lanes[kMaxLanes] = {env, env, env, env, env, env, env, env,
                                env, env, env, env, env, env, env, env};
  const bool active[kMaxLanes] = {true, true, true, true, true, true, true, true,
                                  true, true, true, true, true, true, true, true};
  fetch(kStateRows | kInputRows | kParamRows, std::span(&env, 1));
  if (!state_is_good(env)) return {};
  load(w, lanes);
  kernels.set_active(w.fields.data(), active);
  kernels.forces(host.view(), w.fields.data());

  const FirstLane lane(*this, w);
  const int n = lane.integer(Field::npoint);
  std::vector<Contact> result;
  result.reserve(at(n));
  for (int i = 0; i < n; ++i) result.push_back(contact(*this, lane, i));
  return result;
}

std::vector<Contact> Batch::contacts(int env) const {
  impl_->check_ids(std::span(&env, 1), false);
  const Visit visit(impl_->guard);
  return impl_->contacts(env);
}

}  // namespace stiction
