#include "model/spec/derive.h"

#include <algorithm>
#include <cmath>

#include "math.h"
#include "model/spec/rest_inertia.h"
#include "model/spec/specs.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

// Derives roots, weld groups, the dofs of each body and their chains.
void derive_tree(Model& m) {
  const auto nbody = at(m.nbody), nv = at(m.nv);
  m.body_rootid.assign(nbody, 0);
  m.body_weldid.assign(nbody, 0);
  m.body_dofadr.assign(nbody, -1);
  m.body_dofnum.assign(nbody, 0);
  m.dof_bodyid.assign(nv, 0);
  m.dof_jntid.assign(nv, 0);
  m.dof_parentid.assign(nv, -1);

  std::vector<int> last(nbody, -1);  // last dof on the path from the world to the body
  for (int b = 1; b < m.nbody; ++b) {
    const int parent = m.body_parentid[at(b)];
    const bool own_group = m.body_jntnum[at(b)] > 0 || m.body_mocapid[at(b)] >= 0;
    m.body_rootid[at(b)] = parent == 0 ? b : m.body_rootid[at(parent)];
    m.body_weldid[at(b)] = own_group ? b : m.body_weldid[at(parent)];

    last[at(b)] = last[at(parent)];
    for (int k = 0; k < m.body_jntnum[at(b)]; ++k) {
      const int j = m.body_jntadr[at(b)] + k;
      const int first = m.jnt_dofadr[at(j)], count = dof_count(m.jnt_type[at(j)]);
      if (k == 0) m.body_dofadr[at(b)] = first;
      m.body_dofnum[at(b)] += count;
      for (int i = first; i < first + count; ++i) {
        m.dof_bodyid[at(i)] = b;
        m.dof_jntid[at(i)] = j;
        m.dof_parentid[at(i)] = last[at(b)];
        last[at(b)] = i;
      }
    }
  }
}

double bounding_radius(GeomType type, const Vec3& size) {
  switch (type) {
    case GeomType::plane:
    case GeomType::hfield: return 0;
    case GeomType::sphere: return size[0];
    case GeomType::capsule: return size[0] + size[1];
    case GeomType::ellipsoid: return size.maxCoeff();
    case GeomType::cylinder: return std::hypot(size[0], size[1]);
    case GeomType::box:
    case GeomType::mesh: return size.norm();  // mesh: half sizes of its bounding box
  }
  return 0;
}

void derive_sizes(Model& m) {
  m.body_subtreemass = m.body_mass;
  for (int b = m.nbody - 1; b > 0; --b)
    m.body_subtreemass[at(m.body_parentid[at(b)])] += m.body_subtreemass[at(b)];

  m.geom_rbound.resize(at(m.ngeom));
  for (int g = 0; g < m.ngeom; ++g) {
    double& radius = m.geom_rbound[at(g)];
    radius = bounding_radius(m.geom_type[at(g)], row3(m.geom_size, g));
    for (const int mesh : mesh_choice(m, g))
      radius = std::max(radius, bounding_radius(GeomType::mesh, row3(m.mesh_size, mesh)));
  }
}

// Finds MuJoCo's "simple" bodies that cannot rotate: a childless body on a fixed parent, its centre of mass
// and principal axes at its frame, with only slides along coordinate axes through the origin.
// Their inverse weight is 1/mass, without armature and whatever the number of slides.
std::vector<bool> only_slides(const Model& m) {
  constexpr double kSameFrame = 1e-6;  // MuJoCo's tolerance for "at the frame"
  std::vector<bool> simple(at(m.nbody), false);
  for (int b = 1; b < m.nbody; ++b) {
    const int parent = m.body_parentid[at(b)];
    simple[at(parent)] = false;
    const bool fixed_parent = m.body_parentid[at(parent)] == 0 && m.body_dofnum[at(parent)] == 0;
    const Quat axes = row4(m.body_iquat, b);
    simple[at(b)] = m.body_jntnum[at(b)] > 0 && fixed_parent &&
                    row3(m.body_ipos, b).cwiseAbs().maxCoeff() < kSameFrame &&
                    std::abs(std::abs(axes.w()) - 1) < kSameFrame &&
                    axes.vec().cwiseAbs().maxCoeff() < kSameFrame;
  }
  for (int j = 0; j < m.njnt; ++j) {
    const Vec3 axis = row3(m.jnt_axis, j);
    const bool slide = m.jnt_type[at(j)] == JointType::slide &&
                       row3(m.jnt_pos, j).cwiseAbs().maxCoeff() < kSameFrame &&
                       (axis.array().abs() > 1e-14).count() == 1;
    if (!slide) simple[at(m.jnt_bodyid[at(j)])] = false;
  }
  return simple;
}

