// A height field: nodes in rows along y and columns along x, two triangles per cell; solid below the triangles and
// nowhere else. Everything is in the frame of the field, scalar, in double.
//
//   node (i, j) at (i dx − size_x, j dy − size_y, z);  faces of cell (i, j), counterclockwise from above:
//   0: (i, j) (i+1, j) (i+1, j+1);   1: (i, j) (i+1, j+1) (i, j+1)
#pragma once

#include "physics/base/views.h"
#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Elevation at (u, v) in [0, 1]² of a cell: a and b are those of its first and last corner, `third` that of the
// corner off the diagonal on this side, (1, 0) where u >= v.
STICTION_FN double cell_elevation(double a, double third, double b, double u, double v) {
  return a + (third - a) * vmax(u, v) + (b - third) * vmin(u, v);
}

struct Hfield {
  const double* data;
  int ncol, nrow;
  double half_x, half_y, dx, dy, scale;

  STICTION_FN Vec3<double> node(int i, int j) const {
    return {i * dx - half_x, j * dy - half_y, scale * data[j * ncol + i]};
  }
  STICTION_FN bool has_node(int i, int j) const { return i >= 0 && j >= 0 && i < ncol && j < nrow; }
  // Returns the horizontal distance between two nodes that are di columns and dj rows apart.
  STICTION_FN double length(int di, int dj) const {
    return di == 0 ? dy : dj == 0 ? dx : vsqrt(dx * dx + dy * dy);
  }
  // Returns the vector from b to the node; where there is no node the surface ends in a cliff.
  STICTION_FN Vec3<double> way_to_node(const Vec3<double>& b, int i, int j) const {
    return has_node(i, j) ? node(i, j) - b : -unit3<double>(2);
  }
  // Returns the index of the cell, or of the node on its lower side, at a coordinate.
  STICTION_FN int column(double x) const { return index((x + half_x) / dx, ncol); }
  STICTION_FN int row(double y) const { return index((y + half_y) / dy, nrow); }
  // Returns the elevation at u columns and v rows from the first node; −∞ outside of the field.
  STICTION_FN double elevation(double u, double v) const {
    if (!(u >= 0 && v >= 0 && u <= ncol - 1 && v <= nrow - 1))
      return -std::numeric_limits<double>::infinity();
    const int i = static_cast<int>(vmin(u, ncol - 2.0)), j = static_cast<int>(vmin(v, nrow - 2.0));
    const double* const at = data + j * ncol + i;
    u = u - i, v = v - j;
    return scale * cell_elevation(at[0], at[u >= v ? 1 : ncol], at[ncol + 1], u, v);
  }
  // Returns the elevation at (x, y).
  STICTION_FN double height(double x, double y) const {
    return elevation((x + half_x) / dx, (y + half_y) / dy);
  }

 private:
  STICTION_FN static int index(double at, int nodes) {
    return static_cast<int>(clamp(at, 0.0, nodes - 2.0));
  }
};

// Reference to a height field of the model.
struct HfieldRef {
  const HfieldArrays* arrays = nullptr;
  int id = 0;
};
STICTION_FN Hfield hfield_of(const HfieldRef& ref) {
  const HfieldArrays& a = *ref.arrays;
  const int id = ref.id;
  const double* const size = a.hfield_size + 4 * id;
  const int ncol = a.hfield_ncol[id], nrow = a.hfield_nrow[id];
  return {
      a.hfield_data + a.hfield_adr[id], ncol,   nrow, size[0], size[1], 2 * size[0] / (ncol - 1),
      2 * size[1] / (nrow - 1),         size[2]};
}

// Returns half a cell.
STICTION_FN double shallow(const Hfield& h) {
  return 0.5 * vmin(h.dx, h.dy);
}

// One of the two triangles of a cell.
struct HfieldFace {
  Vec3<double> corner[3], normal;
  int node[3][2];  // column, row
};
STICTION_FN HfieldFace face_of(const Hfield& h, int i, int j, int which) {
  HfieldFace f;
  const int second = which == 0 ? 1 : 0;  // the corner off the diagonal
  const int k = which == 0 ? 1 : 2, d = which == 0 ? 2 : 1;
  f.node[0][0] = i, f.node[0][1] = j;
  f.node[d][0] = i + 1, f.node[d][1] = j + 1;
  f.node[k][0] = i + second, f.node[k][1] = j + 1 - second;
  for (int c = 0; c < 3; ++c) f.corner[c] = h.node(f.node[c][0], f.node[c][1]);
  const Vec3<double> n = cross(f.corner[1] - f.corner[0], f.corner[2] - f.corner[0]);
  f.normal = (1 / norm(n)) * n;
  return f;
}

