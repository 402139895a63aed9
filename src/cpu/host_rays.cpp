// Geoms that rays may hit, for src/physics.
#include <algorithm>

#include "cpu/host_model.h"
#include "index.h"

namespace stiction::cpu {
// As in MuJoCo a group beyond the last counts as the last, and fully transparent geoms are ignored.
void HostModel::rays(const Model& m) {
  std::vector<int> masks;
  for (int g = 0; g < m.ngeom; ++g) {
    const int data = m.geom_dataid[at(g)], group = m.geom_group[at(g)];
    const bool empty = (m.geom_type[at(g)] == GeomType::mesh && m.mesh_vertnum[at(data)] == 0) ||
                       (m.geom_type[at(g)] == GeomType::hfield && m.hfield_nrow[at(data)] == 0);
    const bool fixed = m.body_weldid[at(m.geom_bodyid[at(g)])] == 0;
    masks.push_back(empty || m.geom_alpha[at(g)] == 0
                        ? 0
                        : (1 << std::clamp(group, 0, kGeomGroups - 1)) |
                              (fixed ? physics::kRayStatic : 0));
  }
  view_.geom_raymask = keep(masks);
}

}  // namespace stiction::cpu
