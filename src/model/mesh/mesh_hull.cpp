#include "model/mesh/mesh_hull.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

extern "C" {
#include <libqhull_r/libqhull_r.h>
}

#include "stiction/error.h"

namespace stiction::model {
namespace {

// Least relative extent that counts as a dimension.
constexpr double kFlat = 1e-12;

// Returns the number of dimensions that the points span, 0 to 3.
int dimensions(const std::vector<Vec3>& points) {
  const Vec3& origin = points.front();
  const auto farthest = [&](auto&& size) {
    return *std::max_element(points.begin(), points.end(),
                             [&](const Vec3& a, const Vec3& b) { return size(a) < size(b); });
  };
  const Vec3 a = farthest([&](const Vec3& p) { return (p - origin).norm(); }) - origin;
  const double length = a.norm();
  if (!(length > 0)) return 0;
  const Vec3 x = a / length;
  const auto aside = [&](const Vec3& p) { return (p - origin).cross(x).norm(); };
  const Vec3 b = farthest(aside);
  if (!(aside(b) > kFlat * length)) return 1;
  const Vec3 normal = x.cross(b - origin).normalized();
  const auto above = [&](const Vec3& p) { return std::abs(normal.dot(p - origin)); };
  return above(farthest(above)) > kFlat * length ? 3 : 2;
}

// The state of qhull, and its error output.
struct Qhull {
  qhT state{};
  char* said = nullptr;
  std::size_t length = 0;
  std::FILE* errors = open_memstream(&said, &length);

  Qhull() { qh_zero(&state, errors); }
  ~Qhull() {
    qh_freeqhull(&state, qh_ALL);
    int left = 0, total = 0;
    qh_memfreeshort(&state, &left, &total);
    std::fclose(errors);
    std::free(said);
  }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;

  std::string first_line() {
    std::fflush(errors);
    const std::string text(said, length);
    return text.substr(0, text.find('\n'));
  }
};

}  // namespace

Hull convex_hull(const std::vector<Vec3>& points, int most) {
  constexpr const char* kSpan[] = {"lie in one place; use a small sphere",
                                   "lie on a line; use a thin capsule",
                                   "lie in a plane; use a plane or a thin box"};
  if (const int d = dimensions(points); d < 3)
    throw ModelError(std::string("its vertices ") + kSpan[d]);
  std::vector<double> numbers;
  for (const Vec3& p : points) numbers.insert(numbers.end(), p.data(), p.data() + 3);
  // Qt: triangles; TA: number of vertices added after the first simplex, Q9: the farthest first
  std::string options = "qhull Qt";
  if (most >= 4) options += " Q9 TA" + std::to_string(most - 4);
  const auto q = std::make_unique<Qhull>();
  qhT* qh = &q->state;
  const int n = static_cast<int>(points.size());
  if (qh_new_qhull(qh, 3, n, numbers.data(), False, options.data(), nullptr, q->errors) != 0)
    throw ModelError("no convex hull: " + q->first_line());
  if (!qh->hasTriangulation) qh_triangulate(qh);

  Hull hull;
  vertexT *vertex, **vertexp;
  facetT* facet;
  FORALLvertices hull.vertices.push_back(qh_pointid(qh, vertex->point));
  std::sort(hull.vertices.begin(), hull.vertices.end());
  FORALLfacets {
    std::array<int, 3> f{};
    std::size_t k = 0;
    FOREACHvertex_(facet->vertices) {
      if (k < 3) f[k] = qh_pointid(qh, vertex->point);
      ++k;
    }
    const auto at = [&](std::size_t i) { return points[static_cast<std::size_t>(f[i])]; };
    const Vec3 outwards(facet->normal[0], facet->normal[1], facet->normal[2]);
    if ((at(1) - at(0)).cross(at(2) - at(0)).dot(outwards) < 0) std::swap(f[1], f[2]);
    hull.faces.push_back(f);
  }
  return hull;
}

}  // namespace stiction::model
