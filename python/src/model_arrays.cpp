// Every array of Model as a read-only NumPy view.
#include "arrays.h"
#include "module.h"

namespace stiction::python {
namespace {

// The field as rows of `Columns` numbers (none: one number per row).
template <int... Columns, class T>
void def(nb::class_<LoadedModel>& c, const char* name, std::vector<T> Model::*field,
         const char* doc) {
  c.def_prop_ro(
      name,
      [field](nb::handle_t<LoadedModel> self) {
        const std::vector<T>& v = (*nb::cast<const LoadedModel&>(self).model).*field;
        return view<Columns...>(v.data(), v.size(), self);
      },
      doc);
}

// A keyframe field: one row per key, as many columns as `columns` says.
void def_key(nb::class_<LoadedModel>& c, const char* name, Reals Model::*field, int Model::*columns,
             const char* doc) {
  c.def_prop_ro(
      name,
      [field, columns](nb::handle_t<LoadedModel> self) {
        const Model& m = *nb::cast<const LoadedModel&>(self).model;
        return matrix_view((m.*field).data(), static_cast<std::size_t>(m.nkey),
                           static_cast<std::size_t>(m.*columns), self);
      },
      doc);
}

// One row per key and mocap body.
template <std::size_t columns>
void def_key_poses(nb::class_<LoadedModel>& c, const char* name, Reals Model::*field,
                   const char* doc) {
  c.def_prop_ro(
      name,
      [field](nb::handle_t<LoadedModel> self) {
        const Model& m = *nb::cast<const LoadedModel&>(self).model;
        static constinit double nothing{};
        const std::vector<double>& all = m.*field;
        return nb::ndarray<nb::numpy, const double, nb::shape<-1, -1, columns>>(
            all.empty() ? &nothing : all.data(),
            {static_cast<std::size_t>(m.nkey), static_cast<std::size_t>(m.nmocap), columns}, self);
      },
      doc);
}

void bodies(nb::class_<LoadedModel>& c) {
  def(c, "body_parentid", &Model::body_parentid, "(nbody,) parent; the world's is 0");
  def(c, "body_rootid", &Model::body_rootid, "(nbody,) top ancestor below the world");
  def(c, "body_weldid", &Model::body_weldid, "(nbody,) nearest ancestor-or-self with joints, or 0");
  def(c, "body_jntadr", &Model::body_jntadr, "(nbody,) first joint, or -1");
  def(c, "body_jntnum", &Model::body_jntnum, "(nbody,) number of joints");
  def(c, "body_dofadr", &Model::body_dofadr, "(nbody,) first dof, or -1");
  def(c, "body_dofnum", &Model::body_dofnum, "(nbody,) number of dofs");
  def(c, "body_mocapid", &Model::body_mocapid, "(nbody,) index of a mocap body, or -1");
  def<3>(c, "body_pos", &Model::body_pos, "(nbody, 3) frame in the parent at qpos0, m");
  def<4>(c, "body_quat", &Model::body_quat, "(nbody, 4) frame in the parent at qpos0");
  def(c, "body_mass", &Model::body_mass, "(nbody,) kg");
  def<3>(c, "body_ipos", &Model::body_ipos, "(nbody, 3) centre of mass in the body, m");
  def<4>(c, "body_iquat", &Model::body_iquat, "(nbody, 4) principal axes in the body");
  def<3>(c, "body_inertia", &Model::body_inertia, "(nbody, 3) principal moments, kg m^2");
  def(c, "body_subtreemass", &Model::body_subtreemass, "(nbody,) kg");
  def(c, "body_gravcomp", &Model::body_gravcomp, "(nbody,) share of gravity compensated");
  def<2>(c, "body_invweight0", &Model::body_invweight0,
         "(nbody, 2) mean inverse inertia at qpos0: translation, rotation");
}

void joints(nb::class_<LoadedModel>& c) {
  def(c, "jnt_type", &Model::jnt_type, "(njnt,) values of JointType");
  def(c, "jnt_bodyid", &Model::jnt_bodyid, "(njnt,)");
  def(c, "jnt_qposadr", &Model::jnt_qposadr, "(njnt,) first element in qpos");
  def(c, "jnt_dofadr", &Model::jnt_dofadr, "(njnt,) first element in qvel");
  def<3>(c, "jnt_pos", &Model::jnt_pos, "(njnt, 3) anchor in the body, m");
  def<3>(c, "jnt_axis", &Model::jnt_axis, "(njnt, 3) unit axis in the body");
  def(c, "jnt_limited", &Model::jnt_limited, "(njnt,) 0 or 1");
  def<2>(c, "jnt_range", &Model::jnt_range, "(njnt, 2) m or rad; ball: 0 and the largest angle");
  def(c, "jnt_margin", &Model::jnt_margin, "(njnt,) the limit acts this far inside the range");
  def<2>(c, "jnt_solref", &Model::jnt_solref,
         "(njnt, 2) return of a violated limit: time constant in s and damping ratio, or\n"
         "-stiffness and -damping");
  def(c, "jnt_stiffness", &Model::jnt_stiffness, "(njnt,) N/m or N m/rad, about qpos_spring");
  def<2>(c, "jnt_stiffnesspoly", &Model::jnt_stiffnesspoly,
         "(njnt, 2) c1, c2 of the force -x (k + c1 x + c2 x**2); |x| of free and ball joints");
  def(c, "jnt_actfrclimited", &Model::jnt_actfrclimited, "(njnt,) 0 or 1");
  def<2>(c, "jnt_actfrcrange", &Model::jnt_actfrcrange,
         "(njnt, 2) clamp of the summed actuator force on the joint, N or N m");
  def(c, "jnt_actgravcomp", &Model::jnt_actgravcomp,
      "(njnt,) 1: compensated gravity is part of that sum");
  def(c, "qpos0", &Model::qpos0, "(nq,) reference pose");
  def(c, "qpos_spring", &Model::qpos_spring, "(nq,) rest pose of the joint springs");
  def(c, "dof_bodyid", &Model::dof_bodyid, "(nv,)");
  def(c, "dof_jntid", &Model::dof_jntid, "(nv,)");
  def(c, "dof_parentid", &Model::dof_parentid, "(nv,) previous dof towards the root, or -1");
  def(c, "dof_armature", &Model::dof_armature, "(nv,) reflected inertia, kg or kg m^2");
  def(c, "dof_damping", &Model::dof_damping, "(nv,) N s/m or N m s/rad");
  def<2>(c, "dof_dampingpoly", &Model::dof_dampingpoly,
         "(nv, 2) c1, c2 of the force -v (d + c1 |v| + c2 v**2)");
  def(c, "dof_frictionloss", &Model::dof_frictionloss, "(nv,) dry friction, N or N m");
  def(c, "dof_invweight0", &Model::dof_invweight0,
      "(nv,) diagonal of the inverse of M at qpos0, averaged per joint block");
}

void geoms(nb::class_<LoadedModel>& c) {
  def(c, "geom_type", &Model::geom_type, "(ngeom,) values of GeomType");
  def(c, "geom_bodyid", &Model::geom_bodyid, "(ngeom,)");
  def(c, "geom_contype", &Model::geom_contype, "(ngeom,) bit mask");
  def(c, "geom_conaffinity", &Model::geom_conaffinity, "(ngeom,) bit mask");
  def(c, "geom_condim", &Model::geom_condim, "(ngeom,) 1, 3, 4 or 6");
  def(c, "geom_priority", &Model::geom_priority, "(ngeom,)");
  def<3>(c, "geom_size", &Model::geom_size, "(ngeom, 3) MuJoCo's sizes, m");
  def<3>(c, "geom_pos", &Model::geom_pos, "(ngeom, 3) in the body, m");
  def<4>(c, "geom_quat", &Model::geom_quat, "(ngeom, 4) in the body");
  def(c, "geom_rbound", &Model::geom_rbound,
      "(ngeom,) radius of the bounding sphere, m, of a choice of meshes the largest; plane: 0");
  def<3>(c, "geom_friction", &Model::geom_friction, "(ngeom, 3) sliding, torsional, rolling");
  def<2>(c, "geom_solref", &Model::geom_solref, "(ngeom, 2) as in MuJoCo");
  def<5>(c, "geom_solimp", &Model::geom_solimp, "(ngeom, 5) as in MuJoCo");
  def(c, "geom_solmix", &Model::geom_solmix, "(ngeom,) as in MuJoCo");
  def(c, "geom_margin", &Model::geom_margin, "(ngeom,) m, moves the surface outwards");
  def(c, "geom_gap", &Model::geom_gap, "(ngeom,) m, widens detection only");
  def(c, "geom_native", &Model::geom_native,
      "(ngeom,) 1: the three below were given, else mapped per pair");
  def(c, "geom_stiffness", &Model::geom_stiffness, "(ngeom,) N/m");
  def(c, "geom_dissipation", &Model::geom_dissipation, "(ngeom,) Hunt-Crossley d, s/m");
  def(c, "geom_relaxation_time", &Model::geom_relaxation_time, "(ngeom,) SAP tau, s");
  def(c, "geom_restitution", &Model::geom_restitution, "(ngeom,) of the native material");
  def<6>(c, "geom_surfacevel", &Model::geom_surfacevel,
         "(ngeom, 6) velocity of the surface against its body, geom frame: linear, m/s, angular");
  def<12>(c, "geom_fluid", &Model::geom_fluid, "(ngeom, 12) of ellipsoids in the medium");
  def(c, "geom_group", &Model::geom_group, "(ngeom,) for rays and views");
  def(c, "geom_alpha", &Model::geom_alpha,
      "(ngeom,) opacity: the last number of rgba, 1 with a material; rays pass where it is 0");
  def(c, "geom_dataid", &Model::geom_dataid, "(ngeom,) mesh or height field, or -1");
  def(c, "geom_meshadr", &Model::geom_meshadr, "(ngeom,) first of the geom's meshes in geom_mesh");
  def(c, "geom_meshnum", &Model::geom_meshnum,
      "(ngeom,) meshes that an environment may choose for the geom; 0: no choice");
  def(c, "geom_mesh", &Model::geom_mesh, "(ngeommesh,) those meshes, each geom's own first");
}

void meshes(nb::class_<LoadedModel>& c) {
  def<3>(c, "mesh_pos", &Model::mesh_pos,
         "(nmesh, 3) the frame in which geoms have the mesh, in that of its file after scale");
  def<4>(c, "mesh_quat", &Model::mesh_quat, "(nmesh, 4) the same");
  def<3>(c, "mesh_size", &Model::mesh_size,
         "(nmesh, 3) size of its geoms: half sizes of the box around all vertices, m");
  def(c, "mesh_volume", &Model::mesh_volume,
      "(nmesh,) m^3, as `inertia` of the mesh says; of a shell its area, m^2");
  def<3>(c, "mesh_inertia", &Model::mesh_inertia,
         "(nmesh, 3) principal moments per mass, m^2, in the frame in which geoms have the mesh");
  def(c, "mesh_vertadr", &Model::mesh_vertadr, "(nmesh,) first vertex of the convex hull");
  def(c, "mesh_vertnum", &Model::mesh_vertnum,
      "(nmesh,) vertices of the hull; 0: the mesh only shows, or its file was not there");
  def<3>(c, "mesh_vert", &Model::mesh_vert, "(nmeshvert, 3) m, in the frame of the geom");
  def(c, "mesh_faceadr", &Model::mesh_faceadr, "(nmesh,) first triangle of the hull");
  def(c, "mesh_facenum", &Model::mesh_facenum, "(nmesh,) triangles of the hull");
  def<3>(c, "mesh_face", &Model::mesh_face,
         "(nmeshface, 3) vertices of the mesh, counterclockwise from outside");
  def(c, "mesh_polyadr", &Model::mesh_polyadr, "(nmesh,) first flat face of the hull");
  def(c, "mesh_polynum", &Model::mesh_polynum, "(nmesh,) flat faces of the hull");
  def<3>(c, "mesh_polynormal", &Model::mesh_polynormal, "(nmeshpoly, 3) unit, outwards");
  def(c, "mesh_polyvertadr", &Model::mesh_polyvertadr, "(nmeshpoly,) first corner of the face");
  def(c, "mesh_polyvertnum", &Model::mesh_polyvertnum, "(nmeshpoly,) corners of the face");
  def(c, "mesh_polyvert", &Model::mesh_polyvert,
      "(nmeshpolyvert,) vertices of the mesh, counterclockwise from outside, longest edge first");
  def(c, "mesh_polymapadr", &Model::mesh_polymapadr, "(nmeshvert,) first face at the vertex");
  def(c, "mesh_polymapnum", &Model::mesh_polymapnum, "(nmeshvert,) faces at the vertex");
  def(c, "mesh_polymap", &Model::mesh_polymap, "(nmeshpolymap,) faces of the mesh, rising");
}

void hfields(nb::class_<LoadedModel>& c) {
  def<4>(c, "hfield_size", &Model::hfield_size,
         "(nhfield, 4) half sizes in x and y, elevation where hfield_data is 1, depth below, m");
  def(c, "hfield_nrow", &Model::hfield_nrow, "(nhfield,) rows, along y; 0: its file is not there");
  def(c, "hfield_ncol", &Model::hfield_ncol, "(nhfield,) columns, along x");
  def(c, "hfield_adr", &Model::hfield_adr, "(nhfield,) its first number in hfield_data");
  def(c, "hfield_data", &Model::hfield_data,
      "(nhfielddata,) elevations in units of hfield_size[2], row by row, the smallest y first");
}

void pairs(nb::class_<LoadedModel>& c) {
  def(c, "pair_geom1", &Model::pair_geom1, "(npair,) the normal points from geom1 into geom2");
  def(c, "pair_geom2", &Model::pair_geom2, "(npair,)");
  def(c, "pair_condim", &Model::pair_condim,
      "(npair,) 1: frictionless, 3: sliding, 4: and torsional, 6: and rolling friction");
  def(c, "pair_explicit", &Model::pair_explicit, "(npair,) 1: from <contact><pair>");
  def(c, "pair_friction", &Model::pair_friction, "(npair,) MuJoCo's rule, or the explicit value");
  def(c, "pair_friction2", &Model::pair_friction2,
      "(npair,) along the second tangent; differs in anisotropic pairs, for Reference only");
  def(c, "pair_torsion", &Model::pair_torsion,
      "(npair,) torsional coefficient likewise, m; 0 below condim 4");
  def(c, "pair_rolling", &Model::pair_rolling,
      "(npair,) rolling coefficient likewise, m; 0 below condim 6");
  def(c, "pair_margin", &Model::pair_margin, "(npair,) subtracted from the distance, m");
  def(c, "pair_stiffness", &Model::pair_stiffness, "(npair,) k, N/m");
  def(c, "pair_dissipation", &Model::pair_dissipation, "(npair,) d, s/m");
  def(c, "pair_restitution", &Model::pair_restitution,
      "(npair,) e in [0, 1]: how fast the pair parts, of how fast it met");
  def(c, "pair_relaxation_time", &Model::pair_relaxation_time, "(npair,) SAP tau, s");
  def(c, "pair_weight", &Model::pair_weight,
      "(npair,) contact point = (1-w) p1 + w p2, w = k2/(k1+k2)");
  def(c, "pair_slotadr", &Model::pair_slotadr, "(npair,) first contact slot");
  def(c, "pair_slotnum", &Model::pair_slotnum, "(npair,) number of contact slots");
}

void sites_tendons_actuators(nb::class_<LoadedModel>& c) {
  def(c, "site_bodyid", &Model::site_bodyid, "(nsite,)");
  def<3>(c, "site_pos", &Model::site_pos, "(nsite, 3) in the body, m");
  def<4>(c, "site_quat", &Model::site_quat, "(nsite, 4) in the body");
  def(c, "site_type", &Model::site_type, "(nsite,) values of GeomType: zone of a touch sensor");
  def(c, "cam_bodyid", &Model::cam_bodyid, "(ncam,)");
  def(c, "cam_mode", &Model::cam_mode, "(ncam,) 0: fixed; MuJoCo's numbers");
  def(c, "cam_projection", &Model::cam_projection, "(ncam,) 0: perspective, 1: orthographic");
  def<3>(c, "cam_pos", &Model::cam_pos, "(ncam, 3) in the body, m");
  def<4>(c, "cam_quat", &Model::cam_quat, "(ncam, 4) in the body; it looks along -z, y is up");
  def(c, "cam_fovy", &Model::cam_fovy,
      "(ncam,) vertical angle of view, degrees; of an orthographic camera the height, m");
  def<2>(c, "cam_resolution", &Model::cam_resolution, "(ncam, 2) pixels");
  def<2>(c, "cam_sensorsize", &Model::cam_sensorsize, "(ncam, 2) of the chip, m; 0: not given");
  def<4>(c, "cam_intrinsic", &Model::cam_intrinsic,
         "(ncam, 4) focal lengths and offsets of the axis, m; 0 without a chip");
  def<3>(c, "site_size", &Model::site_size, "(nsite, 3) as geom_size, m");
  def(c, "tendon_adr", &Model::tendon_adr, "(ntendon,) first wrap");
  def(c, "tendon_num", &Model::tendon_num, "(ntendon,) number of wraps");
  def(c, "tendon_limited", &Model::tendon_limited, "(ntendon,) 0 or 1");
  def<2>(c, "tendon_range", &Model::tendon_range, "(ntendon, 2) m, or the unit of the joints");
  def(c, "tendon_margin", &Model::tendon_margin, "(ntendon,) inside the range");
  def<2>(c, "tendon_solref", &Model::tendon_solref, "(ntendon, 2) solreflimit");
  def(c, "tendon_stiffness", &Model::tendon_stiffness, "(ntendon,) N/m");
  def(c, "tendon_damping", &Model::tendon_damping, "(ntendon,) N s/m");
  def<2>(c, "tendon_stiffnesspoly", &Model::tendon_stiffnesspoly, "(ntendon, 2) as of joints");
  def<2>(c, "tendon_dampingpoly", &Model::tendon_dampingpoly, "(ntendon, 2) as of dofs");
  def<2>(c, "tendon_lengthspring", &Model::tendon_lengthspring,
         "(ntendon, 2) the spring rests between these lengths");
  def(c, "tendon_armature", &Model::tendon_armature, "(ntendon,) inertia of the length, kg");
  def(c, "tendon_frictionloss", &Model::tendon_frictionloss, "(ntendon,) dry friction, N");
  def(c, "tendon_actfrclimited", &Model::tendon_actfrclimited, "(ntendon,) 0 or 1");
  def<2>(c, "tendon_actfrcrange", &Model::tendon_actfrcrange,
         "(ntendon, 2) clamp of the summed actuator force on the tendon");
  def(c, "tendon_length0", &Model::tendon_length0, "(ntendon,) length at qpos0");
  def(c, "tendon_invweight0", &Model::tendon_invweight0, "(ntendon,) J M⁻¹ Jᵀ at qpos0");
  def(c, "wrap_type", &Model::wrap_type, "(nwrap,) values of WrapType");
  def(c, "wrap_objid", &Model::wrap_objid, "(nwrap,) joint, site or geom; -1 of a pulley");
  def(c, "wrap_sideid", &Model::wrap_sideid, "(nwrap,) site on whose side a geom is passed, or -1");
  def(c, "wrap_coef", &Model::wrap_coef,
      "(nwrap,) of a joint the coefficient: length = sum of coef times position; of a pulley the "
      "divisor");
  def(c, "actuator_trntype", &Model::actuator_trntype, "(nu,) values of Transmission");
  def(c, "actuator_trnid", &Model::actuator_trnid,
      "(nu,) joint, tendon, site or body; of a slider-crank the crank's site");
  def(c, "actuator_refid", &Model::actuator_refid,
      "(nu,) reference site, or site of the slider; -1: none");
  def(c, "actuator_cranklength", &Model::actuator_cranklength,
      "(nu,) length of the rod between crank and slider, m");
  def<6>(c, "actuator_gear", &Model::actuator_gear, "(nu, 6) hinge, slide, tendon use the first");
  def<3>(c, "actuator_bias", &Model::actuator_bias, "(nu, 3) force + length + velocity terms");
  def<3>(c, "actuator_gain", &Model::actuator_gain, "(nu, 3) the same per control");
  def(c, "actuator_ctrllimited", &Model::actuator_ctrllimited, "(nu,) 0 or 1");
  def(c, "actuator_forcelimited", &Model::actuator_forcelimited, "(nu,) 0 or 1");
  def<2>(c, "actuator_ctrlrange", &Model::actuator_ctrlrange, "(nu, 2)");
  def<2>(c, "actuator_forcerange", &Model::actuator_forcerange, "(nu, 2) N or N m");
  def(c, "actuator_dyntype", &Model::actuator_dyntype,
      "(nu,) 0 none, 1 integrator, 2 filter, 3 filterexact, 4 muscle: how the activation follows "
      "the control");
  def<3>(c, "actuator_dynprm", &Model::actuator_dynprm,
         "(nu, 3) of a filter the time constant, s; of a muscle those of activation and "
         "deactivation,\n"
         "s, and the width of the change between them");
  def(c, "actuator_actadr", &Model::actuator_actadr,
      "(nu,) index of its activation, -1: it has none");
  def(c, "actuator_actlimited", &Model::actuator_actlimited, "(nu,) 0 or 1");
  def<2>(c, "actuator_actrange", &Model::actuator_actrange, "(nu, 2)");
  def(c, "actuator_actearly", &Model::actuator_actearly,
      "(nu,) 1: the force is that of the next activation");
  def(c, "actuator_gainmuscle", &Model::actuator_gainmuscle,
      "(nu,) 1: a muscle's curves in the place of actuator_gain");
  def(c, "actuator_biasmuscle", &Model::actuator_biasmuscle,
      "(nu,) 1: a muscle's curves in the place of actuator_bias");
  def<18>(c, "actuator_muscle", &Model::actuator_muscle,
          "(nu, 18) of a muscle, nine of the gain and nine of the bias: range of lengths (2), peak "
          "force\n"
          "in N, scale, lmin, lmax, vmax, fpmax, fvmax");
  def<2>(c, "actuator_lengthrange", &Model::actuator_lengthrange,
         "(nu, 2) of a muscle: lengths at the ends of its range");
  def(c, "actuator_acc0", &Model::actuator_acc0,
      "(nu,) norm of the acceleration by a force of 1 at qpos0");
}

void equalities(nb::class_<LoadedModel>& c) {
  def(c, "eq_type", &Model::eq_type, "(neq,) values of EqualityType");
  def(c, "eq_objtype", &Model::eq_objtype,
      "(neq,) values of ObjectType: body, site, joint, tendon");
  def(c, "eq_obj1id", &Model::eq_obj1id, "(neq,)");
  def(c, "eq_obj2id", &Model::eq_obj2id, "(neq,) -1: none");
  def(c, "eq_active0", &Model::eq_active0, "(neq,) 0 or 1: eq_active after a reset");
  def<11>(c, "eq_data", &Model::eq_data,
          "(neq, 11) as in MuJoCo; connect: anchor in body 1, in body 2; weld: anchor in body 2,\n"
          "in body 1, orientation of body 2 in body 1, torquescale; else: polycoef");
  def<2>(c, "eq_solref", &Model::eq_solref, "(neq, 2) as in MuJoCo");
  def<5>(c, "eq_solimp", &Model::eq_solimp, "(neq, 5) as in MuJoCo");
  def(c, "eq_native", &Model::eq_native,
      "(neq,) 1: the two below were given, else from solref and solimp");
  def<2>(c, "eq_stiffness", &Model::eq_stiffness,
         "(neq, 2) N/m, of a weld's rotation N m/rad; 1e40 and more: rigid");
  def(c, "eq_relaxation_time", &Model::eq_relaxation_time, "(neq,) s");
}

void sensors(nb::class_<LoadedModel>& c) {
  def(c, "sensor_type", &Model::sensor_type, "(nsensor,) values of SensorType");
  def(c, "sensor_objtype", &Model::sensor_objtype, "(nsensor,) values of ObjectType");
  def(c, "sensor_objid", &Model::sensor_objid, "(nsensor,) body, joint, geom, site or actuator");
  def(c, "sensor_reftype", &Model::sensor_reftype, "(nsensor,) values of ObjectType");
  def(c, "sensor_refid", &Model::sensor_refid, "(nsensor,) reference frame, or -1: the world's");
  def(c, "sensor_adr", &Model::sensor_adr, "(nsensor,) first number in sensordata");
  def(c, "sensor_dim", &Model::sensor_dim, "(nsensor,) numbers of the reading");
  def(c, "sensor_cutoff", &Model::sensor_cutoff, "(nsensor,) bound of the readings; 0: none");
}

}  // namespace

void bind_model_arrays(nb::class_<LoadedModel>& c) {
  c.def_prop_ro(
      "gravity",
      [](nb::handle_t<LoadedModel> self) {
        const Model& m = *nb::cast<const LoadedModel&>(self).model;
        return nb::ndarray<nb::numpy, const double, nb::shape<3>>(m.gravity.data(), {3}, self);
      },
      "(3,) m/s^2");
  c.def_prop_ro(
      "wind",
      [](nb::handle_t<LoadedModel> self) {
        const Model& m = *nb::cast<const LoadedModel&>(self).model;
        return nb::ndarray<nb::numpy, const double, nb::shape<3>>(m.wind.data(), {3}, self);
      },
      "(3,) velocity of the medium, m/s");
  c.def_prop_ro(
      "magnetic",
      [](nb::handle_t<LoadedModel> self) {
        const Model& m = *nb::cast<const LoadedModel&>(self).model;
        return nb::ndarray<nb::numpy, const double, nb::shape<3>>(m.magnetic.data(), {3}, self);
      },
      "(3,) flux that magnetometers feel, world axes");
  bodies(c);
  joints(c);
  geoms(c);
  meshes(c);
  hfields(c);
  pairs(c);
  sites_tendons_actuators(c);
  equalities(c);
  sensors(c);
  def(c, "key_time", &Model::key_time, "(nkey,) s");
  def_key(c, "key_qpos", &Model::key_qpos, &Model::nq, "(nkey, nq)");
  def_key(c, "key_qvel", &Model::key_qvel, &Model::nv, "(nkey, nv)");
  def_key(c, "key_ctrl", &Model::key_ctrl, &Model::nu, "(nkey, nu)");
  def_key(c, "key_act", &Model::key_act, &Model::na, "(nkey, na)");
  def_key_poses<3>(c, "key_mpos", &Model::key_mpos, "(nkey, nmocap, 3) m, of mocap bodies");
  def_key_poses<4>(c, "key_mquat", &Model::key_mquat, "(nkey, nmocap, 4) the same");
}

}  // namespace stiction::python
