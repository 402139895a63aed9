// Triangles from files: OBJ, STL (binary and text) and MuJoCo's MSH.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "math.h"

namespace stiction::model {

struct Triangles {
  std::vector<Vec3> vertices;             // m
  std::vector<std::array<int, 3>> faces;  // counterclockwise seen from outside; may be empty
};

inline constexpr std::size_t kMaxMeshFaces = 1'000'000;

// Reads `content` in the format of `extension` (".obj", ".stl", ".msh", any case). Throws ModelError
// naming what is wrong in the file.
Triangles read_triangles(const std::string& content, std::string extension);

// Throws ModelError unless every vertex is finite and every index refers to a vertex.
void check_triangles(const Triangles& t);

}  // namespace stiction::model
