// Cylinders, ellipsoids and meshes against other convex shapes. geometry.h defines the points.
#include "reference/collision/geometry_flat.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// The data from which the points of a pair are computed: shape 1 is below, shape 2 above the normal n.
struct Pair {
  const Shape &first, &second;
  SignedDistance nearest;
  std::span<Witness> out;

  const Vec3& n() const { return nearest.normal; }
  Real least() const { return nearest.distance; }
  // Stores a point on the surface of one shape as a witness with the given distance.
  void put(std::size_t k, bool on_second, const Vec3& p, Real distance) const {
    const Vec3 step = distance * n();
    out[k] = on_second ? Witness{p - step, p, n(), distance} : Witness{p, p + step, n(), distance};
  }
};

void rim_points(const Pair& pair, const Flat& cap, const Flat& other, std::size_t first,
                bool second) {
  for (int k = 0; k < 4; ++k) {
    const Vec3 p = cap.rim(k);
    pair.put(first + at(k), second, p, std::max(other.height(p), pair.least()) + other.away(p));
  }
}

void edge_points(const Pair& pair, const Flat& cap, const Flat& face) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t enters = 4 + at(i), leaves = 8 + at(i);
    const Vec3 p = face.vertex(i), u = face.vertex((i + 1) % 4) - p;
    const auto part = cap.over(p, u, 0, 1);
    if (!part) {
      const Vec2 q = cap.flattened(p), d = cap.flattened(p + u) - q;
      const Real t = d.norm() > 0 ? std::clamp<Real>(-q.dot(d) / d.squaredNorm(), 0, 1) : Real(0);
      const Vec3 nearest = p + t * u;
      const Real distance = std::max<Real>(0, cap.height(nearest)) + cap.away(nearest);
      pair.put(enters, true, nearest, distance);
      pair.put(leaves, true, nearest, distance);
      continue;
    }
    const auto put = [&](std::size_t k, Real t, Real room) {
      const Real height = cap.height(p + t * u);
      pair.put(k, true, p + t * u, std::max({height, -room * u.norm(), pair.least()}));
    };
    put(enters, part->first, part->second - part->first);
    put(leaves, part->second, std::min(part->second - part->first, 1 - part->second));
  }
}

void rim_crossings(const Pair& pair, const Flat& a, const Flat& b) {
  const Vec2 to = a.flattened(b.centre);
  const Real d = to.norm(), ra = a.half[0], rb = b.half[0];
  const bool beside = d > 1e-9 * (ra + rb);
  const Vec3 x = beside ? Vec3((to[0] * a.x + to[1] * a.y) / d) : a.x;
  const Real along = beside ? (d * d + ra * ra - rb * rb) / (2 * d) : ra;
  const Real across = sqrt(std::max<Real>(0, ra * ra - along * along));
  for (int k = 0; k < 2; ++k) {
    const Vec3 p =
        a.centre + std::clamp(along, -ra, ra) * x + (k == 0 ? across : -across) * a.normal.cross(x);
    const Real least = beside && across > 0 ? std::max(-across, pair.least()) : Real(0);
    pair.put(8 + at(k), false, p, std::max(b.height(p), least) + b.away(p));
  }
}

// The line of a capsule, or of a cylinder's side, that faces along m.
struct Line {
  Segment segment;
  Real touch;
  Line(const Shape& s, const Vec3& m, const Vec3& point)
      : segment{s.pos, s.rot.col(2), s.size[1]}, touch(segment.nearest(point)) {
    const Vec3 z = s.rot.col(2);
    const Vec3 beside = s.type == GeomType::cylinder ? (m - z.dot(m) * z).normalized() : m;
    segment.centre += s.size[0] * beside;
  }
};

void line_points(const Pair& pair, const Line& line, const Flat& flat, bool second) {
  const auto& s = line.segment;
  const auto part =
      flat.over(s.centre, s.dir, -s.half, s.half).value_or(std::pair(line.touch, line.touch));
  const Real low = std::min(part.first, line.touch), high = std::max(part.second, line.touch);
  const auto height = [&](Real t) { return std::max(flat.height(s.at(t)), pair.least()); };
  const bool low_is_far = height(low) > height(high);
  const Real room = low - high;
  pair.put(0, second, s.at(low), low_is_far ? std::max(height(low), room) : height(low));
  pair.put(1, second, s.at(high), low_is_far ? height(high) : std::max(height(high), room));
}

