// Bounds on the numbers of a file. Far above any robot, and chosen so that everything that the model
// compiler and a step compute from them is finite in single precision (F = 3.4e38):
//
//   distance from the root     400 nested bodies, three lengths each:  r <= 1.2e9 m
//   composite inertia          200 000 bodies, m r² + I:               3e35 kg m² < F
//   A = M + δt D + δt² K       1e3 s · 1e18, 1e6 s² · 1e18:            1e24 beside M
//   servo, seen by its joint   kp (gear coef)², kv (gear coef)²:       bounded as a whole
//   weight                     2e17 kg · 1e6 m/s²:                     2e23 N
//   contact stiffness          weight / least depth 1e-7 m:            2e30 N/m
//   inverse inertia            1 / 1e-15 kg                            1e15; ill-conditioned M: checked
//
// docs/mjcf.md has the table for users.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

struct Bound {
  double most;  // on the absolute value
  const char* unit;
  const char* quantity;
};
inline constexpr Bound kLengthBound{1e6, "m", "length"};
inline constexpr Bound kPixelBound{1e6, "pixels", "size of an image"};
// Joint positions: |qpos| beyond this is a bad state (types.h), so ranges and references are no larger.
inline constexpr Bound kPositionBound{1e10, "m or rad", "joint position"};
inline constexpr Bound kVelocityBound{1e8, "m/s or rad/s", "joint velocity"};
inline constexpr Bound kMassBound{1e12, "kg", "mass"};
inline constexpr Bound kDensityBound{1e12, "kg/m³", "density"};
inline constexpr Bound kMediumBound{1e6, "kg/m³ or Pa s", "density or viscosity of a medium"};
inline constexpr Bound kWindBound{1e6, "m/s", "velocity of a medium"};
inline constexpr Bound kInertiaBound{1e24, "kg m²", "moment of inertia"};
inline constexpr Bound kArmatureBound{1e12, "kg or kg m²", "armature"};
inline constexpr Bound kStiffnessBound{1e18, "N/m or N m/rad", "stiffness"};
inline constexpr Bound kDampingBound{1e18, "N s/m or N m s/rad", "damping"};
inline constexpr Bound kDissipationBound{1e6, "s/m", "dissipation"};
inline constexpr Bound kForceBound{1e30, "N or N m", "force"};
inline constexpr Bound kControlBound{1e30, "", "control"};
inline constexpr Bound kGainBound{1e18, "", "gain"};
inline constexpr Bound kGearBound{1e6, "", "transmission ratio"};
inline constexpr Bound kFrictionBound{1e6, "", "coefficient of friction"};
inline constexpr Bound kRatioBound{1e6, "", "ratio"};
inline constexpr Bound kGravityBound{1e6, "m/s²", "gravity"};
inline constexpr Bound kTimeBound{1e10, "s", "time"};
inline constexpr Bound kTimestepBound{1e3, "s", "time step"};
inline constexpr double kLeastTimestep = 1e-9;  // s; 1/δt² = 1e18
inline constexpr double kLeastTime = 1e-9;      // s; time constants of springs and contacts
inline constexpr double kMostSolref = 1e4;      // s, and for damping ratios
inline constexpr double kLeastSize = 1e-9;      // m; radii and half lengths, 1/r² = 1e18

// Throws unless |value| <= bound.most; `attribute`: where the value comes from.
void require_within(const Element& e, std::string_view attribute, double value, const Bound& bound);
void require_within(const Element& e, std::string_view attribute, std::span<const double> values,
                    const Bound& bound);
// 0 <= value <= bound.most
void require_nonnegative(const Element& e, std::string_view attribute, double value,
                         const Bound& bound);

// Read with a bound; return true if the attribute is given.
bool read_within(Element& e, std::string_view attribute, const Bound& bound, double& value);
bool read_nonnegative(Element& e, std::string_view attribute, const Bound& bound, double& value);
bool exactly(Element& e, std::string_view attribute, const Bound& bound, std::span<double> out);
bool exactly(Element& e, std::string_view attribute, const Bound& bound, Vec3& out);

}  // namespace stiction::model
