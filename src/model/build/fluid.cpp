// Virtual mass and inertia of an ellipsoid that accelerates the medium around it: Lamb, Hydrodynamics, 114
// and 115, with MuJoCo's quadrature, so that models get the same digits.
#include "model/build/fluid.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

Vec3 semiaxes(const GeomSpec& g) {
  const Vec3& s = g.size;
  switch (g.type) {
    case GeomType::sphere: return {s[0], s[0], s[0]};
    case GeomType::capsule: return {s[0], s[0], s[0] + s[1]};
    case GeomType::cylinder: return {s[0], s[0], s[1]};
    default: return s;
  }
}

// κ = a b c ∫ dl / sqrt((a² + l)³ (b² + l) (c² + l)) over l > 0, by 15-point Gauss–Kronrod quadrature in
// x, l = x³/(1 − x)² in units of (a³ b c)^(2/5).
double kappa(double a, double b, double c) {
  struct Node {
    double weight, l, slope;  // slope: dl/dx
  };
  constexpr Node kNodes[] = {{0.01146766, 7.865151709349917e-08, 5.538677720489877e-05},
                             {0.03154605, 1.7347976913907274e-05, 0.002080868285293228},
                             {0.05239501, 0.0003548008144506193, 0.016514126520723166},
                             {0.07032663, 0.002846636252924549, 0.07261900344370877},
                             {0.08450236, 0.014094260903596077, 0.23985243401862602},
                             {0.09517529, 0.053063261727396636, 0.6868318249020725},
                             {0.10221647, 0.17041978741317773, 1.8551129519182894},
                             {0.10474107, 0.5, 5.0},
                             {0.10221647, 1.4036301548686991, 14.060031152313941},
                             {0.09517529, 3.9353484827022642, 43.28941239611009},
                             {0.08450236, 11.644841677041734, 156.58546376397112},
                             {0.07032663, 39.53187807410903, 747.9826085305024},
                             {0.05239501, 177.5711362220801, 5827.4042950027115},
                             {0.03154605, 1429.4772912937397, 116754.0197944512},
                             {0.01146766, 54087.416549217705, 25482945.327264845}};
  const double scale = std::pow(a * a * a * b * c, 0.4);
  double sum = 0;
  for (const Node& n : kNodes) {
    const double l = scale * n.l;
    const double x = 1 + l / (a * a), y = 1 + l / (b * b), z = 1 + l / (c * c);
    sum += scale * n.slope * n.weight / (x * std::sqrt(x * y * z));
  }
  return sum / (a * a);
}

// Returns the virtual moment of inertia about the axis perpendicular to b and c, divided by a fifth of the mass of
// the displaced medium.
double turning_factor(double b, double c, double kappa_b, double kappa_c) {
  const double d = b * b - c * c, sum = b * b + c * c, k = kappa_b - kappa_c;
  return d * d * std::abs(k) /
         std::max(std::numeric_limits<double>::epsilon(), std::abs(2 * d + sum * k));
}

}  // namespace

std::array<double, 12> fluid_coefficients(const GeomSpec& g) {
  std::array<double, 12> row{};
  if (!g.fluid_ellipsoid || g.type == GeomType::mesh || g.type == GeomType::hfield) return row;
  const Vec3 s = semiaxes(g);
  const double volume = 4.0 / 3.0 * std::numbers::pi * s[0] * s[1] * s[2];
  const Vec3 k{kappa(s[0], s[1], s[2]), kappa(s[1], s[2], s[0]), kappa(s[2], s[0], s[1])};
  row[0] = 1;
  std::copy(g.fluidcoef.begin(), g.fluidcoef.end(), row.begin() + 1);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    row[at(6 + i)] = volume * k[i] / std::max(std::numeric_limits<double>::epsilon(), 2 - k[i]);
    row[at(9 + i)] = volume * turning_factor(s[j], s[l], k[j], k[l]) / 5;
  }
  constexpr Bound kVirtual{1e30, "m³ or m⁵", "virtual mass or inertia per density"};
  require_within(*g.element, "fluidshape", row, kVirtual);
  return row;
}

}  // namespace stiction::model
