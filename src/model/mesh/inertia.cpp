#include "model/mesh/inertia.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>
#include <utility>

#include "stiction/error.h"

namespace stiction::model {
namespace {

constexpr double kPi = std::numbers::pi;

// Volume (or surface area) and mean squares <x²>, <y²>, <z²> of a body that is symmetric
// about its three planes: inertia = mass (tr(S) 1 - S).
struct Moments {
  double measure;
  Vec3 squares;
};

Moments solid(GeomType type, const Vec3& size) {
  const double a = size[0], b = size[1], c = size[2];
  switch (type) {
    case GeomType::sphere:  // V = 4/3 π r³, <x²> = r²/5
      return {4.0 / 3 * kPi * a * a * a, Vec3::Constant(a * a / 5)};
    case GeomType::ellipsoid:  // V = 4/3 π abc, <x²> = a²/5
      return {4.0 / 3 * kPi * a * b * c, size.cwiseAbs2() / 5};
    case GeomType::box:  // V = 8 abc, <x²> = a²/3
      return {8 * a * b * c, size.cwiseAbs2() / 3};
    case GeomType::cylinder:  // V = 2π r² h, <x²> = r²/4, <z²> = h²/3, h the half length
      return {2 * kPi * a * a * b, {a * a / 4, a * a / 4, b * b / 3}};
    case GeomType::capsule: {
      const double tube = 2 * kPi * a * a * b;         // V of the cylinder
      const double balls = 4.0 / 3 * kPi * a * a * a;  // V of the two hemispheres
      const double x = (tube * a * a / 4 + balls * a * a / 5);
      // hemisphere: its centre 3r/8 beyond h, <(z-h)²> = r²/5
      const double z = tube * b * b / 3 + balls * (b * b + 2 * b * 3 * a / 8 + a * a / 5);
      return {tube + balls, Vec3(x, x, z) / (tube + balls)};
    }
    default: return {0, Vec3::Zero()};
  }
}

Moments shell(GeomType type, const Vec3& size) {
  const double a = size[0], b = size[1], c = size[2];
  switch (type) {
    case GeomType::sphere:  // S = 4π r², <x²> = r²/3
      return {4 * kPi * a * a, Vec3::Constant(a * a / 3)};
    case GeomType::ellipsoid: {
      // The area is Thomsen's, p = 1.6075 (within 1.1 %), and the mass is that of the layer between
      // (a, b, c) and (a+ε, b+ε, c+ε), ε -> 0, as in MuJoCo: a uniform surface has no closed form.
      const double p = 1.6075;
      const double mean = (std::pow(a * b, p) + std::pow(b * c, p) + std::pow(c * a, p)) / 3;
      // d(abc a²/5) / d(abc) = (a² + 2 a abc/(ab + bc + ca)) / 5
      const double layer = 2 * a * b * c / (a * b + b * c + c * a);
      return {4 * kPi * std::pow(mean, 1 / p), (size.cwiseAbs2() + layer * size) / 5};
    }
    case GeomType::
        box: {  // three pairs of faces; the pair at ±a has S = 8bc, <x²> = a², <y²> = b²/3
      const Vec3 faces(8 * b * c, 8 * c * a, 8 * a * b);
      const Vec3 share = faces / faces.sum();
      const Vec3 factor = share + (Vec3::Ones() - share) / 3;
      return {faces.sum(), size.cwiseAbs2().cwiseProduct(factor)};
    }
    case GeomType::
        cylinder: {  // tube S = 4π r h, <x²> = r²/2, <z²> = h²/3; caps S = 2π r², <x²> = r²/4
      const double tube = 4 * kPi * a * b, caps = 2 * kPi * a * a;
      const double x = tube * a * a / 2 + caps * a * a / 4;
      const double z = tube * b * b / 3 + caps * b * b;
      return {tube + caps, Vec3(x, x, z) / (tube + caps)};
    }
    case GeomType::
        capsule: {  // tube as above; hemispheres S = 4π r², centre r/2 beyond h, <x²> = r²/3
      const double tube = 4 * kPi * a * b, caps = 4 * kPi * a * a;
      const double x = tube * a * a / 2 + caps * a * a / 3;
      const double z = tube * b * b / 3 + caps * (b * b + b * a + a * a / 3);
      return {tube + caps, Vec3(x, x, z) / (tube + caps)};
    }
    default: return {0, Vec3::Zero()};
  }
}

// Jacobi rotation in the plane of the largest off-diagonal entry of D = Rᵀ inertia R.
// Returns false if D is diagonal up to round-off.
bool rotate_to_diagonal(const Mat3& d, Quat& axes) {
  constexpr int kRow[3] = {1, 0, 0}, kColumn[3] = {2, 2, 1};  // the plane normal to axis k
  int k = 2;
  for (const int other : {1, 0})
    if (std::abs(d(kRow[other], kColumn[other])) > std::abs(d(kRow[k], kColumn[k]))) k = other;
  const int i = kRow[k], j = kColumn[k];
  if (std::abs(d(i, j)) <= 1e-16 * d.diagonal().cwiseAbs().maxCoeff()) return false;

  // tan of the smaller of the two angles that make D(i, j) zero
  const double tau = (d(j, j) - d(i, i)) / (2 * d(i, j));
  const double tangent = std::copysign(1.0, tau) / (std::abs(tau) + std::sqrt(1 + tau * tau));
  // D'(i,j) = 0 rotates axis i towards -j by the angle; about +k for (1,2) and (0,1), -k for (0,2)
  const double angle = (k == 1 ? 1 : -1) * std::atan(tangent);
  axes = axes * exp_quat(angle * Vec3::Unit(k));
  axes.normalize();
  return true;
}

}  // namespace

MassProperties primitive_mass(GeomType type, const Vec3& size, std::optional<double> mass,
                              double density, bool is_shell) {
  if (type == GeomType::mesh)
    throw ModelError("inertia of a mesh geom: not computed; give the body an <inertial>");
  const Moments moments = is_shell ? shell(type, size) : solid(type, size);
  if (moments.measure <= 0) return {};
  const double m = mass.value_or(density * moments.measure);
  const Vec3 diagonal = m * (Vec3::Constant(moments.squares.sum()) - moments.squares);
  return {m, Vec3::Zero(), diagonal.asDiagonal()};
}

MassProperties placed(const MassProperties& part, const Vec3& pos, const Quat& quat) {
  const Mat3 r = quat.toRotationMatrix();
  const Mat3 inertia = r * part.inertia * r.transpose();
  return {part.mass, pos + r * part.com, 0.5 * (inertia + inertia.transpose())};
}

MassProperties sum(std::span<const MassProperties> parts) {
  MassProperties total;
  for (const MassProperties& part : parts) {
    total.mass += part.mass;
    total.com += part.mass * part.com;
  }
  if (total.mass <= 0) return {};
  total.com /= total.mass;

  // parallel axis theorem: I = Σ I_i + m_i (|r|² 1 - r rᵀ)
  for (const MassProperties& part : parts) {
    const Vec3 r = part.com - total.com;
    total.inertia +=
        part.inertia + part.mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  return total;
}

Principal principal_axes(const Mat3& inertia) {
  Quat axes = Quat::Identity();
  Mat3 d = inertia;
  for (int sweep = 0; sweep < 100 && rotate_to_diagonal(d, axes); ++sweep) {
    const Mat3 r = axes.toRotationMatrix();
    d = r.transpose() * inertia * r;
  }

  // Sort in descending order by quarter turns about the third axis, which keep the frame right-handed.
  Vec3 moments = d.diagonal();
  const double tie = 1e-14 * moments.cwiseAbs().maxCoeff();
  for (const int i : {0, 1, 0}) {
    if (moments[i] + tie >= moments[i + 1]) continue;
    std::swap(moments[i], moments[i + 1]);
    axes = axes * Quat(std::sqrt(0.5), i == 1 ? std::sqrt(0.5) : 0, 0, i == 0 ? std::sqrt(0.5) : 0);
  }
  return {moments, axes.normalized()};
}

std::string inertia_problem(const Vec3& moments) {
  std::ostringstream text;
  text << "principal moments (" << moments[0] << ", " << moments[1] << ", " << moments[2] << ") ";
  if (!moments.allFinite()) return text.str() + "must be finite";
  if (moments.minCoeff() <= 0) return text.str() + "must be positive";
  // the margin allows for round-off: a flat body, 0.001 + 0.009 >= 0.01
  const double largest = moments.maxCoeff();
  if (moments.sum() - largest < largest * (1 - 1e-12))
    return text.str() +
           "violate A + B >= C: no rigid body has them; use balanceinertia or correct "
           "the inertia";
  return "";
}

}  // namespace stiction::model
