// Copies of the arrays of a ModelView in another memory.
#include <cstring>

#include "cpu/host_model.h"

namespace stiction::cpu {
namespace {

constexpr std::size_t whole_words(std::size_t bytes) {
  return (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

template <class F>
void for_arrays(physics::ModelView& w, const F& f) {
  const auto each = [&](auto&... array) { (f(array), ...); };
  each(w.level_adr, w.level_body, w.child_adr, w.child_body);
  each(w.body_parentid, w.body_mocapid, w.body_carrier, w.mocap_body, w.body_aligned, w.body_jntadr,
       w.body_jntnum);
  each(w.body_dofadr, w.body_dofnum, w.body_treeid, w.body_lastdof, w.body_weldid, w.body_end);
  each(w.body_translation, w.tree_body, w.tree_end, w.tree_origin, w.body_late, w.late_body);
  each(w.jnt_type, w.jnt_qposadr, w.jnt_dofadr, w.jnt_actfrclimited, w.jnt_actgravcomp, w.turn_jnt,
       w.ball_jnt);
  each(w.dof_bodyid, w.dof_jntid, w.dof_parentid, w.dof_freerot, w.dof_rubs, w.dof_turnadr,
       w.dof_turn);
  each(w.coord_rowadr, w.coord_limited, w.coord_momentadr, w.moment_dof, w.moment_coord,
       w.dof_momentadr);
  each(w.dof_moment, w.dof_rowmomentadr, w.dof_rowmoment, w.row_dof, w.row_length);
  each(w.eq_type, w.eq_body, w.eq_site, w.eq_jnt, w.eq_tendon, w.eq_native, w.block_adr);
  each(w.block_dof, w.block_side, w.block_of, w.block_moment, w.dof_blockadr, w.dof_blockentry);
  each(w.group_dofadr, w.group_dof, w.group_whole, w.group_share, w.body_groupid, w.body_lightid);
  each(w.row_parent, w.row_num, w.run_adr, w.run_first, w.run_end);
  each(w.below_adr, w.below_row, w.below_place);
  each(w.factor_parent, w.factor_last, w.factor_leveladr, w.factor_panel);
  each(w.geom_type, w.geom_bodyid, w.geom_priority, w.geom_rbound, w.geom_dataid, w.geom_raymask);
  each(w.mesh_vertadr, w.mesh_vertnum, w.mesh_vert, w.mesh_edgeadr, w.mesh_edge);
  each(w.mesh_cells, w.mesh_celladr, w.mesh_nearadr, w.mesh_near);
  each(w.mesh_polyadr, w.mesh_polynum, w.mesh_polynormal, w.mesh_polyvertadr, w.mesh_polyvert);
  each(w.mesh_polymapadr, w.mesh_polymap);
  each(w.hfield_nrow, w.hfield_ncol, w.hfield_adr, w.hfield_size, w.hfield_data, w.hfield_top,
       w.hfield_bottom);
  each(w.pair_geom1, w.pair_geom2, w.pair_condim, w.pair_explicit, w.pair_slotadr);
  each(w.pair_slotnum, w.slot_pair, w.pair_geom, w.hull_geom);
  each(w.link_geomadr, w.link_geom, w.linkpair_adr, w.linkpair_link, w.linkpair_margin,
       w.linkpair_horizon);
  each(w.body_fluidadr, w.fluid_geom, w.fluid_coef);
  each(w.site_bodyid, w.site_type);
  each(w.actuator_trntype, w.actuator_trnid, w.actuator_ctrllimited, w.actuator_forcelimited);
  each(w.actuator_dyntype, w.actuator_actadr, w.actuator_actlimited, w.actuator_actearly);
  each(w.actuator_gainmuscle, w.actuator_biasmuscle, w.actuator_refid, w.actuator_cranklength);
  each(w.actuator_mayservo, w.actuator_onball, w.actuator_bounded);
  each(w.tendon_adr, w.tendon_num, w.tendon_fixed, w.tendon_limitrow, w.tendon_springrow);
  each(w.tendon_dragrow, w.tendon_rubrow, w.tendon_length0);
  each(w.wrap_type, w.wrap_objid, w.wrap_sideid, w.wrap_moment);
  each(w.sensor_type, w.sensor_objtype, w.sensor_objid, w.sensor_reftype, w.sensor_refid);
  each(w.sensor_adr, w.sensor_dim, w.sensor_interval, w.sensor_cutoff, w.sensor_reach);
  each(w.jnt_stiffnesspoly, w.dof_dampingpoly, w.tendon_stiffnesspoly, w.tendon_dampingpoly);
  each(w.cam_bodyid, w.cam_pos, w.cam_quat, w.cam_lens);
}

}  // namespace

std::size_t HostModel::array_bytes() const {
  std::size_t bytes = 0;
  const auto add = [&](const auto& arrays) {
    for (const auto& v : arrays) bytes += whole_words(v.size() * sizeof v[0]);
  };
  add(ints_), add(structure_), add(shares_), add(floats_), add(doubles_);
  return bytes;
}

physics::ModelView HostModel::copy_arrays(std::byte* to, const std::byte* address) const {
  physics::ModelView copy = view_;
  std::size_t begin = 0;
  const auto move = [&](const auto& arrays) {
    for (const auto& v : arrays) {
      if (v.empty()) continue;
      std::memcpy(to + begin, v.data(), v.size() * sizeof v[0]);
      for_arrays(copy, [&](auto*& array) {
        using T = std::remove_reference_t<decltype(array)>;
        if (static_cast<const void*>(array) == v.data())
          array = reinterpret_cast<T>(address + begin);
      });
      begin += whole_words(v.size() * sizeof v[0]);
    }
  };
  move(ints_), move(structure_), move(shares_), move(floats_), move(doubles_);
  return copy;
}

}  // namespace stiction::cpu
