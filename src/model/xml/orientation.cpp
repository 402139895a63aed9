#include "model/xml/orientation.h"

#include <cmath>
#include <numbers>

namespace stiction::model {
namespace {

constexpr double kTiny = 1e-14;  // below this length an axis has no direction

Vec3 unit(const Element& e, std::string_view attribute, const Vec3& v) {
  const double n = v.norm();
  if (!(n > kTiny)) fail(e, attribute, "a vector of length zero has no direction");
  return v / n;
}

Quat from_quat(Element& e) {
  std::array<double, 4> v{};
  exactly(e, "quat", v);
  const Quat q(v[0], v[1], v[2], v[3]);
  const double n = q.norm();
  if (!(n > kTiny))
    fail(e, "quat", "a quaternion of length zero is no rotation; identity is 1 0 0 0");
  if (std::abs(n - 1) <= kTiny) return q;
  if (std::abs(n - 1) > 1e-3) {
    mark(e, "quat", Use::mapped, false, "normalised: its length was " + shown(n));
  }
  return Quat(q.coeffs() / n);
}

Quat from_axisangle(const AngleSettings& s, Element& e) {
  std::array<double, 4> v{};
  exactly(e, "axisangle", v);
  const Vec3 axis = unit(e, "axisangle", {v[0], v[1], v[2]});
  const double half = 0.5 * s.radians(v[3]);
  const Vec3 im = std::sin(half) * axis;
  return {std::cos(half), im.x(), im.y(), im.z()};
}

Quat from_euler(const AngleSettings& s, Element& e) {
  Vec3 angles;
  exactly(e, "euler", angles);
  Quat q = Quat::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = s.eulerseq[static_cast<std::size_t>(i)];
    const bool fixed = letter < 'a';
    const int axis = letter - (fixed ? 'X' : 'x');
    const double half = 0.5 * s.radians(angles[i]);
    Quat turn(std::cos(half), 0, 0, 0);
    turn.vec()[axis] = std::sin(half);
    q = fixed ? turn * q : q * turn;
  }
  return q.normalized();
}

Quat from_xyaxes(Element& e) {
  std::array<double, 6> v{};
  exactly(e, "xyaxes", v);
  const Vec3 x = unit(e, "xyaxes", {v[0], v[1], v[2]});
  const Vec3 given_y(v[3], v[4], v[5]);
  const Vec3 y = unit(e, "xyaxes", given_y - x.dot(given_y) * x);
  Mat3 r;
  r << x, y, x.cross(y);
  return Quat(r).normalized();
}

}  // namespace

double AngleSettings::radians(double angle) const {
  return degree ? angle * (std::numbers::pi / 180) : angle;
}

Quat rotation_from_z(const Vec3& v) {
  const Vec3 d = v.normalized();
  const Vec3 axis = Vec3::UnitZ().cross(d);
  const double s = axis.norm();
  const double half = 0.5 * std::atan2(s, d.z());
  const Vec3 u = s < 1e-10 ? Vec3(Vec3::UnitX()) : Vec3(axis / s);
  const Vec3 im = std::sin(half) * u;
  return {std::cos(half), im.x(), im.y(), im.z()};
}

bool read_orientation(const AngleSettings& settings, Element& e, Quat& q) {
  std::string_view given;
  for (const char* a : {"quat", "axisangle", "euler", "xyaxes", "zaxis"}) {
    if (!e.has(a)) continue;
    if (!given.empty()) {
      fail(e, a, "an orientation is already given by " + std::string(given) + "; keep one of them");
    }
    given = a;
  }
  if (given.empty()) return false;
  if (given == "quat") q = from_quat(e);
  if (given == "axisangle") q = from_axisangle(settings, e);
  if (given == "euler") q = from_euler(settings, e);
  if (given == "xyaxes") q = from_xyaxes(e);
  if (given == "zaxis") {
    Vec3 z;
    exactly(e, "zaxis", z);
    q = rotation_from_z(unit(e, "zaxis", z));
  }
  return true;
}

void check_eulerseq(const Element& e, const std::string& sequence) {
  if (sequence.size() != 3 || sequence.find_first_not_of("xyzXYZ") != std::string::npos) {
    fail(e, "eulerseq", "expected three letters of x y z X Y Z, such as xyz");
  }
}

}  // namespace stiction::model
