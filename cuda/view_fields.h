// The fields that each kernel for a tile or a block uses, with all colliders and drives, in the order of
// fields.def; the solve in rounds has those of solve. kernel_view.h builds views from them.
#pragma once

// clang-format off
#define STICTION_FIELDS_OF_step(V) \
  V(qpos) V(qvel) V(time) V(act) V(friction_anchor) V(anchor) V(rebound) V(body_airtime) V(mocap_xpos) V(mocap_xquat) V(mocap_xvel) V(qacc_warmstart) V(ctrl) \
  V(qfrc_applied) V(xfrc_applied) V(mocap_pos) V(mocap_quat) V(mocap_vel) V(eq_active) V(gravity) V(body_pos) \
  V(body_quat) V(body_mass) V(body_ipos) V(body_iquat) V(body_inertia) V(body_gravcomp) V(jnt_pos) \
  V(jnt_axis) V(jnt_range) V(jnt_margin) V(jnt_solref) V(jnt_stiffness) V(jnt_actfrcrange) V(qpos0) \
  V(qpos_spring) V(dof_armature) V(dof_damping) V(dof_frictionloss) V(geom_size) V(geom_pos) V(geom_quat) \
  V(geom_dataid) V(geom_surfacevel) V(geom_friction) V(pair_friction) V(pair_torsion) V(pair_rolling) V(pair_margin) \
  V(pair_stiffness) V(pair_dissipation) V(pair_restitution) V(pair_relaxation_time) V(pair_weight) V(site_pos) V(site_quat) \
  V(site_size) V(actuator_gear) V(actuator_gain) V(actuator_bias) V(actuator_ctrlrange) \
  V(actuator_forcerange) V(actuator_dynprm) V(actuator_actrange) V(actuator_muscle) V(actuator_lengthrange) \
  V(tendon_range) V(tendon_margin) V(tendon_solref) V(tendon_stiffness) V(tendon_lengthspring) \
  V(tendon_damping) V(tendon_armature) V(tendon_frictionloss) V(tendon_actfrcrange) V(wrap_coef) V(eq_data) \
  V(eq_stiffness) V(eq_relaxation_time) V(xpos) V(xquat) V(qacc) V(qfrc_actuator) V(qfrc_constraint) \
  V(xfrc_contact) V(sensordata) V(solver_niter) V(solver_nls) V(solver_residual) V(ncon) V(xmat) \
  V(late_anchor) V(xoff) V(xioff) V(cdof) V(cinert) V(crb) V(A) V(mocap_twist) V(cvel0) V(cacc) V(cfrc) V(qfrc_bias) \
  V(cfrc_fluid) V(fluid_drag) V(qfrc_fluid) V(cfrc_applied) V(qfrc_bodies) V(qfrc_lift) V(qfrc_smooth) \
  V(act_length) V(act_velocity) V(act_law) V(act_pull) V(cfrc_adhesion) V(act_next) V(moment) V(ten_length) \
  V(ten_velocity) V(turn_body) V(turn_v) V(row_law) V(row_impulse) V(row_hess) V(row_dual) V(block_r) V(block_jacobian) \
  V(block_law) V(block_impulse) V(v_free) V(rows_act) V(cvel_free) V(inv_diag) V(geom_xpos) V(geom_off) \
  V(geom_bar) V(geom_bound) V(near_pair) V(pair_near) V(cand_gap) V(cand_normal) V(cand_r1) V(cand_r2) \
  V(cand_active) V(cand_slot) V(ncand) V(point_slot) V(point_body) V(point_weld) V(point_normal) V(point_r1) \
  V(point_r2) V(point_gap) V(point_w) V(point_mu) V(point_n0) V(point_eps) V(point_shift) V(point_anchor) V(point_drift) \
  V(point_couple_law) V(point_couple_shift) V(point_law) V(point_d) V(point_approach) V(point_vel) V(point_dvel) \
  V(point_impulse) V(point_hess) V(point_dual) V(point_r) V(point_push) V(point_miss) V(point_line) V(point_omega) V(point_domega) V(point_couple) \
  V(point_couple_hess) V(point_couple_line) V(body_vel) V(path_J) V(momentum) V(Av) V(v) V(dv) V(Adv) \
  V(gradient) V(contact_impulse) V(H) V(solver_nsolve) V(inv_A) V(point_spatial) V(body_pointadr) \
  V(body_point) V(npoint) V(live_point) V(nlive) V(live_cross) V(nlivecross) V(point_next) V(line_point) \
  V(path_dof) V(path_side) V(path_col) V(npath) V(nfactorlevel) V(anchor_row) V(nanchorrow) \
  V(row_parent) V(row_num) V(run_adr) V(run_first) V(below_adr) V(flags) V(active)

#define STICTION_FIELDS_OF_solve(V) \
  V(qvel) V(qacc_warmstart) V(qacc) V(qfrc_actuator) V(qfrc_constraint) V(xfrc_contact) V(solver_niter) \
  V(solver_nls) V(solver_residual) V(ncon) V(xioff) V(cdof) V(A) V(qfrc_smooth) V(moment) V(row_law) \
  V(row_impulse) V(row_hess) V(row_dual) V(block_jacobian) V(block_law) V(block_impulse) V(v_free) V(rows_act) \
  V(cand_active) V(point_slot) V(point_weld) V(point_normal) V(point_r1) V(point_r2) V(point_w) V(point_mu) \
  V(point_n0) V(point_eps) V(point_shift) V(point_couple_law) V(point_couple_shift) V(point_law) V(point_d) \
  V(point_vel) V(point_dvel) V(point_impulse) V(point_hess) V(point_dual) V(point_r) V(point_push) V(point_miss) V(point_line) V(point_omega) V(point_domega) \
  V(point_couple) V(point_couple_hess) V(point_couple_line) V(path_J) V(momentum) V(Av) V(v) V(dv) V(Adv) \
  V(gradient) V(contact_impulse) V(H) V(solver_nsolve) V(inv_A) V(point_spatial) V(body_pointadr) \
  V(body_point) V(npoint) V(live_point) V(nlive) V(live_cross) V(nlivecross) V(point_next) V(line_point) \
  V(path_dof) V(path_side) V(path_col) V(npath) V(nfactorlevel) V(row_parent) V(row_num) V(run_adr) V(run_first) \
  V(below_adr) V(flags) V(active)

#define STICTION_FIELDS_OF_refresh(V) \
  V(qpos) V(qvel) V(time) V(mocap_xpos) V(mocap_xquat) V(mocap_xvel) V(mocap_pos) V(mocap_quat) V(gravity) V(body_pos) V(body_quat) V(body_mass) \
  V(body_ipos) V(body_iquat) V(body_inertia) V(jnt_pos) V(jnt_axis) V(jnt_range) V(jnt_margin) \
  V(jnt_stiffness) V(qpos0) V(qpos_spring) V(dof_armature) V(geom_size) V(geom_pos) V(geom_quat) \
  V(geom_dataid) V(site_pos) V(site_quat) V(site_size) V(actuator_gear) V(tendon_range) V(tendon_margin) \
  V(tendon_stiffness) V(tendon_lengthspring) V(tendon_armature) V(wrap_coef) V(xpos) V(xquat) V(xvel) \
  V(qacc) V(qfrc_actuator) V(qfrc_constraint) V(xfrc_contact) V(sensordata) V(solver_niter) V(solver_nls) \
  V(solver_residual) V(ncon) V(xmat) V(late_anchor) V(xoff) V(xioff) V(cdof) V(act_length) V(moment) \
  V(ten_length) V(ten_velocity)

// clang-format on