// Two lines of round shapes: as capsules around the axes.
void crossing_points(const Pair& pair, const Line& line) {
  const auto& s = line.segment;
  const Vec3 axis = pair.second.rot.col(2);
  const Real cosine = axis.dot(s.dir), offset = axis.dot(s.centre - pair.second.pos);
  const Real reach = pair.second.size[1];
  Real low = -s.half, high = s.half;
  if (abs(cosine) > 1e-9) {
    const Real side = copysign(reach, cosine);
    low = std::max(low, (-side - offset) / cosine), high = std::min(high, (side - offset) / cosine);
  }
  if (low > high) low = high = line.touch;
  low = std::min(low, line.touch), high = std::max(high, line.touch);

  const Real radii = pair.first.size[0] + pair.second.size[0];
  const Real lean = pair.n().dot(s.dir), sine = s.dir.cross(axis).norm();
  const auto distance = [&](Real t) {
    const Real along = t - line.touch;
    return std::max(hypot(pair.least() + radii - along * lean, along * sine) - radii, pair.least());
  };
  Real d_low = distance(low), d_high = distance(high);
  const Real tie = kTie * (radii + s.half);
  const bool low_is_far = d_low > d_high + tie;
  Real& near = low_is_far ? d_high : d_low;
  if (near > pair.least() + tie) near = pair.least(), (low_is_far ? high : low) = line.touch;
  Real& far = low_is_far ? d_low : d_high;
  far = std::max(far, low - high);
  pair.put(0, false, s.at(low), d_low);
  pair.put(1, false, s.at(high), d_high);
}

Real extent_of(const Shape& s) {
  const Real sum = s.size[0] + s.size[1];
  return has_faces(s) ? sum + s.size[2] : sum;
}

// If no point is as near as the shapes are, the nearest is replaced by the touching point.
void settle_nearest(const Pair& pair, const Witness& touch, std::span<Witness> points) {
  const auto nearest =
      std::min_element(points.begin(), points.end(),
                       [](const auto& x, const auto& y) { return x.distance < y.distance; });
  if (nearest->distance > pair.least() + 1e-9 * (extent_of(pair.first) + extent_of(pair.second)))
    *nearest = touch;
}

}  // namespace

void collide_convex(const Shape& a, const Shape& b, std::span<Witness> out) {
  const Pair pair{a, b, nearest_convex(a, b), out};
  const Vec3 middle = 0.5 * (pair.nearest.point1 + pair.nearest.point2);
  const Vec3 half_gap = 0.5 * pair.least() * pair.n();
  const Witness touch{middle - half_gap, middle + half_gap, pair.n(), pair.least()};
  if (out.size() == 1) {
    out[0] = touch;
    return;
  }

  const bool flat1 = has_faces(a) || shows_cap(a, pair.n());
  const bool flat2 = has_faces(b) || shows_cap(b, pair.n());
  std::size_t used = 2;
  if (flat1 && flat2) {
    const Flat first(a, pair.n()), second(b, -pair.n());
    if (b.type == GeomType::mesh) {
      if (!points_on_flat(first, b, touch, out))
        overlap_points(first, second, extent_of(a) + extent_of(b), touch, out);
      return;
    }
    rim_points(pair, first, second, 0, false);
    if (second.disc) {
      rim_points(pair, second, first, 4, true);
      rim_crossings(pair, first, second);
    } else {
      edge_points(pair, first, second);
    }
    used = out.size();
  } else if (flat2) {
    line_points(pair, Line(a, pair.n(), pair.nearest.point1), Flat(b, -pair.n()), false);
  } else if (flat1) {
    line_points(pair, Line(b, -pair.n(), pair.nearest.point2), Flat(a, pair.n()), true);
  } else {
    crossing_points(pair, Line(a, pair.n(), pair.nearest.point1));
  }
  for (std::size_t k = used; k < out.size(); ++k)
    pair.put(k, false, out[0].point1, std::max<Real>(0, out[0].distance) + extent_of(a));
  settle_nearest(pair, touch, out.first(used));
}

}  // namespace stiction::reference::inline STICTION_REAL
