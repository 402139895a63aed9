#include "model/mesh/mesh_files.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <locale>
#include <sstream>
#include <unordered_map>

#define TINYOBJLOADER_IMPLEMENTATION
#include <tiny_obj_loader.h>

#include "stiction/error.h"

namespace stiction::model {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ModelError(what);
}

// Parses a coordinate as tinyobj does, which reads words as 0. Advances to its end.
bool finite_number(std::string_view line, std::size_t& at) {
  at = std::min(line.find_first_not_of(" \t", at), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t\r\n", at), line.size());
  const std::size_t sign = at < end && line[at] == '+' ? 1 : 0;
  double x = 0;
  const auto [last, error] = std::from_chars(line.data() + at + sign, line.data() + end, x);
  const bool whole = error == std::errc() && last == line.data() + end && end > at;
  at = end;
  return whole && std::isfinite(static_cast<float>(x));
}

// Sum of the cubed numbers of corners of a file's polygons: tinyobj triangulates them by ear clipping.
constexpr double kMaxEarWork = 2e10;

// Removes lines that are extensions of tinyobj: t, for subdivision, which takes 3e5 bytes for 20 in the file, and vw,
// for bones, whose numbers are read as integers.
// Fails if a coordinate is not a finite number, or if triangulation would take too long.
std::string checked_obj(const std::string& content) {
  constexpr const char* kSpace = " \t";
  std::string kept;
  double work = 0;
  std::size_t triangles = 0, number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find_first_of("\n\r", begin), content.size() - 1);
    const std::string_view line(content.data() + begin, end + 1 - begin);
    begin = end + 1, number += content[end] == '\r' ? 0 : 1;
    std::size_t at = std::min(line.find_first_not_of(kSpace), line.size());
    const std::string_view key = line.substr(at, line.find_first_of(" \t\r\n", at) - at);
    if (key == "t" || key == "vw") continue;
    kept += line;
    if (key == "v") {
      at += 1;
      for (int axis = 0; axis < 3; ++axis)
        if (!finite_number(line, at))
          fail("line " + std::to_string(number) + ": a vertex is not three finite numbers");
    }
    if (key != "f") continue;
    std::size_t corners = 0;
    for (at = line.find_first_of(kSpace, at); at != line.npos;
         at = line.find_first_of(kSpace, at)) {
      at = line.find_first_not_of(kSpace, at);
      if (at == line.npos || line[at] == '\n' || line[at] == '\r') break;
      ++corners;
    }
    triangles += corners < 3 ? 0 : corners - 2;
    if (triangles > kMaxMeshFaces)
      fail("has more than " + std::to_string(kMaxMeshFaces) + " triangles, the limit: simplify it");
    work += corners <= 4 ? 0 : std::pow(static_cast<double>(corners), 3);
    if (work > kMaxEarWork)
      fail("line " + std::to_string(number) + ": its polygons, this one of " +
           std::to_string(corners) +
           " corners, take too long to be cut into triangles; triangulate it, as MeshLab and "
           "Blender do");
  }
  return kept;
}

// As in MuJoCo: all vertices, and the faces of the first object or group.
Triangles read_obj(const std::string& content) {
  tinyobj::ObjReader reader;
  if (!reader.ParseFromString(checked_obj(content), "")) {
    const std::string& said = reader.Error();
    fail("can't be read as OBJ: " + said.substr(0, said.find('\n')));
  }
  Triangles t;
  const auto& v = reader.GetAttrib().vertices;
  for (std::size_t i = 0; i + 2 < v.size(); i += 3)
    t.vertices.emplace_back(v[i], v[i + 1], v[i + 2]);
  if (reader.GetShapes().empty()) return t;
  const tinyobj::mesh_t& mesh = reader.GetShapes().front().mesh;
  std::size_t first = 0;
  for (const std::size_t corners : mesh.num_face_vertices) {
    const auto at = [&](std::size_t k) { return mesh.indices[first + k].vertex_index; };
    for (std::size_t k = 2; k < corners; ++k) t.faces.push_back({at(0), at(k - 1), at(k)});
    first += corners;
  }
  return t;
}

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// FNV-1a of the bits of a point.
struct PointHash {
  std::size_t operator()(const std::array<float, 3>& p) const {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const float x : p) h = (h ^ std::bit_cast<std::uint32_t>(x)) * 0x100000001b3u;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }
};

// Collects corners into triangles and merges equal ones.
class Corners {
 public:
  void add(std::array<float, 3> p) {
    for (float& x : p) x += 0.0f;  // -0 becomes 0, so that equal points have the same bits
    const auto [it, is_new] = ids_.try_emplace(p, static_cast<int>(t_.vertices.size()));
    if (is_new) t_.vertices.emplace_back(p[0], p[1], p[2]);
    face_[count_++ % 3] = it->second;
    if (count_ % 3 == 0) t_.faces.push_back(face_);
  }
  std::size_t count() const { return count_; }
  Triangles take() { return std::move(t_); }