// The edge from node (i, j) in one of three directions, and the nodes opposite to it.
struct HfieldEdge {
  Vec3<double> from, to;
  Vec3<double>
      beside[2];  // from an end of the edge to the opposite corner of the face on either side
};
// Returns the kth of the six neighbours of a node, in order around it: column and row steps. The first three directions
// are those of the edges that belong to the node.
STICTION_FN void neighbour(int k, int& di, int& dj) {
  // (1, 0) (1, 1) (0, 1) (-1, 0) (-1, -1) (0, -1)
  const int m = k % 3;
  di = m <= 1 ? 1 : 0, dj = m >= 1 ? 1 : 0;
  if (k >= 3) di = -di, dj = -dj;
}
STICTION_FN HfieldEdge edge_of(const Hfield& h, int i, int j, int k) {
  int di, dj;
  neighbour(k, di, dj);
  HfieldEdge e;
  e.from = h.node(i, j), e.to = h.node(i + di, j + dj);
  // the neighbours before and after it
  for (int side = 0; side < 2; ++side) {
    neighbour((k + (side == 0 ? 1 : 5)) % 6, di, dj);
    e.beside[side] = h.way_to_node(e.from, i + di, j + dj);
  }
  return e;
}

// Returns whether the edge is convex: each face's opposite corner lies below the plane of the other face,
//   (e × a)·b < 0,  e along the edge, a to its left, b to its right
STICTION_FN bool is_ridge(const HfieldEdge& e) {
  const Vec3<double> along = e.to - e.from, up = cross(along, e.beside[0]);
  const double bend = dot(up, e.beside[1]);
  if (!(bend < 0)) return false;
  return bend < -1e-9 * norm(up) * norm(e.beside[1]);
}

// Returns whether the surface near a point descends along n on this side, or rises less than `slope`; n points up.
STICTION_FN bool falls_away(const Vec3<double>& n, const Vec3<double>& way, double slope) {
  const double rise = dot(n, way);
  if (rise <= 1e-6 * norm(way)) return true;
  return slope > 0 && rise <= slope * n.z * vsqrt(way.x * way.x + way.y * way.y);
}

// If all of the surface around a node descends along some n, then for opposite neighbours a and b
//   n·a <= 0, n·b <= 0   and so   (a + b)·e_z <= 0,  as a + b is vertical
// except for what falls_away() and `slope` allow; (di, dj): the step to one of them.
STICTION_FN double most_lift(const Hfield& h, int di, int dj, double slope) {
  return 1e-4 * (h.dx + h.dy) + 2 * slope * h.length(di, dj);
}
// Whether a node may be a peak: no sum above the bound, and a convex surface: a negative sum, or a cliff at the border.
STICTION_FN bool may_be_peak(const Hfield& h, int i, int j, double slope) {
  const double z = h.node(i, j).z, size = h.dx + h.dy;
  bool bends = false;
  for (int k = 0; k < 3; ++k) {
    int di, dj;
    neighbour(k, di, dj);
    if (!h.has_node(i + di, j + dj) || !h.has_node(i - di, j - dj)) {
      bends = true;
      continue;
    }
    const double lift = h.node(i + di, j + dj).z + h.node(i - di, j - dj).z - 2 * z;
    if (lift > most_lift(h, di, dj, slope)) return false;
    bends = bends || lift < -1e-9 * size;
  }
  return bends;
}

// Returns whether, along n, which points up, all of the surface around the node descends, or rises less than `slope`.
STICTION_FN bool is_peak(const Hfield& h, int i, int j, const Vec3<double>& n, double slope) {
  if (!(n.z > 0)) return false;
  const Vec3<double> b = h.node(i, j);
  for (int k = 0; k < 6; ++k) {
    int di, dj;
    neighbour(k, di, dj);
    if (!falls_away(n, h.way_to_node(b, i + di, j + dj), slope)) return false;
  }
  return true;
}

STICTION_PHYSICS_END
