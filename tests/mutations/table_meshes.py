"""Deliberate breaks of meshes."""

from breaks import Break

PAGE = "python/test_meshes.py::"

MESHES = [
    Break("mesh: legacy volumes have signs", "src/model/mesh.cpp",
          "return kind_ == MeshInertia::legacy ? std::abs(v) : v;", "return v;",
          pytests=(PAGE + "test_inertia", PAGE + "test_files_are_mujocos")),
    Break("mesh: refquat turns forward", "src/model/mesh.cpp",
          "s.refquat.normalized().toRotationMatrix().transpose()", "s.refquat.normalized().toRotationMatrix()",
          pytests=(PAGE + "test_inertia",)),
    Break("hull: triangles as qhull lists their vertices", "src/model/mesh_hull.cpp",
          "std::swap(f[1], f[2]);", "static_cast<void>(0);",
          pytests=(PAGE + "test_hull_is_closed_and_around_every_vertex",)),
    Break("mesh: a fitted bounding box sits at the centre of mass", "src/model/meshes.cpp",
          "pos += mesh.quat * fit.centre;", "pos += 0 * (mesh.quat * fit.centre);",
          pytests=(PAGE + "test_fitted_primitives",)),
    Break("faces: triangles stay triangles", "src/model/mesh_faces.cpp",
          "> kCoplanar * extent_;", "> -1;",
          gtests=("MeshFaces.ABoxHasSix",)),
    Break("faces: corners in the order of the chain's first half", "src/model/mesh_faces.cpp",
          "chain(sorted.rbegin(), sorted.rend());", "chain(sorted.begin(), sorted.end());",
          gtests=("MeshFaces.ABoxHasSix",)),
    Break("mesh: one that is not there has a collider", "src/model/pairs.cpp",
          " && has_shape(m, c.geom1) && has_shape(m, c.geom2)", "",
          gtests=("MjcfReport.MeshesMayBeSeenButNotWeighed",)),
    Break("mesh: mirrored, it is inside out", "src/model/mesh.cpp",
          "if (s.scale.prod() > 0) return;", "if (s.scale.prod() > -1e9) return;",
          pytests=(PAGE + "test_inertia",)),
]
