// From geometry to contact constraints: candidate points, activation, and the constants of the step.
#pragma once

#include <span>
#include <vector>

#include "reference/collision/geometry.h"
#include "reference/solver/problem.h"
#include "reference/tree/delassus.h"
#include "reference/tree/kinematics.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// A candidate contact point, in its frame at the start of the step.
struct ContactPoint {
  int geom1 = 0, geom2 = 0, pair = 0, slot = 0;
  Vec3 pos = Vec3::Zero();
  Mat3 frame = Mat3::Zero();              // columns t1, t2, n
  Real gap = 0;                           // φ0
  Vec3 v_c0 = Vec3::Zero();               // velocity at the start, in the frame
  Vec2 friction = Vec2::Zero();           // μ1, μ2 along t1 and t2
  double stiffness = 0, dissipation = 0;  // k, d of the pair
  double restitution = 0;                 // e of the pair
  double rebound = 0;                     // of the slot: speed of impact, see rebound.h
  Real w = 0;                             // Delassus scale
  Vec3 anchor = Vec3::Zero();             // z, world axes, after the spin of the bodies
  Vec3 turned = Vec3::Zero();             // the same for the angles about and across the normal
  Real w_turning = 0;                     // Delassus scale of the angular velocity
};

// Returns the placed shape of geom g.
Shape shape(const Model& m, const Kinematics& kin, int g);

// Returns every point of every pair. `more_friction`: added to the coefficients of each pair; empty: zero.
std::vector<ContactPoint> candidate_points(const Model& m, const Options& o, const Kinematics& kin,
                                           std::span<const Real> more_friction = {});

// Returns the deepest overlapping point of each pair.
std::vector<ContactPoint> penetrating_deepest(const std::vector<ContactPoint>& candidates);

// J of a point: rows t1, t2, n of the velocity of geom2's body relative to geom1's.
Mat3X contact_jacobian(const Model& m, const Kinematics& kin, const ContactPoint& p);

// The same for the angular velocity.
Mat3X turning_jacobian(const Model& m, const Kinematics& kin, const ContactPoint& p);

// Condition for an impulse of the law of a point: φ0 + horizon z(v_c) < distance.
struct Reach {
  double horizon;       // δt; sap: δt + τ
  Real mu;              // z = v_n − μ |v_t|; lagged: 0, since it has no gliding
  double distance = 0;  // barriers act before the gap is closed

  Real opening(const Vec3& v_c) const { return v_c.z() - mu * v_c.head<2>().norm(); }
};
Reach reach(const Model& m, const Options& o, double dt, const ContactPoint& p);

// Returns whether φ0 <= distance + 2 horizon max(0, −z(v_c)..., rebound) + 8 |g| δt² for the velocities it may have:
// an impulse is possible in this step. A pair that met in the previous step separates in this one even at a zero gap.
bool may_act(const Model& m, double dt, const Reach& reach, const Real& gap,
             std::initializer_list<Vec3> v_c, double rebound = 0);

// s: where the overlap is deeper than kDeepLoads times the weight would cause, the normal law is that of v_n − s, and
// the point separates at max(û, 1/d), at most kDeepSpeed/d; û: speed of a critically damped return of the excess depth,
// T = kDeepSpeed/(d |g|). docs/method.md, 2.
inline constexpr double kDeepLoads = 16, kDeepSpeed = 4;
Real deep_shift(const Model& m, double dt, const ContactPoint& p, const Real& v_n0);

// Returns the law of a point with the start velocity v0 in its frame.
ContactLaw contact_law(const Model& m, const Options& o, double dt, const Vec3& v_c0,
                       const ContactPoint& p);

// Returns the torsional and rolling friction of a point, in addition to its law.
CoupleLaw couple_law(const Model& m, const Options& o, double dt, const ContactLaw& law,
                     const ContactPoint& p);

// Sets the friction bound of a law and what depends on it: n0, ε_s = max(v_s, σ w μ n0).
void set_bound(const Options& o, const Real& n0, const Real& w, ContactLaw& law);
void set_bound(const Options& o, const Real& n0, const ContactPoint& p, CoupleLaw& law);

// Anchored stiction: rotates z by δt times the mean normal spin, in the tangent plane, with its length kept.
Vec3 spin_anchor(const Vec3& z, const Vec3& normal, Real angle);
// z ← z + δt v_t, shortened to at most c ε_s τ; zero where n0 = 0.
Vec3 advance_anchor(const Vec3& z, const Vec3& slip, double dt, Real n0, Real eps_s);
// Returns the next angles, each limited to the reach of its own law.
Vec3 advance_turned(const ContactPoint& p, const CoupleLaw& law, const Vec3& omega, double dt);
inline constexpr double kAnchorReach = 10;  // c

}  // namespace stiction::reference::inline STICTION_REAL