 private:
  Triangles t_;
  std::unordered_map<std::array<float, 3>, int, PointHash> ids_;
  std::array<int, 3> face_{};
  std::size_t count_ = 0;
};

constexpr std::size_t kStlHeader = 84,
                      kStlFace = 50;  // 80 bytes and a count; normal, corners, 2 bytes

bool is_binary_stl(const std::string& content) {
  if (content.size() < kStlHeader) return false;
  const std::size_t faces = number_at<std::uint32_t>(content, 80);
  return content.size() == kStlHeader + kStlFace * faces;
}

Triangles read_binary_stl(const std::string& content) {
  Corners corners;
  for (std::size_t at = kStlHeader; at < content.size(); at += kStlFace) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto p = number_at<std::array<float, 3>>(content, at + 12 * (k + 1));
      if (!std::isfinite(p[0] + p[1] + p[2]))
        fail("triangle " + std::to_string(corners.count() / 3 + 1) +
             ": a coordinate is not a finite number");
      corners.add(p);
    }
  }
  return corners.take();
}

Triangles read_text_stl(const std::string& content) {
  std::istringstream in(content);
  in.imbue(std::locale::classic());
  Corners corners;
  std::string word;
  while (in >> word) {
    if (word != "vertex") continue;
    const auto bad = [&](const char* what) {
      fail("vertex " + std::to_string(corners.count() + 1) + what);
    };
    std::array<float, 3> p{};
    if (!(in >> p[0] >> p[1] >> p[2])) bad(" has not three numbers: is it truncated?");
    if (!std::isfinite(p[0] + p[1] + p[2])) bad(": a coordinate is not a finite number");
    corners.add(p);
  }
  if (corners.count() == 0 && content.size() >= kStlHeader) {
    const std::size_t faces = number_at<std::uint32_t>(content, 80);
    fail("has no vertices as a text; as binary STL it promises " + std::to_string(faces) +
         " triangles, which take " + std::to_string(kStlHeader + kStlFace * faces) +
         " bytes, and has " + std::to_string(content.size()) + ": is it truncated?");
  }
  if (corners.count() % 3 != 0)
    fail("its last facet has less than three vertices: is it truncated?");
  return corners.take();
}

// Reads MuJoCo's own format: numbers of vertices, normals, texture coordinates and faces, followed by these.
Triangles read_msh(const std::string& content) {
  constexpr std::size_t kHeader = 16;
  if (content.size() < kHeader) fail("is too short for MSH");
  std::array<std::int64_t, 4> n{};
  for (std::size_t i = 0; i < 4; ++i) n[i] = number_at<std::int32_t>(content, 4 * i);
  const auto [vertices, normals, texcoords, faces] = n;
  if (*std::min_element(n.begin(), n.end()) < 0) fail("a count of its header is negative");
  const std::int64_t numbers = 3 * vertices + 3 * normals + 2 * texcoords + 3 * faces;
  if (static_cast<std::int64_t>(content.size()) != static_cast<std::int64_t>(kHeader) + 4 * numbers)
    fail("has " + std::to_string(content.size()) + " bytes, its header promises " +
         std::to_string(static_cast<std::int64_t>(kHeader) + 4 * numbers) + ": is it truncated?");
  Triangles t;
  std::size_t at = kHeader;
  for (std::int64_t i = 0; i < vertices; ++i, at += 12) {
    const auto p = number_at<std::array<float, 3>>(content, at);
    t.vertices.emplace_back(p[0], p[1], p[2]);
  }
  at += static_cast<std::size_t>(12 * normals + 8 * texcoords);
  for (std::int64_t i = 0; i < faces; ++i, at += 12)
    t.faces.push_back(number_at<std::array<int, 3>>(content, at));
  return t;
}

}  // namespace

Triangles read_triangles(const std::string& content, std::string extension) {
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  Triangles t;
  if (extension == ".obj") {
    t = read_obj(content);
  } else if (extension == ".stl") {
    t = is_binary_stl(content) ? read_binary_stl(content) : read_text_stl(content);
  } else if (extension == ".msh") {
    t = read_msh(content);
  } else {
    fail("is none of OBJ, STL and MSH; convert it, as MeshLab and trimesh do");
  }
  if (t.vertices.empty()) fail("has no vertices: is it truncated?");
  return t;
}

void check_triangles(const Triangles& t) {
  if (t.vertices.size() < 4) fail("has less than 4 vertices");
  if (t.faces.size() > kMaxMeshFaces)
    fail("has " + std::to_string(t.faces.size()) + " triangles; the limit is " +
         std::to_string(kMaxMeshFaces) + ": simplify it");
  for (const Vec3& v : t.vertices)
    if (!v.allFinite())
      fail("vertex " + std::to_string(&v - t.vertices.data() + 1) +
           ": a coordinate is not a finite number");
  const int n = static_cast<int>(t.vertices.size());
  for (const auto& f : t.faces)
    for (const int i : f)
      if (i < 0 || i >= n)
        fail("a face names vertex " + std::to_string(i) + " of " + std::to_string(n));
}

}  // namespace stiction::model
