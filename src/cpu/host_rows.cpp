// The table of rows of a model, and the structure of the factor: physics/README.md, "Rows" and "The factor".
#include <algorithm>
#include <set>

#include "cpu/factor_lists.h"
#include "cpu/host_model.h"
#include "index.h"
#include "physics/solver/factor.h"

namespace stiction::cpu {
// The entries of all moment arms once more, by dof.
void HostModel::moments_by_dof() {
  physics::ModelView& w = view_;
  std::vector<int> coord(at(w.nmoment));
  for (int c = 0; c < w.ncoord; ++c)
    for (int k = w.coord_momentadr[c]; k < w.coord_momentadr[c + 1]; ++k) coord[at(k)] = c;
  Lists of_dof;
  for (int i = 0; i < w.nv; ++i) {
    for (int k = 0; k < w.nmoment; ++k)
      if (w.moment_dof[k] == i) of_dof.items.push_back(k);
    of_dof.end_list();
  }
  w.dof_momentadr = keep(of_dof.adr);
  w.dof_moment = keep(of_dof.items);
  w.moment_coord = keep(coord);
}

// The table of rows by coordinate, and where they act.
void HostModel::rows() {
  physics::ModelView& w = view_;
  std::vector<int> adr{0}, limits(dof_limited_), lengths, dofs;
  limits.resize(at(w.ncoord));
  for (int c = 0; c < w.nv + w.nu; ++c)
    adr.push_back(adr.back() + limits[at(c)] +
                  (c < w.nv ? w.dof_rubs[c] : w.actuator_mayservo[c - w.nv]));
  tendon_rows(adr, limits);
  for (int ball = 0; ball < w.nball; ++ball) {
    limits[at(w.ncoord - w.nball + ball)] = 1;
    adr.push_back(adr.back() + 1);
  }
  w.row_coord_end = w.nrowservo = 0;
  for (int c = 0; c < w.ncoord; ++c) {
    if (adr[at(c)] == adr[at(c + 1)]) continue;
    w.row_coord_end = c + 1;
    if (c >= w.nv) lengths.push_back(c);
    if (c >= w.nv && c < w.nv + w.nu) ++w.nrowservo;
  }
  w.coord_limited = keep(limits);
  const auto has_rows = [&](int c) { return adr[at(c + 1)] > adr[at(c)]; };
  Lists moment;
  for (int i = 0; i < w.nv; ++i) {
    for (int k = w.dof_momentadr[i]; k < w.dof_momentadr[i + 1]; ++k)
      if (has_rows(w.moment_coord[w.dof_moment[k]])) moment.items.push_back(w.dof_moment[k]);
    moment.end_list();
    if (has_rows(i) || moment.adr[at(i + 1)] > moment.adr[at(i)]) dofs.push_back(i);
  }
  w.coord_rowadr = keep(adr);
  w.dof_rowmomentadr = keep(moment.adr), w.dof_rowmoment = keep(moment.items);
  w.nrowlength = static_cast<int>(lengths.size()), w.nrowdof = static_cast<int>(dofs.size());
  w.row_length = keep(lengths), w.row_dof = keep(dofs);
  structure();
}

// Joints of turn_jnt whose change of velocity acts on a dof: `parent` is the elimination tree of all that A couples.
void HostModel::turning_by_dof(const std::vector<int>& parent) {
  physics::ModelView& w = view_;
  std::vector<std::set<int>> turns(at(w.nv));
  for (int n = 0; n < w.nturn; ++n) {
    const int joint = w.turn_jnt[n], first = w.jnt_dofadr[joint];
    for (int i = first; i < w.nv && w.dof_jntid[i] == joint; ++i) {
      turns[at(i)].insert(n);
      for (int above = parent[at(i)]; above >= 0; above = parent[at(above)])
        turns[at(above)].insert(n);
    }
    for (int i = first + 1; i < w.nv; ++i) {
      int above = i;
      while (above >= first && w.dof_jntid[above] != joint) above = parent[at(above)];
      if (above >= first) turns[at(i)].insert(n);
    }
  }
  Lists lists;
  for (const std::set<int>& joints : turns) {
    lists.items.insert(lists.items.end(), joints.begin(), joints.end());
    lists.end_list();
  }
  w.dof_turnadr = keep_structure(lists.adr), w.dof_turn = keep_structure(lists.items);
}

// Groups of trees: `parent` is the forest that the structure of the factor makes of them.
void HostModel::groups(const std::vector<int>& parent) {
  physics::ModelView& w = view_;
  std::vector<int> of_dof(at(w.nv)), adr{0}, dofs, of_body(at(w.nbody), -1);
  w.ngroup = 0;
  for (int i = 0; i < w.nv; ++i)
    of_dof[at(i)] = parent[at(i)] < 0 ? w.ngroup++ : of_dof[at(parent[at(i)])];
  for (int g = 0; g < w.ngroup; ++g) {
    for (int i = 0; i < w.nv; ++i)
      if (of_dof[at(i)] == g) dofs.push_back(i);
    adr.push_back(static_cast<int>(dofs.size()));
  }
  for (int b = 0; b < w.nbody; ++b)
    if (w.body_lastdof[b] >= 0) of_body[at(b)] = of_dof[at(w.body_lastdof[b])];
  light_parts(adr, dofs, of_body);
  w.group_dofadr = keep_structure(adr), w.group_dof = keep_structure(dofs);
  w.body_groupid = keep_structure(of_body);
}

// The largest subtrees with joints whose mass is less than kLight of their group's follow the groups.
void HostModel::light_parts(std::vector<int>& adr, std::vector<int>& dofs,
                            const std::vector<int>& of_body) {
  constexpr double kLight = 1e-3;
  physics::ModelView& w = view_;
  std::vector<double> mass(at(w.ngroup)), share(at(w.ngroup), 1.0);
  std::vector<int> whole, light(at(w.nbody), -1);
  for (int g = 0; g < w.ngroup; ++g) whole.push_back(g);
  const auto is_root = [&](int b) { return of_body[at(w.body_parentid[b])] < 0; };
  for (int b = 1; b < w.nbody; ++b)
    if (of_body[at(b)] >= 0 && is_root(b)) mass[at(of_body[at(b)])] += subtree_mass_[at(b)];
  for (int b = 1; b < w.nbody; ++b) {
    const int group = of_body[at(b)];
    if (group < 0 || is_root(b)) continue;
    light[at(b)] = light[at(w.body_parentid[b])];
    const double part = subtree_mass_[at(b)];
    if (light[at(b)] >= 0 || w.body_dofnum[b] == 0 || !(part < kLight * mass[at(group)])) continue;
    light[at(b)] = w.ngroup++;
    whole.push_back(group), share.push_back(part / mass[at(group)]);
    for (int i = w.body_dofadr[b]; i < w.nv && w.dof_bodyid[i] < w.body_end[b]; ++i)
      dofs.push_back(i);
    adr.push_back(static_cast<int>(dofs.size()));
  }
  w.group_whole = keep_structure(whole), w.group_share = keep_structure(share);
  w.body_lightid = keep_structure(light);
}

// The structure of the factor that tree, rows and body blocks make, or of a dense one.
void HostModel::structure() {
  physics::ModelView& w = view_;
  std::vector<int> parent(w.dof_parentid, w.dof_parentid + w.nv);
  for (int k = 0; k < w.nrowlength; ++k) {
    const int begin = w.coord_momentadr[w.row_length[k]];
    const int end = w.coord_momentadr[w.row_length[k] + 1];
    for (int x = begin; x < end; ++x)
      for (int y = begin; y < end; ++y)
        if (w.moment_dof[x] > w.moment_dof[y])
          physics::link(parent.data(), w.moment_dof[x], w.moment_dof[y]);
  }
  for (int k = 0; k < w.neq; ++k)
    for (int x = w.block_adr[k]; x < w.block_adr[k + 1]; ++x)
      for (int y = w.block_adr[k]; y < x; ++y)
        physics::link(parent.data(), w.block_dof[x], w.block_dof[y]);
  groups(parent);
  FactorLists lists = factor_lists(parent);
  w.nfactorlevel = static_cast<int>(lists.level_adr.size()) - 1;
  w.factor_parent = keep_structure(parent), w.factor_last = keep_structure(lists.last);
  w.factor_leveladr = keep_structure(lists.level_adr);
  w.factor_panel = keep_structure(lists.panel);
  turning_by_dof(parent);
  for (int i = 0; i < w.nv && dense_; ++i) parent[at(i)] = i - 1;
  std::vector<int> num(at(w.nv)), run_adr(at(w.nv1)), run_first(at(w.ntri)), run_end(at(w.ntri)),
      below_adr(at(w.nv1)), below_row(at(w.ntri)), below_place(at(w.ntri));
  physics::EnvView<double> e{};
  e.row_parent = parent.data(), e.row_num = num.data();
  e.run_adr = run_adr.data(), e.run_first = run_first.data(), e.run_end = run_end.data();
  e.below_adr = below_adr.data(), e.below_row = below_row.data();
  e.below_place = below_place.data();
  physics::structure(w, e);
  w.row_parent = keep_structure(parent), w.row_num = keep_structure(num);
  w.run_adr = keep_structure(run_adr), w.run_first = keep_structure(run_first);
  w.run_end = keep_structure(run_end), w.below_adr = keep_structure(below_adr);
  w.below_row = keep_structure(below_row), w.below_place = keep_structure(below_place);
}

}  // namespace stiction::cpu
