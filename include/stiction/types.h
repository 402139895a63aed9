// Enumerations, status bits and the limits shared by every part of the library.
#pragma once

#include <cstdint>

namespace stiction {

// Joint types, in MuJoCo's order. nq/nv per joint: free 7/6, ball 4/3, slide 1/1, hinge 1/1.
enum class JointType : std::uint8_t { free, ball, slide, hinge };

// Geom types, in MuJoCo's order; a pair is stored with the lower type first.
enum class GeomType : std::uint8_t {
  plane,
  hfield,
  sphere,
  capsule,
  ellipsoid,
  cylinder,
  box,
  mesh
};
inline constexpr int kGeomTypes = 8;

// What an actuator acts on. jointinparent: a ball or free joint, gear in the axes of its parent; body: adhesion at the
// contacts of a body.
enum class Transmission : std::uint8_t { joint, tendon, jointinparent, slidercrank, site, body };
constexpr bool is_on_site(Transmission t) {
  return t == Transmission::slidercrank || t == Transmission::site;
}

// How the activation of an actuator follows its control; MuJoCo's numbers. none: no activation, or a constant
// one.
enum class ActuatorDynamics : std::uint8_t { none, integrator, filter, filterexact, muscle };

// Equality constraints, in MuJoCo's order.
enum class EqualityType : std::uint8_t { connect, weld, joint, tendon };

// Elements of a tendon's path; MuJoCo's numbers. Spheres and cylinders are geoms.
enum class WrapType : std::uint8_t { joint = 1, pulley = 2, site = 3, sphere = 4, cylinder = 5 };

// What a sensor, its reference frame or an equality constraint is attached to; MuJoCo's numbers. body: the frame at the
// centre of mass along the principal axes; xbody: the body's own frame, in a contact sensor the
// subtree.
enum class ObjectType : std::uint8_t {
  none = 0,
  body = 1,
  xbody = 2,
  joint = 3,
  geom = 5,
  site = 6,
  camera = 7,
  tendon = 18,
  actuator = 19
};

// How a camera follows bodies; MuJoCo's numbers. fixed: rigidly attached to its own body.
enum class CameraMode : std::uint8_t { fixed, track, trackcom, targetbody, targetbodycom };
enum class CameraProjection : std::uint8_t { perspective, orthographic };

// Sensors that are evaluated; MuJoCo's numbers. Definitions: docs/mjcf.md.
enum class SensorType : std::uint8_t {
  touch = 0,
  accelerometer = 1,
  velocimeter = 2,
  gyro = 3,
  force = 4,
  torque = 5,
  magnetometer = 6,
  rangefinder = 7,
  camprojection = 8,
  jointpos = 9,
  jointvel = 10,
  tendonpos = 11,
  tendonvel = 12,
  actuatorpos = 13,
  actuatorvel = 14,
  actuatorfrc = 15,
  jointactuatorfrc = 16,
  tendonactuatorfrc = 17,
  ballquat = 18,
  ballangvel = 19,
  jointlimitpos = 20,
  jointlimitvel = 21,
  jointlimitfrc = 22,
  tendonlimitpos = 23,
  tendonlimitvel = 24,
  tendonlimitfrc = 25,
  framepos = 26,
  framequat = 27,
  framexaxis = 28,
  frameyaxis = 29,
  framezaxis = 30,
  framelinvel = 31,
  frameangvel = 32,
  framelinacc = 33,
  frameangacc = 34,
  subtreecom = 35,
  subtreelinvel = 36,
  subtreeangmom = 37,
  insidesite = 38,
  distance = 39,
  normal = 40,
  fromto = 41,
  contact = 42,
  e_potential = 43,
  e_kinetic = 44,
  clock = 45
};

// Returns whether the reading belongs to the last interval: accelerations, forces, contacts. All others belong
// to the new state.
constexpr bool of_interval(SensorType type) {
  using T = SensorType;
  switch (type) {
    case T::touch:
    case T::accelerometer:
    case T::force:
    case T::torque:
    case T::actuatorfrc:
    case T::jointactuatorfrc:
    case T::tendonactuatorfrc:
    case T::jointlimitfrc:
    case T::tendonlimitfrc:
    case T::framelinacc:
    case T::frameangacc:
    case T::contact: return true;
    default: return false;
  }
}

// Returns whether the cutoff bounds the readings, as in MuJoCo: not for contact sensors, points and normals.
constexpr bool has_cutoff(SensorType type) {
  using T = SensorType;
  return type != T::contact && type != T::normal && type != T::fromto;
}

// Returns whether the sensor measures the distance of two geoms, up to its cutoff.
constexpr bool of_distance(SensorType type) {
  using T = SensorType;
  return type == T::distance || type == T::normal || type == T::fromto;
}

// Bits of the status word of a step. An environment keeps the bits until it is reset.
enum class Status : std::uint32_t {
  ok = 0,
  bad_state = 1u << 0,    // qpos, qvel or the result is not finite: reset; shorten the timestep
  bad_control = 1u << 1,  // ctrl or applied forces not finite: replaced by zero; check the policy
  cholesky_failed = 1u << 2,  // Hessian has no factor or overflows: check mass, armature, stiffness
  velocity_limit =
      1u << 3,  // |v| beyond kVelocityLimit: the simulation diverged; shorten the timestep
  not_converged = 1u << 4,  // iteration cap reached, best iterate kept: raise max_iterations
  stalled =
      1u << 5,  // round-off floor above solver_tolerance; harmless without inaccurate: relax it
  late_contact = 1u << 6,  // a point left out of the problem closed its gap: shorten the timestep
  // more points of a shape touch a height field than the pair has slots: the nearest ones and the farthest
  // apart are kept; use finer shapes or a coarser field
  contact_overflow = 1u << 7,
  inaccurate =
      1u << 8,  // stalled above kStalledResidual: shorten the timestep, lower stiffnesses and
                // dissipations, or compute in float64
};

constexpr Status operator|(Status a, Status b) {
  return static_cast<Status>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr Status& operator|=(Status& a, Status b) {
  return a = a | b;
}
constexpr bool any(Status a, Status bits) {
  return (static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(bits)) != 0;
}
// Bits with which a step leaves the state untouched; the environment stays frozen until reset.
inline constexpr Status kFrozen =
    Status::bad_state | Status::cholesky_failed | Status::velocity_limit;

// Largest residual of a stalled step that is not `inaccurate`: relative to the momentum, or to the impulse
// if that is larger.
inline constexpr double kStalledResidual = 1e-2;
inline constexpr double kVelocityLimit = 1e8;  // m/s or rad/s; beyond it a step is refused
inline constexpr double kStateLimit = 1e10;    // |qpos| beyond it counts as a bad state

inline constexpr double kShortestQuat2 = 1e-20;  // |q|² from which on a quaternion has a direction
inline constexpr double kUnitQuat2 = 1e-6;       // tolerance of |q|² of a unit quaternion

// Groups of geoms, as bits; a geom_group out of this range counts as the nearest group.
inline constexpr int kGeomGroups = 6, kAllGeomGroups = (1 << kGeomGroups) - 1;

// Which geoms rays hit, as the arguments of MuJoCo's mj_ray. Whatever the options, rays pass through geoms with
// geom_alpha 0, visual meshes, and meshes and height fields whose files were missing.
struct RayOptions {
  int geomgroup = kAllGeomGroups;  // bit i: geoms of group i
  bool flg_static = true;          // also geoms that neither joints nor mocap poses move
  int bodyexclude = -1;            // excludes the geoms of this body
};

// Heights of the ground on a grid around a body, aligned with its heading: sample (i, j), number i ny + j, is at
//   p + R_z(ψ) ((i − (nx−1)/2) step + x, (j − (ny−1)/2) step + y),  p, ψ: its origin, the heading of its x axis
// The ground: geoms that neither joints nor mocap poses move, hit by a ray downwards from `above` over p; planes are
// infinite here, and height fields are solid all the way down. The default grid is that of legged_gym, rsl_rl and
// Isaac Lab for quadrupeds, 1.6 m x 1 m.
struct HeightScan {
  int nx = 17, ny = 11;
  double step = 0.1;               // m
  double x = 0, y = 0;             // of the centre of the grid, m
  double above = 20;               // m
  int geomgroup = kAllGeomGroups;  // bit i: geoms of group i

  constexpr int count() const { return nx * ny; }
};

// Slots of a shape on a height field besides those of its own points: edges and corners of the field, second faces.
inline constexpr int kHfieldMore = 4;

// Returns the number of contact points (slots) of a plane and a geom of type b, 0 if the pair has no collider. It is
// the same at every pose, so that a slot is a persistent identity of a point.
constexpr int plane_contact_points(GeomType b) {
  using G = GeomType;
  switch (b) {
    case G::sphere: return 1;     // nearest point
    case G::capsule: return 2;    // both end spheres
    case G::ellipsoid: return 1;  // support point
    case G::cylinder: return 8;   // four rim points on each cap
    case G::box: return 8;        // the vertices
    case G::mesh: return 4;       // corners of the face towards the plane
    default: return 0;
  }
}
// The same for two geoms in either order. Not recursive: ptxas reserves stack for one call only, which kernels overrun.
constexpr int contact_points(GeomType type1, GeomType type2) {
  using G = GeomType;
  const G a = type1 < type2 ? type1 : type2, b = type1 < type2 ? type2 : type1;
  if (a == G::plane) return plane_contact_points(b);
  if (a == G::hfield) return b == G::hfield ? 0 : plane_contact_points(b) + kHfieldMore;
  if (a == G::sphere && (b == G::sphere || b == G::capsule || b == G::box)) return 1;
  if (a == G::capsule && (b == G::capsule || b == G::box)) return 2;  // ends of the facing part
  if (a == G::box && b == G::box) return 8;  // the sides of the two facing faces
  if (a == G::sphere || a == G::ellipsoid || b == G::ellipsoid) return 1;  // nearest points
  if (a == G::capsule) return 2;    // of the line facing the other shape
  if (b == G::mesh) return 4;       // corners of the overlap of the facing faces
  if (b == G::cylinder) return 10;  // four rim points each, two crossings
  return 12;  // cylinder-box: four rim points, where the edges of the face enter and leave the cap
}

}  // namespace stiction
