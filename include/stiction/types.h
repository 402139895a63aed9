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

// What an actuator acts on.
enum class Transmission : std::uint8_t { joint, tendon };

// Bits of the status word of a step. An environment keeps the bits until it is reset.
enum class Status : std::uint32_t {
  ok = 0,
  bad_state = 1u << 0,    // qpos, qvel or the result is not finite: reset; shorten the timestep
  bad_control = 1u << 1,  // ctrl or applied forces not finite: replaced by zero; check the policy
  cholesky_failed = 1u << 2,  // Hessian not positive definite: check masses, armature, stiffness
  velocity_limit =
      1u << 3,  // |v| beyond kVelocityLimit: the simulation diverged; shorten the timestep
  not_converged = 1u << 4,  // iteration cap reached, best iterate kept: raise max_iterations
  stalled = 1u << 5,        // round-off floor reached above solver_tolerance: harmless; relax it
  late_contact = 1u << 6,   // a point left out of the problem closed its gap: shorten the timestep
  contact_overflow = 1u << 7,  // more points than max_contacts: raise it
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
// The step left the state untouched; the environment stays frozen until reset.
inline constexpr Status kFrozen =
    Status::bad_state | Status::cholesky_failed | Status::velocity_limit;

inline constexpr double kVelocityLimit = 1e8;  // m/s or rad/s; beyond it a step is refused
inline constexpr double kStateLimit = 1e10;    // |qpos| beyond it counts as a bad state

// Geom pairs that have a collider, and the number of contact points (slots) of each: the closed
// forms always return this many points, so a slot is a lasting name of a point. 0: no collider.
constexpr int contact_points(GeomType a, GeomType b) {
  if (a > b) return contact_points(b, a);
  using G = GeomType;
  if (a == G::plane) {
    switch (b) {
      case G::sphere: return 1;     // nearest point
      case G::capsule: return 2;    // both end spheres
      case G::ellipsoid: return 1;  // support point
      case G::cylinder: return 8;   // four rim points on each cap
      case G::box: return 8;        // the vertices
      default: return 0;
    }
  }
  if (a == G::sphere && (b == G::sphere || b == G::capsule || b == G::box)) return 1;
  if (a == G::capsule && b == G::capsule) return 1;
  if (a == G::capsule && b == G::box) return 2;
  if (a == G::box && b == G::box) return 8;  // the sides of the two facing faces
  return 0;
}

}  // namespace stiction