// Averages the diagonal of J M⁻¹ Jᵀ at qpos0, for the centre of mass of each body and for each joint.
void derive_inverse_weights(Model& m) {
  const RestPose pose(m);
  const RestInertia inertia(m, pose);
  const std::vector<bool> simple = only_slides(m);

  m.body_invweight0.assign(2 * at(m.nbody), 0.0);
  for (int b = 1; b < m.nbody; ++b) {
    if (simple[at(b)]) {
      m.body_invweight0[2 * at(b)] = 1 / m.body_mass[at(b)];
      continue;
    }
    const Vec6 diagonal = inertia.inverse_spatial(b).diagonal();
    m.body_invweight0[2 * at(b)] = diagonal.tail<3>().mean();
    m.body_invweight0[2 * at(b) + 1] = diagonal.head<3>().mean();
  }

  const VecX inverse = inertia.inverse_diagonal();
  m.dof_invweight0.resize(at(m.nv));
  for (int j = 0; j < m.njnt; ++j) {
    const int first = m.jnt_dofadr[at(j)], count = dof_count(m.jnt_type[at(j)]);
    const int block = std::min(count, 3);  // free: translation and rotation separately
    for (int i = first; i < first + count; i += block)
      for (int k = i; k < i + block; ++k)
        m.dof_invweight0[at(k)] = simple[at(m.jnt_bodyid[at(j)])]
                                      ? 1 / m.body_mass[at(m.jnt_bodyid[at(j)])]
                                      : inverse.segment(i, block).mean();
  }
}

}  // namespace

void derive(Model& m) {
  derive_tree(m);
  derive_sizes(m);
  derive_inverse_weights(m);
}

namespace {

struct SiteFrame {
  int body;
  Vec3 pos;
  Mat3 axes;
};
SiteFrame site_frame0(const Model& m, const RestPose& pose, int site) {
  const int b = m.site_bodyid[at(site)];
  return {b, pose.pos[at(b)] + pose.quat[at(b)] * row3(m.site_pos, site),
          (pose.quat[at(b)] * row4(m.site_quat, site)).toRotationMatrix()};
}

bool moves(const Model& m, int dof, int body) {
  int b = body;
  while (b > 0 && b != m.dof_bodyid[at(dof)]) b = m.body_parentid[at(b)];
  return b > 0;
}

// For an actuator on a site or a slider-crank: dofs that move both ends do not count.
VecX site_moment0(const Model& m, const RestPose& pose, int a) {
  const std::span<const double> gear = std::span(m.actuator_gear).subspan(6 * at(a), 6);
  const int ref = m.actuator_refid[at(a)];
  const SiteFrame to = site_frame0(m, pose, m.actuator_trnid[at(a)]);
  const SiteFrame from = ref < 0 ? SiteFrame{0, Vec3::Zero(), to.axes} : site_frame0(m, pose, ref);
  Vec3 force = from.axes * row3(gear, 0), torque = from.axes * row3(gear, 1), back = -torque;
  if (m.actuator_trntype[at(a)] == Transmission::slidercrank) {
    const Vec3 axis = from.axes.col(2), v = to.pos - from.pos;
    const double along = axis.dot(v), rod = m.actuator_cranklength[at(a)];
    const double square = along * along + rod * rod - v.squaredNorm();
    const double share = square > 0 ? 1 - along / std::sqrt(square) : 1;
    force = gear[0] * (share * axis + (square > 0 ? Vec3(v / std::sqrt(square)) : Vec3::Zero()));
    torque.setZero();
    back = gear[0] * share * axis.cross(v);
  }
  VecX j = VecX::Zero(m.nv);
  for (int i = 0; i < m.nv; ++i) {
    const bool second = moves(m, i, to.body), first = ref >= 0 && moves(m, i, from.body);
    if (first == second) continue;
    const Vec3 w = pose.dof_angular.col(i);
    const Vec3 v = pose.dof_linear.col(i) + w.cross(second ? to.pos : from.pos);
    j[i] = second ? force.dot(v) + torque.dot(w) : back.dot(w) - force.dot(v);
  }
  return j;
}

}  // namespace

VecX actuator_moment0(const Model& m, const RestPose& pose, int a) {
  const double* gear = &m.actuator_gear[6 * at(a)];
  const int target = m.actuator_trnid[at(a)];
  if (m.actuator_trntype[at(a)] == Transmission::tendon)
    return gear[0] * tendon_jacobian0(m, pose, target);
  if (is_on_site(m.actuator_trntype[at(a)])) return site_moment0(m, pose, a);
  VecX j = VecX::Zero(m.nv);
  if (m.actuator_trntype[at(a)] == Transmission::body) return j;  // depends on contacts
  if (m.actuator_trntype[at(a)] == Transmission::jointinparent) {
    // for a free joint the world's axes, for a ball those of its unrotated frame
    const int dof = m.jnt_dofadr[at(target)];
    const bool free = m.jnt_type[at(target)] == JointType::free;
    const std::span<const double> all(gear, 6);
    if (free) j.segment<3>(dof) = row3(all, 0);
    const Quat q = free ? pose.quat[at(m.jnt_bodyid[at(target)])] : Quat::Identity();
    j.segment<3>(free ? dof + 3 : dof) = q.conjugate() * row3(all, free ? 1 : 0);
    return j;
  }
  for (int k = 0; k < dof_count(m.jnt_type[at(target)]); ++k)
    j[m.jnt_dofadr[at(target)] + k] = gear[k];
  return j;
}

double dampratio_to_kv(const Model& m, int a, double kp, double dampratio) {
  const RestPose pose(m);
  const VecX j = actuator_moment0(m, pose, a);
  const double inverse_mass = j.dot(RestInertia(m, pose).solve(j));
  if (inverse_mass <= 0) return 0;  // zero gear: no force, no damping
  return 2 * dampratio * std::sqrt(kp / inverse_mass);
}

}  // namespace stiction::model
