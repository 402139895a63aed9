// Cores that are apart: the point of D nearest to the origin, by the algorithm of Gilbert, Johnson and Keerthi (GJK).
#pragma once

#include "physics/collision/convex/convex_pair.h"

STICTION_PHYSICS_BEGIN

// A simplex of points of D, and its point nearest to the origin as weights of these points.
struct Simplex {
  int count;
  Difference point[4];
  double weight[4];
};

// Squared sine of the angle between two edges of a triangle below which the triangle is a sliver.
inline constexpr double kSliver = 1e-16;

// Returns the weight of q in the point of the segment p, q that is nearest to the origin.
STICTION_FN double segment_foot(const Vec3<double>& p, const Vec3<double>& q) {
  const Vec3<double> d = q - p;
  const double length2 = norm2(d);
  return length2 > 0 ? clamp(-dot(p, d) / length2, 0.0, 1.0) : 0.0;
}

// Computes the weights of the corners in the point of the triangle p, q, r nearest to the origin: the foot on the plane
// if that is inside of the triangle, else a point of one of the edges beyond which the foot lies. For a sliver, whose
// normal is round-off, all candidates are tried: each is a point of the triangle, so the nearest of them is the answer.
STICTION_FN void triangle_foot(const Vec3<double>& p, const Vec3<double>& q, const Vec3<double>& r,
                               double* weight) {
  // the cross product of the two shorter edges is the most exact
  const Vec3<double> pq = q - p, qr = r - q, rp = p - r;
  const double x = norm2(pq), y = norm2(qr), z = norm2(rp), longest = vmax(vmax(x, y), z);
  const Vec3<double> n = x >= y && x >= z ? cross(qr, rp) : y >= z ? cross(rp, pq) : cross(pq, qr);
  const double twice = norm2(n);
  const double u = dot(n, cross(q, r)), v = dot(n, cross(r, p)), w = dot(n, cross(p, q));
  const double sum = u + v + w;
  const bool sliver = !(twice > kSliver * (longest * longest));
  const bool inside = u >= 0 && v >= 0 && w >= 0 && twice > 0;
  double least = std::numeric_limits<double>::infinity();
  if (inside) {
    weight[0] = u / sum, weight[1] = v / sum, weight[2] = w / sum;
    if (!sliver) return;
    least = norm2(weight[0] * p + (weight[1] * q + weight[2] * r));
  }
  const auto consider = [&](double a, double b, double c) {
    const double d = norm2(a * p + (b * q + c * r));
    if (d < least) least = d, weight[0] = a, weight[1] = b, weight[2] = c;
  };
  // the foot is beyond an edge, or within round-off of it
  const double round = 1e-9 * twice;
  if (sliver || w <= round) {
    const double a = segment_foot(p, q);
    consider(1 - a, a, 0);
  }
  if (sliver || u <= round) {
    const double b = segment_foot(q, r);
    consider(0, 1 - b, b);
  }
  if (sliver || v <= round) {
    const double c = segment_foot(r, p);
    consider(c, 0, 1 - c);
  }
}

// Removes the points without weight.
STICTION_FN void drop_idle(Simplex& s) {
  int count = 0;
  for (int i = 0; i < s.count; ++i) {
    if (!(s.weight[i] > 0)) continue;
    s.point[count] = s.point[i], s.weight[count] = s.weight[i];
    ++count;
  }
  s.count = count;
}

// A face faces away from the origin if the origin is behind it by more than this fraction of a corner's distance.
inline constexpr double kLooksAway = 1e-10;

