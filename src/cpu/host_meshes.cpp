// Hulls of meshes for the physics text: adjacency of the vertices, and where searches begin.
#include <algorithm>
#include <set>

#include "cpu/host_model.h"
#include "physics/collision/convex/convex_hull.h"

namespace stiction::cpu {
namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// The first of the vertices that are farthest along d.
int farthest(const Model& m, int mesh, const physics::Vec3<double>& d) {
  int best = 0;
  double most = 0;
  for (int v = 0; v < m.mesh_vertnum[at(mesh)]; ++v) {
    const double* p = &m.mesh_vert[3 * at(m.mesh_vertadr[at(mesh)] + v)];
    const double along = d.x * p[0] + d.y * p[1] + d.z * p[2];
    if (v == 0 || along > most) most = along, best = v;
  }
  return best;
}

}  // namespace

void HostModel::meshes(const Model& m) {
  physics::ModelView& w = view_;
  // of a mesh that was not opened there is nothing to collide with or to see
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
  std::vector<int> starts;
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
    for (int cell = 0; cell < physics::kMeshStarts; ++cell)
      starts.push_back(farthest(m, mesh, physics::start_direction(cell)));
  }
  w.mesh_edgeadr = keep(edges.adr);
  w.mesh_edge = keep(edges.items);
  w.mesh_start = keep(starts);
}

}  // namespace stiction::cpu
