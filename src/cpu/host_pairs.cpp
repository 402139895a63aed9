// Pairs of geoms for src/physics, and the links that they belong to.
#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/host_model.h"
#include "index.h"

namespace stiction::cpu {
namespace {

// Link pairs with fewer pairs of geoms than this are compared without their boxes.
constexpr int kFewPairs = 3;

bool of_plane(const Model& m, int pair) {
  return m.geom_type[at(m.pair_geom1[at(pair)])] <= GeomType::hfield;
}

}  // namespace

void HostModel::pairs(const Model& m) {
  physics::ModelView& w = view_;
  w.pair_geom1 = keep(m.pair_geom1);
  w.pair_geom2 = keep(m.pair_geom2);
  w.pair_condim = keep(m.pair_condim);
  w.pair_explicit = keep(m.pair_explicit);
  w.pair_slotadr = keep(m.pair_slotadr);
  w.pair_slotnum = keep(m.pair_slotnum);
  std::vector<int> slot_pair;
  for (int p = 0; p < m.npair; ++p) slot_pair.insert(slot_pair.end(), at(m.pair_slotnum[at(p)]), p);
  w.slot_pair = keep(slot_pair);
  // adhesion is compiled only with all colliders
  w.colliders = w.nadhesion > 0 ? physics::Colliders::hfields : physics::Colliders::round;
  for (int p = 0; p < m.npair; ++p)
    w.colliders =
        std::max(w.colliders, physics::colliders_of(m.geom_type[at(m.pair_geom1[at(p)])],
                                                    m.geom_type[at(m.pair_geom2[at(p)])]));
  std::vector<bool> meets(at(m.ngeom)), meets_shape(at(m.ngeom));
  for (int p = 0; p < m.npair; ++p)
    for (const int g : {m.pair_geom1[at(p)], m.pair_geom2[at(p)]}) {
      meets[at(g)] = true;
      if (!of_plane(m, p)) meets_shape[at(g)] = true;
    }
  std::vector<int> paired, hulls;
  for (int g = 0; g < m.ngeom; ++g) {
    if (meets[at(g)]) paired.push_back(g);
    if (meets_shape[at(g)]) hulls.push_back(g);
  }
  w.npairgeom = static_cast<int>(paired.size());
  w.pair_geom = keep(paired);
  w.nhullgeom = static_cast<int>(hulls.size());
  w.hull_geom = keep(hulls);
  links(m);
}

// Pairs of the same two links are consecutive, since pairs are sorted by their bodies, and those with a geom of the
// world by that geom.
void HostModel::links(const Model& m) {
  physics::ModelView& w = view_;
  Lists geoms;
  std::vector<int> link_of(at(m.ngeom), -1);
  for (int i = 0, last = -1; i < w.nhullgeom; ++i) {
    const int g = w.hull_geom[i], body = m.geom_bodyid[at(g)];
    if (i > 0 && (body == 0 || body != last)) geoms.end_list();
    last = body;
    link_of[at(g)] = static_cast<int>(geoms.adr.size()) - 1;
    geoms.items.push_back(g);
  }
  if (w.nhullgeom > 0) geoms.end_list();
  w.nlink = static_cast<int>(geoms.adr.size()) - 1;
  w.link_geomadr = keep(geoms.adr);
  w.link_geom = keep(geoms.items);

  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<int> adr, link;
  std::vector<double> margin, horizon;
  std::pair<int, int> last{-2, -2};
  for (int p = 0; p < m.npair; ++p) {
    std::pair<int, int> now{-1, -1};
    if (!of_plane(m, p))
      now = std::minmax(link_of[at(m.pair_geom1[at(p)])], link_of[at(m.pair_geom2[at(p)])]);
    if (now != last) {
      adr.push_back(p), link.insert(link.end(), {now.first, now.second});
      margin.push_back(now.first < 0 ? kInfinite : -kInfinite);
      horizon.push_back(w.opt.timestep);
    }
    last = now;
    // an explicit pair has its own friction, not that of its geoms
    margin.back() =
        std::max(margin.back(), m.pair_explicit[at(p)] != 0 ? kInfinite : m.pair_margin[at(p)]);
    if (w.opt.contact_model == physics::kSap)
      horizon.back() = std::max(horizon.back(), w.opt.timestep + m.pair_relaxation_time[at(p)]);
  }
  w.nlinkpair = static_cast<int>(adr.size());
  adr.push_back(m.npair);
  for (std::size_t i = 0; i < margin.size(); ++i)
    if (adr[i + 1] - adr[i] < kFewPairs) margin[i] = kInfinite;
  w.linkpair_adr = keep(adr);
  w.linkpair_link = keep(link);
  w.linkpair_margin = keep(margin);
  w.linkpair_horizon = keep(horizon);
}

void HostModel::compare_all_pairs() {
  view_.linkpair_margin =
      keep(std::vector<double>(at(view_.nlinkpair), std::numeric_limits<double>::infinity()));
}

}  // namespace stiction::cpu
