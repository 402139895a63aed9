// Where a ray p + x d, x >= 0, first hits a height field: its surface, the walls around it or the floor below; in the
// of the field, scalar, in double.
//
// The ray proceeds from cell to cell. φ(x) = z − elevation over (x, y) is linear on either side of the diagonal and
// continuous; each segment starts from the value at the end of the preceding one, so no ray slips between triangles.
#pragma once

#include "physics/collision/hfield.h"
#include "physics/rays/stretch.h"

STICTION_PHYSICS_BEGIN

// A cell that the ray passes over: its corners.
struct FieldCell {
  double a, right, up, b;

  STICTION_FN double elevation(double u, double v) const {
    return cell_elevation(a, u >= v ? right : up, b, u, v);
  }
};
STICTION_FN FieldCell field_cell(const Hfield& h, int i, int j) {
  const double* const row = h.data + j * h.ncol + i;
  return {h.scale * row[0], h.scale * row[1], h.scale * row[h.ncol], h.scale * row[h.ncol + 1]};
}

// The box around the field, and the faces through which a line enters and leaves it.
struct FieldBox {
  Stretch<double> inside;
  int enters, leaves;  // axis of that face
};
STICTION_FN FieldBox field_box(const Hfield& h, double bottom, double top, const Vec3<double>& p,
                               const Vec3<double>& d) {
  const double middle = 0.5 * (bottom + top);
  const Stretch<double> side[3] = {slab(p.x, d.x, h.half_x), slab(p.y, d.y, h.half_y),
                                   slab(p.z - middle, d.z, top - middle)};
  FieldBox box{side[0], 0, 0};
  for (int k = 1; k < 3; ++k) {
    if (side[k].lower > box.inside.lower) box.inside.lower = side[k].lower, box.enters = k;
    if (side[k].upper < box.inside.upper) box.inside.upper = side[k].upper, box.leaves = k;
  }
  return box;
}

// Returns the distance; `normal` points out of the ground; -1: no hit. The ground ends at `bottom`, its top is `top`.
STICTION_OUTLINE inline double ray_hfield(const Hfield& h, double bottom, double top,
                                          const Vec3<double>& p, const Vec3<double>& d,
                                          Vec3<double>& normal) {
  // headroom, so that round-off does not place the start of a ray from above below the surface
  const FieldBox box = field_box(h, bottom, top + 1e-3 * (top - bottom + h.dx + h.dy), p, d);
  const double first = vmax(box.inside.lower, 0.0), last = box.inside.upper;
  if (!(first <= last)) return -1;
  const auto wall = [&](int axis, double sign) {
    normal = vcopysign(1.0, sign * coordinate(d, axis)) * unit3<double>(axis);
  };

  // in units of cells: u0 + x du
  const double u0 = (p.x + h.half_x) / h.dx, du = d.x / h.dx;
  const double v0 = (p.y + h.half_y) / h.dy, dv = d.y / h.dy;
  int i = h.column(p.x + first * d.x), j = h.row(p.y + first * d.y);
  FieldCell cell = field_cell(h, i, j);
  const auto above = [&](double x) {
    return p.z + x * d.z - cell.elevation(u0 + x * du - i, v0 + x * dv - j);
  };
  double x = first, phi = above(x);
  if (first > 0 && phi < 0) {
    wall(box.enters, -1);
    return first;
  }
  for (int n = h.ncol + h.nrow; n >= 0; --n) {
    const double next_u = du != 0 ? (i + (du > 0 ? 1 : 0) - u0) / du : far<double>();
    const double next_v = dv != 0 ? (j + (dv > 0 ? 1 : 0) - v0) / dv : far<double>();
    const double end = vmax(vmin(vmin(next_u, next_v), last), x);
    // u - v = 0 on the diagonal
    const double side = u0 - i - (v0 - j), turn = du - dv;
    const double diagonal = turn != 0 ? -side / turn : end;
    const double stop[2] = {diagonal > x && diagonal < end ? diagonal : end, end};
    for (int k = 0; k < 2; ++k) {
      const double at = stop[k];
      if (k == 1 && stop[0] == end) break;
      const double then = above(at);
      if ((phi < 0) != (then < 0)) {
        const double hit = x + (at - x) * (phi / (phi - then));
        const double middle = 0.5 * (x + at);
        normal = face_of(h, i, j, side + middle * turn >= 0 ? 0 : 1).normal;
        return hit;
      }
      x = at, phi = then;
    }
    if (end >= last) break;
    if (next_u <= next_v)
      i += du > 0 ? 1 : -1;
    else
      j += dv > 0 ? 1 : -1;
    if (i < 0 || j < 0 || i > h.ncol - 2 || j > h.nrow - 2) break;
    cell = field_cell(h, i, j);
  }
  if (!(phi < 0)) return -1;
  wall(box.leaves, 1);
  return last;
}

STICTION_PHYSICS_END
