// The convex hull of a mesh: the vertex farthest in a direction, and the face closest to that direction.
// Scalar code in double; everything is in the frame of the mesh.
#pragma once

#include "physics/base/views.h"
#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Vertices and normals that differ by less than this fraction count as tied.
inline constexpr double kAsFar = 1e-9;

// A hull of the model.
struct HullRef {
  const MeshArrays* arrays = nullptr;
  int mesh = 0;

  STICTION_FN int first() const { return arrays->mesh_vertadr[mesh]; }
  STICTION_FN Vec3<double> vertex(int i) const {
    const double* const p = arrays->mesh_vert + 3 * (first() + i);
    return {p[0], p[1], p[2]};
  }
  STICTION_FN Vec3<double> normal(int face) const {
    const double* const n = arrays->mesh_polynormal + 3 * (arrays->mesh_polyadr[mesh] + face);
    return {n[0], n[1], n[2]};
  }
  STICTION_FN Vec3<double> corner(int face) const {  // the first of a face's corners
    const int f = arrays->mesh_polyadr[mesh] + face;
    return vertex(arrays->mesh_polyvert[arrays->mesh_polyvertadr[f]]);
  }
  STICTION_FN int face_count() const { return arrays->mesh_polynum[mesh]; }
  // Call f with every vertex adjacent to vertex i, and with every face at it.
  template <class F>
  STICTION_FN void beside(int i, const F& f) const {
    const int* const adr = arrays->mesh_edgeadr + first() + i;
    for (int k = adr[0]; k < adr[1]; ++k) f(arrays->mesh_edge[k]);
  }
  template <class F>
  STICTION_FN void faces_at(int i, const F& f) const {
    const int* const adr = arrays->mesh_polymapadr + first() + i;
    for (int k = adr[0]; k < adr[1]; ++k) f(arrays->mesh_polymap[k]);
  }
};

// Returns the mesh that an environment has chosen for a geom; `file`: that of the model file. A step on a device does
// not check parameters first: a value that is no hull counts as `file`.
STICTION_FN HullRef chosen_hull(const MeshArrays& a, double mesh, int file) {
  const bool there = mesh >= 0 && mesh < a.nmesh;
  const int id = there ? static_cast<int>(mesh) : file;
  return {&a, a.mesh_vertnum[id] > 0 ? id : file};
}

// Directions are indexed by the cell in which they leave a cube around the origin; each side has `cells` squared cells.
STICTION_FN int cell_count(int cells) {
  return 6 * cells * cells;
}
STICTION_FN int direction_cell(const Vec3<double>& m, int cells) {
  const Vec3<double> size = abs3(m);
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const double along = coordinate(m, axis), half = 0.5 * cells,
               to_cell = along != 0 ? half / vabs(along) : 0.0;
  const auto cell = [&](int k) {
    const double x = to_cell * coordinate(m, k % 3) + half;
    return x >= cells ? cells - 1 : x > 0 ? static_cast<int>(x) : 0;  // 0 for NaN
  };
  const int side = 2 * axis + (along < 0 ? 1 : 0);
  return (side * cells + cell(axis + 1)) * cells + cell(axis + 2);
}
// Returns the direction at the place (u, v) of a cell, both from 0 to 1.
STICTION_FN Vec3<double> cell_direction(int cell, int cells, double u, double v) {
  const int side = cell / (cells * cells), axis = side / 2;
  const double first = 2 * (cell / cells % cells + u) / cells - 1,
               second = 2 * (cell % cells + v) / cells - 1;
  return (side % 2 == 0 ? 1.0 : -1.0) * unit3<double>(axis) +
         (first * unit3<double>((axis + 1) % 3) + second * unit3<double>((axis + 2) % 3));
}

// Climbs along edges to the farthest vertex along m; on a convex hull every local maximum is global.
STICTION_OUTLINE inline int climb(const HullRef& hull, const Vec3<double>& m, int from) {
  int best = from;
  double most = dot(m, hull.vertex(best));
  for (int last = -1; last != best;) {
    last = best;
    hull.beside(last, [&](int i) {
      const double along = dot(m, hull.vertex(i));
      if (along > most) most = along, best = i;
    });
  }
  return best;
}

// Returns the vertex farthest along m: the first if tied among those listed for the cell of m; if that list has only
// some of the candidates, climbs from the farthest of them. Depends on nothing but m.
STICTION_OUTLINE inline int farthest_vertex(const HullRef& hull, const Vec3<double>& m) {
  const MeshArrays& a = *hull.arrays;
  const int* const adr =
      a.mesh_nearadr + a.mesh_celladr[hull.mesh] + direction_cell(m, a.mesh_cells[hull.mesh]);
  const int end = adr[1];
  int k = adr[0], best = a.mesh_near[k];
  const bool climbs = best < 0;
  if (climbs) best = ~best;
  double most = dot(m, hull.vertex(best));
  for (++k; k < end; ++k) {
    const int i = a.mesh_near[k];
    const double along = dot(m, hull.vertex(i));
    const bool farther = along > most;
    most = farther ? along : most, best = farther ? i : best;
  }
  return climbs ? climb(hull, m, best) : best;
}

// Returns, among the faces with a corner as far along m as any vertex, the face whose normal is closest to m, the first
// if tied. `extent`: of the hull.
STICTION_OUTLINE inline int facing_face(const HullRef& hull, const Vec3<double>& m, double extent) {
  const int top = farthest_vertex(hull, m);
  const double tie = kAsFar, least = dot(m, hull.vertex(top)) - tie * extent;
  double closest = -2;
  int face = 0;
  const auto consider = [&](int f) {
    const double c = dot(m, hull.normal(f));
    if (c > closest + tie || (c >= closest - tie && f < face)) closest = c, face = f;
  };
  hull.faces_at(top, consider);
  hull.beside(top, [&](int i) {
    if (dot(m, hull.vertex(i)) >= least) hull.faces_at(i, consider);
  });
  return face;
}

STICTION_PHYSICS_END
