// Contact geometry: witness points, normals and signed distances between primitives.
#pragma once

#include <array>
#include <span>

#include "reference/base/real.h"
#include "stiction/types.h"

namespace stiction::reference::inline STICTION_REAL {

// The convex hull of a mesh: vertices and flat faces, as in the model.
struct Hull {
  std::span<const double> vert, normal;       // (n,3) (faces,3)
  std::span<const int> corneradr, cornernum;  // (faces)
  std::span<const int> corner;                // vertex indices, starting at the mesh's first corner
  std::span<const int> triangle;              // (triangles,3) of vertices
  Vec3 vertex(int i) const { return Eigen::Vector3d(&vert[3 * at(i)]).template cast<Real>(); }
  int vertices() const { return static_cast<int>(vert.size() / 3); }
  int faces() const { return static_cast<int>(cornernum.size()); }
  Vec3 face_normal(int f) const {
    return Eigen::Vector3d(&normal[3 * at(f)]).template cast<Real>();
  }
  std::span<const int> corners(int f) const {
    return corner.subspan(at(corneradr[at(f)] - corneradr[0]), at(cornernum[at(f)]));
  }
};

// A height field: rows along y, columns along x; elevation size[2] data.
struct HeightField {
  int nrow = 0, ncol = 0;
  std::array<double, 3> size{};  // half sizes in x and y
  std::span<const double> data;
};

// A placed primitive, with sizes as in MuJoCo: sphere (radius), capsule and cylinder (radius, half
// length along z), box and ellipsoid (half sizes), plane (infinite, z is its outward normal); or a mesh,
// within the box of these half sizes; or a height field.
struct Shape {
  GeomType type;
  Vec3 size;
  Vec3 pos;
  Mat3 rot;
  Hull hull{};
  HeightField field{};
};

// One contact point. point2 - point1 = distance * normal, also when the shapes are apart.
struct Witness {
  Vec3 point1, point2;  // on the surfaces of shape 1 and shape 2
  Vec3 normal;          // unit, from 1 into 2
  Real distance;        // signed, < 0: overlap
};

// Writes exactly contact_points(a.type, b.type) witnesses and returns their number; 0: no collider.
// The least distance is the signed distance of the two shapes: in overlap it is minus the length of the
// shortest translation that separates them. Swapped arguments give swapped points and the opposite
// normal, in the same order (box-box: the same least distance and normal, other names; capsules whose axes
// point in opposite directions: the other end first).
//
// Order of the points (an index denotes the same feature at every pose):
//   plane-capsule     the end spheres at -z and +z of the capsule
//   plane-box         the vertices; bit k of the index is set where coordinate k is positive
//   plane-cylinder    4 * cap + quarter. Caps: -z, +z. Quarter 0 is the direction of the deepest
//                     rim point, 1 to 3 follow at 90 degrees about +z
//   capsule-capsule   the overlap's end at -z of the first, then that at +z
//   capsule-box       the point nearer to the capsule's -z end first
//   box-box           the sides of the first box's facing face, then those of the second's. With
//                     the face's normal along axis k and u, v the axes k + 1, k + 2 (cyclic):
//                     -v, +u, +v, -u
//   capsule-cylinder  the point nearer to the -z end of the line first
//   cylinder-cylinder cap on cap: quarters of the first's rim, of the second's, the two crossings of
//                     the rims. Else 0 and 1: the ends of the line, -z first; the other slots are idle
//   plane-mesh, cylinder-mesh (cap), box-mesh, mesh-mesh
//                     the point farthest along d_k, d_0 52.5 degrees from the x axis, d_1 to d_3 following at
//                     90 degrees; slots that would repeat a point have points next to these
//   capsule-mesh, cylinder-mesh (side)   as cylinder-box
//   cylinder-box      a cap: 4 quarters of its rim, where the 4 edges of the facing face enter the
//                     cap, where they leave it. Else as above
//
// Capsule against capsule. A and B are the axes, segments, r the sum of the radii.
//   1. The nearest points of A and B, D apart along the normal n, which both contacts share.
//   2. The overlap of A and B seen along n, of length L along the mean of their directions: at each end a point of A
//      and one of B. With the angle φ between the axes, seen along n, and the angles α, β of the axes to n,
//        u = kTurned (sin φ sin α sin β)² (1 + L/r) + (kTilted (1 - sin²α sin²β))² + max(0, r/L - kShort)
//      is 0 for a line contact. Both contacts move from the end towards the nearest points by the fraction min(1, u).
//   3. The distance is measured along n, at least D; the least distance is D. The remaining offset of the two points
//      perpendicular to n is halved: this neglects at most L/340 of distance. Where u > 1 both slots would
//      have the nearest points: the spheres of contact 1 shrink by the fraction min(1, u - 1).
//   So there are two contacts where a capsule lies along another one, and one, which is exact, where they cross or one
//   stands on the other; distances and points are continuous wherever n is and L > r/kShort.
//
// Capsule against box. Two points of the capsule's axis, a segment, carry the contact:
//   1. The nearest point t* of the segment: least distance to the box, in direction n. If the
//      segment enters the box, n is instead the direction of the shortest translation that separates (the normal
//      of a face, or the common perpendicular of the segment and an edge), and t* is
//      the last point to leave.
//   2. The part [a, b] of the segment that faces the box: clipped, in the box's frame, to
//        |x_k| <= max(h_k, |x_k(t*)|) + L n_k² / (1 - n_k²),   k = 1..3,  L half the length.
//      Over a face (n = e_k) these are the four planes through the face's edges. Across an edge or
//      a vertex the planes move outwards as n rotates away from the face, so nothing jumps.
//   3. In addition to t*, the one of a and b that is farther from the box. Distance is convex along
//      the segment, so the two contacts are the nearest and the farthest point of the facing
//      part, and both distances are continuous wherever n is. If a or b is as near as t*, it
//      replaces t*: a capsule lying on a face touches at the two ends of the facing part.
//   Distances are those of the sphere at the point; while the segment is inside the box and n is the normal
//   of a face, the heights above that face.
//
// Box against box.
//   1. The normal n: the shortest translation that separates, along the normal of a face or
//      the common perpendicular of two edges (an edge only if it is shallower than every face
//      by more than round-off); for separated boxes, the line between their nearest points.
//   2. The overlap of the two facing faces (those whose normals are closest to n and -n), seen
//      along n: a convex polygon of up to eight corners. The height of a corner is the distance
//      between the two faces along n there, and at least the distance of the boxes.
//   3. Every corner is the beginning of one edge, every edge lies on one of the eight sides of the
//      two faces, and a side carries at most one edge: slot = side. So a corner keeps its slot
//      while the boxes slide and rotate, even when it leaves one face and becomes a crossing of two
//      sides.
//      Its distance is max(height, -length of the edge): edges appear and vanish with length 0,
//      so a corner appears and disappears without a jump. The end of an edge shorter than the depth counts
//      as deep as its beginning, if the two agree to a tenth of the depth. Where all of the deepest corners
//      would be made shallower, depths are limited in proportion to the edges, and the deepest keep
//      theirs.
//   4. A side without an edge repeats the polygon's corner nearest to it, at the distance
//      max(0, height) + the distance of the corner from the side: never in overlap. Of two equally
//      near corners it takes the beginning of the edge between them; if all are, that of the first side with
//      an edge, the second face's before the first's.
//   Flush boxes: seen along n, the first box's face is larger by half the depth (less its variation
//   over the faces), so that round-off does not decide which of two sides is the outer one, and a
//   point may lie that far outside of the first box. Points are midway between the faces,
//   with point1 and point2 half the distance on either side.
//
// Cylinder against capsule, cylinder, box. Along the normal n of least distance a cylinder presents a cap
// if its axis is within 45 degrees of n, else the line of its side that faces along n; a capsule presents
// a line, a box the face closest to n. Points are features of one shape seen along n over the other:
//   rim      four points of a cap's rim, quarter 0 in the direction of the deepest; distance: their height over the
//            other plane, plus how far they are outside of its feature
//   edge     where an edge of a face enters and leaves a cap. Depth at most the length of the part over
//            the cap, where it leaves also the length of the rest of the edge: points appear and disappear at
//            depth 0, and a corner over the cap is the beginning of one edge only
//   crossing where the rims of two caps cross; depth at most half the length of their common chord
//   line     the two ends of the part of a line over a face or a cap; the farther end no deeper
//            than the part is long. For two lines, whose shapes are round: the nearest point and
//            the farther end; both ends if the nearer end is as near
// Every height is at least the signed distance. If none of the points is as near as the shapes are, the
// nearest of them is replaced by the touching point. A slot without a feature repeats slot 0, out of reach.
//
// Mesh against a plane and against shapes that present a face: box, mesh, cap of a cylinder.
//   1. The normal n is that of the plane, or of least distance; the mesh is its convex hull.
//   2. Directions d_0 to d_3 perpendicular to n rotate with the shape, of two with the smaller of the faces in item 5.
//      x and y are the axes k + 1, k + 2 of the frame whose axis k is closest to n; for a mesh y is reversed if x × y points
//      away from the viewing side. 52.5 degrees are away from the edge normals of squares, hexagons and octagons in any of
//      their symmetric relative positions, so round-off does not choose between two corners there.
//   3. The mesh is seen along m (n or -n). In direction d it presents the vertex farthest along m + kPatchSlope d of all:
//      a vertex farther out by a length may be higher by kPatchSlope times it. The vertices of d_0 to d_3 are the patch;
//      while it has two or three different ones, the vertex farthest along m + kPatchSlope w, w a unit vector away from
//      one of its edges, kAslant along it, joins the patch, if there is one beyond an edge.
//   4. On a plane, on a cap or on the face of a box that faces along n exactly, slot k has the vertex of d_k; a vertex of
//      several directions has the slot of the one where it is farthest. Another patch vertex has the first free slot. Vertices move towards the other ends of their edges, e: to the
//      mean, with weights 1 and (1 - behind/(kBetween kPatchSlope |e|))₊, behind: how far the other lags along d_k. So
//      as the mesh rocks, points move from one vertex to the next. A slot still free gets the point of d_k if that is
//      a different one, or the vertex farthest along m + kTiltedSlope d_k. All this if all four are over the cap or face.
//   5. Else points are those of the overlap of two faces, seen along n. The face of a mesh is, of the hull's flat faces with a
//      corner as far along m as any vertex, the one with the normal closest to m, the first one if tied; if a vertex of
//      the patch is not a corner of it and there are three, the patch instead, in the plane of its diagonals (or edges),
//      through its outermost point. Sides of boxes and caps are as above. Slot k takes the point of the overlap
//      farthest along d_k, the first one if tied; free slots take those beyond an edge, as in item 3. The distance of a
//      point is that of the planes there along n; for a corner, its own to the other plane; at least the signed one.
//   6. Points within 1e-6 of the extent are merged. A slot without a point repeats the first with one, out of reach.
//      Points of overlaps are midway between the faces.
//   7. If the shapes are nearer than the nearest of these, at a point x, that one takes the signed distance, and the others come
//      nearer by as much. If x is lower by more than kPatchSlope times its distance from the nearest, the nearest moves
//      towards x, which it reaches at twice as much, while the others stay.
//   So a surface flat to kPatchSlope rests on the same four points as it tilts by less, whichever facet is lowest.
//   An overlap with more than four corners rests on four of them, and the point of a slot jumps to another corner where
//   two are equally far along d_k, where another face takes over (n midway between two normals), and where the
//   smaller of the faces becomes the larger. A capsule or the side of a cylinder has a line over the face, as
//   over a box; spheres and ellipsoids touch at one point.
//
// Height field. Two triangles per cell, separated by the diagonal from the corner with the least x and y; solid below
// them, nothing outside. A shape has the points with which it would touch a plane, and kHfieldMore others.
//   1. Own point k: for each triangle, point k of the shape against the plane of the triangle, if its foot is in the
//      triangle; for a mesh its points without item 7, and the deepest vertex as one of the other points. Let d be the
//      distance of the point from the plane, for a sphere or capsule that of the centre of its ball. That point must
//      be in the solid if d < 0 and outside if d > 0: else the plane belongs to the far side of a ridge. Where it is
//      in the solid, its foot may be beside the triangle by at most -d, if the surface is concave there, and -d may
//      not exceed kLongWay times the distance of the point from the surface. The triangle with the least |d| has
//      slot k. A box corner, or the centre of a ball, in the solid but without a triangle takes the nearest point of
//      the surface, the bottom of a valley with steep sides.
//   2. A ridge is a convex edge, also the border, which is a cliff. It touches like a capsule
//      of radius 0 (shapes that present a face or a side at two points) if its normal is perpendicular to it and both
//      triangles descend away from it. In overlap the normal is that of a longer edge, since there is no way out along
//      it, and the points are within the edge. A node of a ridge touches as a point, if its normal points up and all
//      six neighbours descend; under flat sides they may rise by 0.02 rad, so that a side that rocks keeps its
//      points.
//   3. The others are the points of ridges and nodes, and of triangles that lost their slot to another one; equal ones count
//      once; the end of a ridge at a node that itself touches a flat side along nearly the same normal does not count.
//      The nearest 24 compete. For a round shape four are chosen: the nearest, then repeatedly the one farthest from
//      those chosen, in position and extent times normal, minus kSlope times its height; those higher than kBand
//      of the extent come last, nearest first. For flat sides those farthest along the four
//      directions of a mesh on a plane, minus kSteep times their height, which small motions do not change. Further
//      slots are those of item 1 whose points are higher than kBand: for flat sides between these directions, then with
//      kLean in place of kSteep, and other overlapping points if all find slots; for a round shape the nearest of
//      the rest.
//   On a flat field these are the points on a plane, with the same gaps and normals.
//
// The distances are continuous, but points jump, for: a cylinder standing on a plane, a capsule parallel to
// a face or an edge of a box, a capsule across an edge whose two ends are equally far (item 3 changes
// ends), and parallel sides of two boxes that pass each other (the corner runs along the side).
//
// Where the direction of least translation is not unique, the choice is fixed: a point inside a box
// leaves by the nearest face, the first one in the order x, y, z; crossing axes separate along
// their common perpendicular; a sphere centred on a capsule's axis along the capsule's x axis;
// coincident spheres and coinciding capsule axes along the x axis of the first argument (the only
// case that doesn't swap).
int collide(const Shape& a, const Shape& b, std::span<Witness> out);

}  // namespace stiction::reference::inline STICTION_REAL
