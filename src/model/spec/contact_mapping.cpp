#include "model/spec/contact_mapping.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::model {
namespace {

constexpr double kMinImpedance = 1e-4, kMaxImpedance = 0.9999;  // MuJoCo's bounds of d
constexpr double kMinFriction = 1e-5;                           // and of μ in a contact

double clamp_impedance(double d) {
  return std::clamp(d, kMinImpedance, kMaxImpedance);
}

// Stiffness and damping ratio of the reference acceleration of a constraint row.
struct Reference {
  double stiffness;  // 1/s²; times d²/(1 - d) m_eff it is a force per depth
  double dampratio;
};

Reference reference(const SolverParams& params, double timeconst_min) {
  std::array<double, 2> solref = params.solref;
  // MuJoCo replaces a mixture of the two formats by the default
  if ((solref[0] > 0) != (solref[1] > 0)) solref = SolverParams{}.solref;
  const double dmax = clamp_impedance(params.solimp[1]);
  if (solref[0] <= 0) {
    const double stiffness = -solref[0], damping = -solref[1];
    const double ratio = stiffness > 0 ? damping / (2 * std::sqrt(stiffness)) : 0;
    return {stiffness / (dmax * dmax), ratio};
  }
  const double timeconst = std::max(solref[0], timeconst_min);
  const double root = dmax * timeconst * solref[1];
  return {1 / (root * root), solref[1]};
}

// Returns the root of k(r) r = weight in (0, width) by regula falsi, Illinois variant: an end that is kept
// twice counts half, so that both ends converge.
template <typename Stiffness>
double resting_depth(const Stiffness& stiffness, double width, double weight) {
  double low = 0, f_low = -weight;
  double high = width, f_high = stiffness(width) * width - weight;
  double r = width, last = 0;
  for (int i = 0, side = 0; i < 100 && std::abs(r - last) > 1e-15 * r; ++i) {
    last = r;
    r = (low * f_high - high * f_low) / (f_high - f_low);
    const double f = stiffness(r) * r - weight;
    if (f < 0) {
      low = r, f_low = f;
      if (side == -1) f_high /= 2;
      side = -1;
    } else {
      high = r, f_high = f;
      if (side == 1) f_low /= 2;
      side = 1;
    }
  }
  return r;
}

}  // namespace

double impedance(const std::array<double, 5>& solimp, double r) {
  const double dmin = clamp_impedance(solimp[0]), dmax = clamp_impedance(solimp[1]);
  const double width = std::max(0.0, solimp[2]);
  const double midpoint = clamp_impedance(solimp[3]), power = std::max(1.0, solimp[4]);
  if (width <= 1e-15) return (dmin + dmax) / 2;  // MuJoCo: no width, no ramp

  const double x = r / width;
  if (x >= 1) return dmax;
  // two power curves that meet at the midpoint with equal slope
  const double y = x <= midpoint ? midpoint * std::pow(x / midpoint, power)
                                 : 1 - (1 - midpoint) * std::pow((1 - x) / (1 - midpoint), power);
  return dmin + y * (dmax - dmin);
}

double cone_factor(int condim, double friction, bool elliptic, double impratio) {
  if (condim == 1 || elliptic) return 1;
  const double mu2 = std::pow(std::max(friction, kMinFriction), 2);
  return (condim - 1) * impratio / (mu2 * (1 + mu2));
}

double spring_restitution(double dampratio) {
  constexpr double kCritical = 1 - 1e-9;  // an average of ones is 1 only up to round-off
  if (!(dampratio < kCritical)) return 0;
  const double z = std::max(dampratio, 0.0), root = std::sqrt(1 - z * z);
  return std::exp(-z / root * (std::numbers::pi - std::atan2(2 * z * root, 1 - 2 * z * z)));
}

MappedEquality map_equality(const SolverParams& params, double timeconst_min) {
  const Reference ref = reference(params, timeconst_min);
  const double d = impedance(params.solimp, std::max(0.0, params.solimp[2]));
  const double time = ref.stiffness > 0 ? 2 * ref.dampratio / std::sqrt(ref.stiffness) : 0;
  return {d * d / (1 - d) * ref.stiffness, time};
}

MappedContact map_contact(const SolverParams& params, const MappingContext& context) {
  const auto [row_stiffness, dampratio] = reference(params, context.timeconst_min);
  const auto stiffness = [&, row = row_stiffness](double r) {
    const double d = impedance(params.solimp, r);
    return context.cone_factor * context.effective_mass * row * d * d / (1 - d);
  };

  // Beyond the width k is constant; a pair that rests at a smaller depth solves k(r) r = W on the ramp.
  const double width = std::max(0.0, params.solimp[2]);
  double k = stiffness(width);
  if (k * width > context.weight)
    k = context.weight / resting_depth(stiffness, width, context.weight);
  return {std::min(k, context.weight / kLeastDepth), kDissipation * dampratio,
          spring_restitution(dampratio)};
}

}  // namespace stiction::model
