// The body blocks of a model: physics/equalities.h.
#include "cpu/host_model.h"

namespace stiction::cpu {
namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

// Connects and welds: the columns of a Jacobian are the dofs that move one of the bodies. What moves both
// of a weld, at one point, moves nothing against it.
void HostModel::blocks(const Model& m) {
  physics::ModelView& w = view_;
  std::vector<int> adr{0}, dofs, dof_adr{0}, entries;
  std::vector<int> eq, weld, bodies, sites, native, side, block;
  for (int i = 0; i < m.neq; ++i) {
    const EqualityType type = m.eq_type[at(i)];
    if (type != EqualityType::connect && type != EqualityType::weld) continue;
    const bool of_sites = m.eq_objtype[at(i)] == ObjectType::site;
    std::vector<int> moves(at(m.nv), 0);
    for (const int n : {0, 1}) {
      const int id = n == 0 ? m.eq_obj1id[at(i)] : m.eq_obj2id[at(i)];
      bodies.push_back(of_sites ? m.site_bodyid[at(id)] : id);
      sites.push_back(of_sites ? id : -1);
      for (int d = w.body_lastdof[bodies.back()]; d >= 0; d = w.dof_parentid[d])
        moves[at(d)] += n + 1;
    }
    for (int d = 0; d < m.nv; ++d) {
      if (moves[at(d)] == 0 || (moves[at(d)] == 3 && type == EqualityType::weld)) continue;
      dofs.push_back(d), side.push_back(moves[at(d)]);
      block.push_back(static_cast<int>(eq.size()));
    }
    adr.push_back(static_cast<int>(dofs.size()));
    eq.push_back(i), weld.push_back(type == EqualityType::weld ? 1 : 0);
    native.push_back(m.eq_native[at(i)]);
  }
  for (int d = 0; d < m.nv; ++d) {
    for (std::size_t x = 0; x < side.size(); ++x)
      if (dofs[x] == d) entries.push_back(static_cast<int>(x));
    dof_adr.push_back(static_cast<int>(entries.size()));
  }
  w.nblock = static_cast<int>(eq.size()), w.nblockdof = static_cast<int>(side.size());
  w.block_eq = keep(eq), w.block_weld = keep(weld), w.block_body = keep(bodies);
  w.block_site = keep(sites), w.block_native = keep(native), w.block_adr = keep(adr);
  w.block_dof = keep(dofs), w.block_side = keep(side), w.block_of = keep(block);
  w.dof_blockadr = keep(dof_adr), w.dof_blockentry = keep(entries);
}

}  // namespace stiction::cpu