// Reduces the simplex to the face that has its point nearest to the origin; returns false if it contains the origin.
STICTION_FN bool reduce(Simplex& s) {
  const Difference* p = s.point;
  if (s.count == 1) {
    s.weight[0] = 1;
  } else if (s.count == 2) {
    s.weight[1] = segment_foot(p[0].w, p[1].w);
    s.weight[0] = 1 - s.weight[1];
  } else if (s.count == 3) {
    triangle_foot(p[0].w, p[1].w, p[2].w, s.weight);
  } else {
    // the nearest of the faces that face the origin, or may do so within round-off
    double least = std::numeric_limits<double>::infinity(), best[4] = {0, 0, 0, 0};
    bool inside = true;
    for (int out = 0; out < 4; ++out) {
      const int i = out == 0 ? 1 : 0, j = out <= 1 ? 2 : 1, k = out == 3 ? 2 : 3;
      const Vec3<double> n = cross(p[j].w - p[i].w, p[k].w - p[i].w);
      const double opposite = dot(n, p[out].w - p[i].w), origin = -dot(n, p[i].w);
      inside = inside && (opposite > 0 ? origin > 0 : opposite < 0 && origin < 0);
      const double turned = opposite > 0 ? origin : -origin;
      if (turned > kLooksAway * norm(n) * norm(p[i].w) && opposite != 0) continue;
      double weight[3];
      triangle_foot(p[i].w, p[j].w, p[k].w, weight);
      const double d = norm2(weight[0] * p[i].w + weight[1] * p[j].w + weight[2] * p[k].w);
      if (d >= least) continue;
      least = d;
      best[i] = weight[0], best[j] = weight[1], best[k] = weight[2], best[out] = 0;
    }
    if (inside) return false;
    for (int i = 0; i < 4; ++i) s.weight[i] = best[i];
  }
  drop_idle(s);
  return true;
}

STICTION_FN Vec3<double> nearest_of(const Simplex& s) {
  Vec3<double> v = zero3<double>();
  for (int i = 0; i < s.count; ++i) v = v + s.weight[i] * s.point[i].w;
  return v;
}

// Finds the nearest points of cores that are apart; distance 0: they are not apart. Stops once they are farther than
// `reach` along a normal: the distance returned is then beyond `reach`, too, and the points are arbitrary.
template <class L>
STICTION_RARE ConvexDistance nearest_points_apart(const ConvexPair<L>& pair, double reach) {
  Simplex s;
  s.count = 1;
  Vec3<double> v = pair.between;
  if (norm2(v) == 0) v = unit3<double>(0);
  s.point[0] = pair.support(-v);
  s.weight[0] = 1;
  v = s.point[0].w;
  ConvexDistance best{unit3<double>(0), 0, zero3<double>(), zero3<double>()};
  double least = 0;
  for (int round = 0; round < kMostSupports; ++round) {
    const double length = norm(v);
    if (length <= kTouching * pair.extent) break;
    const Vec3<double> n = (1 / length) * v;
    const Difference next = pair.support(-n);
    const double along = dot(n, next.w);
    const bool farther = along > best.distance;
    if (farther) best.distance = along, best.normal = n;
    // the points whose difference is nearest to s n: v may shorten further after the best normal is found
    const double off = norm(v - best.distance * best.normal);
    if (farther || off < least) {
      least = off;
      best.point_a = best.point_b = zero3<double>();
      for (int i = 0; i < s.count; ++i) {
        best.point_a = best.point_a + s.weight[i] * s.point[i].a;
        best.point_b = best.point_b + s.weight[i] * s.point[i].b;
      }
    }
    if (length - along <= kSettled * pair.extent || along > reach) break;
    bool again = false;
    for (int i = 0; i < s.count; ++i) again = again || norm2(next.w - s.point[i].w) == 0;
    if (again) break;
    s.point[s.count++] = next;
    if (!reduce(s)) {
      if (best.distance > 0) break;  // round-off: an axis separates them
      return {n, 0, zero3<double>(), zero3<double>()};
    }
    const Vec3<double> w = nearest_of(s);
    if (norm2(w) >= norm2(v)) break;  // round-off
    v = w;
  }
  return best.distance > kTouching * pair.extent
             ? best
             : ConvexDistance{best.normal, 0, zero3<double>(), zero3<double>()};
}

STICTION_PHYSICS_END
