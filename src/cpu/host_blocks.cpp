// Blocks: the equality constraints of a model, physics/constraint/equalities.h.
#include <map>

#include "cpu/host_model.h"
#include "index.h"

namespace stiction::cpu {
namespace {

// A column of J: which of the two sides its dof moves, and its positions in the moment arms of both tendons.
struct Column {
  int side = 0;
  int moment[2] = {-1, -1};
};
using Columns = std::map<int, Column>;  // keyed by dof

}  // namespace

// For bodies: the dofs on the paths to their roots. A dof that moves both bodies of a weld at one point cancels.
void HostModel::blocks(const Model& m) {
  physics::ModelView& w = view_;
  std::vector<int> types, bodies, sites, joints, tendons, adr{0}, dofs, side, of, moments;
  for (int i = 0; i < m.neq; ++i) {
    const EqualityType type = m.eq_type[at(i)];
    const bool of_sites = m.eq_objtype[at(i)] == ObjectType::site;
    Columns columns;
    types.push_back(static_cast<int>(type));
    for (const int n : {0, 1}) {
      const int id = n == 0 ? m.eq_obj1id[at(i)] : m.eq_obj2id[at(i)], bit = 1 << n;
      bodies.push_back(0), sites.push_back(-1), joints.push_back(-1), tendons.push_back(-1);
      switch (type) {
        case EqualityType::connect:
        case EqualityType::weld:
          bodies.back() = of_sites ? m.site_bodyid[at(id)] : id;
          if (of_sites) sites.back() = id;
          for (int d = w.body_lastdof[bodies.back()]; d >= 0; d = w.dof_parentid[d])
            columns[d].side |= bit;
          break;
        case EqualityType::joint:
          joints.back() = id;
          if (id >= 0) columns[m.jnt_dofadr[at(id)]].side |= bit;
          break;
        case EqualityType::tendon: {
          tendons.back() = id;
          if (id < 0) break;
          const int c = w.nv + w.nu + id;
          for (int x = w.coord_momentadr[c]; x < w.coord_momentadr[c + 1]; ++x) {
            Column& column = columns[w.moment_dof[x]];
            column.side |= bit, column.moment[n] = x;
          }
          break;
        }
      }
    }
    for (const auto& [d, column] : columns) {
      if (column.side == 3 && type == EqualityType::weld) continue;
      dofs.push_back(d), side.push_back(column.side), of.push_back(i);
      moments.insert(moments.end(), {column.moment[0], column.moment[1]});
    }
    adr.push_back(static_cast<int>(dofs.size()));
  }
  std::vector<int> dof_adr{0}, entries;
  for (int d = 0; d < m.nv; ++d) {
    for (std::size_t x = 0; x < side.size(); ++x)
      if (dofs[x] == d) entries.push_back(static_cast<int>(x));
    dof_adr.push_back(static_cast<int>(entries.size()));
  }
  w.nblockdof = static_cast<int>(side.size());
  w.eq_type = keep(types), w.eq_body = keep(bodies), w.eq_site = keep(sites);
  w.eq_jnt = keep(joints), w.eq_tendon = keep(tendons), w.eq_native = keep(m.eq_native);
  w.block_adr = keep(adr), w.block_dof = keep(dofs), w.block_side = keep(side);
  w.block_of = keep(of), w.block_moment = keep(moments);
  w.dof_blockadr = keep(dof_adr), w.dof_blockentry = keep(entries);
}

}  // namespace stiction::cpu
