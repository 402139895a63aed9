// Shapes that a model stores as arrays, the same for all environments: convex hulls of meshes, and height fields.
#pragma once

namespace stiction::physics {

// clang-format off
// Convex hulls of meshes in the frames of their geoms; README.md, "Hulls". Indices of vertices and faces
// are relative to the first of their mesh.
struct MeshArrays {
  int nmesh;
  const int *mesh_vertadr, *mesh_vertnum;  // (nmesh)
  const double *mesh_vert;    // (nmeshvert,3)
  const int *mesh_edgeadr;    // (nmeshvert+1)  vertices that an edge of a triangle joins to it
  const int *mesh_edge;       // (nmeshedge)
  // (nmesh)  each side of a cube has mesh_cells² cells of directions; where their lists begin in mesh_nearadr
  const int *mesh_cells, *mesh_celladr;
  const int *mesh_nearadr;    // (cells of all meshes + 1)
  const int *mesh_near;       // possible farthest vertices of each cell, ascending; first ~v: incomplete list, so climb
  const int *mesh_polyadr, *mesh_polynum;  // (nmesh)  faces
  const double *mesh_polynormal;  // (nmeshpoly,3)
  const int *mesh_polyvertadr;  // (nmeshpoly+1)  corners of the face
  const int *mesh_polyvert;   // (nmeshpolyvert)
  const int *mesh_polymapadr;  // (nmeshvert+1)  faces at the vertex
  const int *mesh_polymap;    // (nmeshpolymap)
};

// Height fields: hfield.h.
struct HfieldArrays {
  const int *hfield_nrow, *hfield_ncol, *hfield_adr;  // (nhfield)
  const double *hfield_size;  // (nhfield,4)
  const double *hfield_data;  // elevation in units of hfield_size[2], row by row
  const double *hfield_top;   // (nhfield)  highest elevation, m
  const double *hfield_bottom;  // (nhfield)  where the solid ends for rays, m
};
// clang-format on

}  // namespace stiction::physics
