// Hulls of meshes for src/physics: adjacency of the vertices, and the support vertices of each cell of directions.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "cpu/host_model.h"
#include "index.h"
#include "physics/collision/convex/convex_hull.h"

namespace stiction::cpu {
namespace {

using V = physics::Vec3<double>;

// A cell with more vertices than kMostNear lists kStarts of them, from which the search climbs: along the axis of a
// wheel its whole rim is in one cell.
constexpr std::size_t kMostNear = 48, kStarts = 24;
// Cells overlap by this much: round-off decides which cell a direction on an edge belongs to.
constexpr double kWider = 1e-6;

int cells_of(int vertices) {
  return vertices <= 24 ? 4 : vertices <= 200 ? 8 : vertices <= 2000 ? 16 : 32;
}

// The vertices of a hull that may be farthest in the directions of a cell. A direction is a nonnegative combination of
// those to the cell's corners, so a vertex exceeded by another one along all four is never the farthest. The farthest
// vertices of a cell are connected by edges of the hull, since a direction moving through the cell passes from one to
// a neighbour.
class NearVertices {
 public:
  NearVertices(const physics::HullRef& hull, int cells)
      : hull_(hull), cells_(cells), seen_(at(hull.arrays->mesh_vertnum[hull.mesh]), -1) {}

  // Returns the vertices in ascending order; if there are too many, some of them, the first of which is stored as ~v.
  std::vector<int> of(int cell) {
    constexpr double kEnds[] = {-kWider, 1 + kWider};
    std::array<int, 5> top{};
    for (std::size_t k = 0; k < 4; ++k) {
      corner_[k] = physics::cell_direction(cell, cells_, kEnds[k % 2], kEnds[k / 2]);
      top[k] = last_ = physics::climb(hull_, corner_[k], last_);
    }
    top[4] = last_ = physics::climb(hull_, physics::cell_direction(cell, cells_, 0.5, 0.5), last_);
    std::vector<int> found;
    const auto visit = [&](int v) {
      if (seen_[at(v)] == cell) return;
      seen_[at(v)] = cell;
      if (std::none_of(top.begin(), top.end(), [&](int w) { return passes(w, v); }))
        found.push_back(v);
    };
    for (const int v : top) visit(v);
    for (std::size_t i = 0; i < found.size(); ++i) hull_.beside(found[i], visit);
    if (found.size() > kMostNear)
      return some_of(found, physics::cell_direction(cell, cells_, 0.5, 0.5));
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  // Selects vertices evenly spaced around the axis m.
  std::vector<int> some_of(std::vector<int> found, const V& m) const {
    const V z = (1 / physics::norm(m)) * m,
            x = physics::cross(z, physics::unit3<double>(z.x * z.x < 0.5 ? 0 : 1)),
            y = physics::cross(z, x);
    V middle = physics::zero3<double>();
    for (const int v : found)
      middle = middle + (1 / static_cast<double>(found.size())) * hull_.vertex(v);
    const auto angle = [&](int v) {
      const V way = hull_.vertex(v) - middle;
      return std::atan2(physics::dot(y, way), physics::dot(x, way));
    };
    std::sort(found.begin(), found.end(),
              [&](int v, int w) { return std::pair(angle(v), v) < std::pair(angle(w), w); });
    std::vector<int> some;
    for (std::size_t k = 0; k < kStarts; ++k) some.push_back(found[k * found.size() / kStarts]);
    some.front() = ~some.front();
    return some;
  }

  bool passes(int w, int v) const {
    const V way = hull_.vertex(w) - hull_.vertex(v);
    return std::all_of(corner_.begin(), corner_.end(),
                       [&](const V& m) { return physics::dot(m, way) > 0; });
  }

  physics::HullRef hull_;
  int cells_, last_ = 0;
  std::array<V, 4> corner_;
  std::vector<int> seen_;  // the last cell for which a vertex was visited
};

}  // namespace

void HostModel::meshes(const Model& m) {
  physics::ModelView& w = view_;
  // a mesh that was not opened can neither collide nor be seen
  if (m.mesh_vert.empty()) return;
  w.nmesh = m.nmesh;
  w.mesh_vertadr = keep(m.mesh_vertadr);
  w.mesh_vertnum = keep(m.mesh_vertnum);
  w.mesh_vert = keep(m.mesh_vert);
  w.mesh_polyadr = keep(m.mesh_polyadr);
  w.mesh_polynum = keep(m.mesh_polynum);
  w.mesh_polynormal = keep(m.mesh_polynormal);
  const auto with_end = [](std::vector<int> adr, std::size_t end) {
    adr.push_back(static_cast<int>(end));
    return adr;
  };
  w.mesh_polyvertadr = keep(with_end(m.mesh_polyvertadr, m.mesh_polyvert.size()));
  w.mesh_polyvert = keep(m.mesh_polyvert);
  w.mesh_polymapadr = keep(with_end(m.mesh_polymapadr, m.mesh_polymap.size()));
  w.mesh_polymap = keep(m.mesh_polymap);
  Lists edges;
  for (int mesh = 0; mesh < m.nmesh; ++mesh) {
    std::vector<std::set<int>> beside(at(m.mesh_vertnum[at(mesh)]));
    const int first = m.mesh_faceadr[at(mesh)], end = first + m.mesh_facenum[at(mesh)];
    for (int f = first; f < end; ++f)
      for (int k = 0; k < 3; ++k) {
        const int a = m.mesh_face[at(3 * f + k)], b = m.mesh_face[at(3 * f + (k + 1) % 3)];
        beside[at(a)].insert(b), beside[at(b)].insert(a);
      }
    for (const std::set<int>& vertices : beside) {
      edges.items.insert(edges.items.end(), vertices.begin(), vertices.end());
      edges.end_list();
    }
  }
  w.mesh_edgeadr = keep(edges.adr);
  w.mesh_edge = keep(edges.items);
  Lists near;
  std::vector<int> cells, celladr;
  for (int mesh = 0; mesh < m.nmesh; ++mesh) {
    const int vertices = m.mesh_vertnum[at(mesh)];
    cells.push_back(vertices > 0 ? cells_of(vertices) : 0);
    celladr.push_back(static_cast<int>(near.adr.size()) - 1);
    NearVertices vertices_of({&w, mesh}, cells.back());
    for (int cell = 0; cell < physics::cell_count(cells.back()); ++cell) {
      const std::vector<int> found = vertices_of.of(cell);
      near.items.insert(near.items.end(), found.begin(), found.end());
      near.end_list();
    }
  }
  w.mesh_cells = keep(cells);
  w.mesh_celladr = keep(celladr);
  w.mesh_nearadr = keep(near.adr);
  w.mesh_near = keep(near.items);
}

}  // namespace stiction::cpu
