// The two things that flow through the stages: ModelView (what all environments share, uniform
// integers and options) and EnvView (the fields of one team's environments).
#pragma once

#include <cstdint>

#include "physics/base/scalar.h"
#include "physics/base/shape_views.h"
#include "stiction/types.h"

namespace stiction::physics {

// Counts that fields.def uses, and the constants among them.
struct SizesView {
  int nq, nv, nu, nbody, njnt, ngeom, nsite, nmocap, ntendon, nwrap, npair, nslot, nsensordata;
  int nmocapstate;      // nmocap where mocap bodies have a velocity, else 0
  int nsurface;         // ngeom where surfaces move against their bodies, else 0
  int ndriftslot;       // nslot where mocap bodies or surfaces have a velocity, else 0
  int nanchor;          // where stiction is anchored nslot + ncouple, else 0
  int nfrictionanchor;  // nv + ntendon where stiction is anchored, else 0
  int nanchorlist;  // nslot where stiction is anchored and a team is one thread of a CPU, else 0: a list of the slots with an anchor
  int nanchorrowlist;  // nslot where many threads list the rows of anchor, else 0
  int ncouple;         // nslot where a pair has torsional or rolling friction (condim 4, 6), else 0
  int ncouplepair;     // npair, likewise
  int nrebound;        // nslot where a pair has restitution, else 0
  int nreboundpair;    // npair, likewise
  int nturn;  // free joints and balls on the world, with the midpoint law of the gyroscopic torque
  int nspatial;  // nslot where a team has many threads, else 0
  int ncoord;  // coordinates of rows: the dofs, then the lengths of the actuators and of the tendons, the angles of limited balls
  int nrow;    // most rows
  int na;      // activations
  int nstateful;       // nu where there are any, else 0
  int nsitedrive;      // actuators on sites and in parents' frames, whose arms turn with the pose
  int nadhesion;       // nu where an actuator presses contacts together, else 0
  int nadhesionbody;   // nbody, likewise
  int nliftdof;        // nv where actuators compensate gravity, else 0
  int nmuscle;         // nu where a muscle is among them, else 0
  int nfluidbody;      // nbody where a medium acts on bodies, else 0
  int nfluiddof;       // nv, likewise
  int nspatialtendon;  // tendons over sites and geoms
  int neq;             // equality constraints
  int nblockdof;       // columns of all their Jacobians
  int nmoment;         // entries of the moment arms of all lengths
  int ntri;            // nv (nv + 1) / 2
  int nbody1, nv1;     // nbody + 1, nv + 1
  static constexpr int one = 1, two = 2, three = 3, four = 4, five = 5, six = 6, nine = 9, ten = 10;
  static constexpr int eight = 8, eleven = 11, twelve = 12, eighteen = 18;
  static constexpr int sym6 = 21;  // lower triangle of a 6x6 matrix
  static constexpr int spatial = 6 + sym6;
  static constexpr int nstatus = 9;  // bits of Status
};

inline constexpr int kLagged = 0, kSimilar = 1, kSap = 2;  // ContactModel

// What a model's pairs ask of the narrow phase, each with those before it: round shapes and planes,
// a box against round shapes, boxes against boxes, cylinders and ellipsoids, meshes, height fields and adhesion.
// A kernel with fewer colliders takes fewer registers.
enum class Colliders : int { round, box, boxes, convex, meshes, hfields };
constexpr Colliders colliders_of(GeomType type1, GeomType type2) {
  if (type1 == GeomType::hfield) return Colliders::hfields;
  if (type2 == GeomType::mesh) return Colliders::meshes;
  if (type1 == GeomType::plane) return Colliders::round;
  const auto searched = [](GeomType t) {
    return t == GeomType::ellipsoid || t == GeomType::cylinder;
  };
  if (searched(type1) || searched(type2)) return Colliders::convex;
  if (type2 != GeomType::box) return Colliders::round;
  return type1 == GeomType::box ? Colliders::boxes : Colliders::box;
}

// What a model's tendons and actuators ask of a kernel: tendons over joints alone; strings over sites and
// geoms, too; actuators with a state, muscles, those on sites and those that compensate gravity, too.
enum class Drives : int { plain, strings, states };
constexpr Drives drives_of(const SizesView& m) {
  if (m.na > 0 || m.nmuscle > 0 || m.nsitedrive > 0 || m.nliftdof > 0) return Drives::states;
  return m.nspatialtendon > 0 ? Drives::strings : Drives::plain;
}

// What the options say, resolved; see stiction/options.h.
struct OptionsView {
  double timestep;            // δt, s
  double step_rate;           // 1/δt
  double stiction_tolerance;  // v_s, m/s
  double regularization;      // σ
  double near_rigid;          // β of SAP contact
  double solver_tolerance;    // ε_r
  double density, viscosity;  // of the medium, kg/m³, Pa s
  double wind[3];             // m/s
  double magnetic[3];         // flux, world axes
  int max_iterations;
  int friction_iterations;  // most solves of a step
  bool friction_follows;    // its bounds follow the normal impulses within one solve
  bool friction_exact;      // and the step ends only where they do no more
  int friction_renewals;    // most times that they move
  double friction_share;    // of the step's impulse by which friction may be wrong
  int contact_model;        // kLagged, kSimilar, kSap
  bool anchored;
  bool gyroscopic_midpoint;
  bool penetrating_deepest;
  bool harmonic_friction;
  bool near_rigid_limits;
  bool mocap_given;  // mocap bodies move at mocap_vel, else to the pose that is written
  bool shifted;  // the slip of a point is not v_t alone: anchors, mocap bodies, surfaces that move
};

// clang-format off
// Of geom_raymask, beside the bits of the six groups: what neither joints nor mocap poses move.
inline constexpr int kRayStatic = 1 << kGeomGroups;

// Integers of the model, the same for all environments. Arrays as in stiction/model.h where the
// names agree; the others:
struct ModelView : SizesView, MeshArrays, HfieldArrays {
  OptionsView opt;

  // bodies by depth: those of level l are level_body[level_adr[l] .. level_adr[l+1]); level 0 is the
  // world alone. Children of b: child_body[child_adr[b] .. child_adr[b+1]).
  int nlevel;
  const int *level_adr, *level_body, *child_adr, *child_body;
  const int *body_parentid, *body_mocapid;
  const int *body_carrier;    // (nbody)  mocap body at the root of its path, else -1
  const int *mocap_body;      // (nmocap)
  const int *body_aligned;    // (nbody)  1: the model's body_quat is 1
  const int *body_jntadr, *body_jntnum, *body_dofadr, *body_dofnum;
  const int *body_treeid;     // (nbody)  tree of a body that can move, else -1
  const int *body_lastdof;    // (nbody)  last dof on the path from the root to the body, else -1
  const int *body_end;        // (nbody)  last body of the subtree + 1: bodies are listed depth first
  const int *body_weldid;     // (nbody)  the body with joints that it moves with, 0 of what can't move
  const int *body_translation;  // (nbody)  last of the three translations of a free joint at the root of its tree, else -1
  int ntree;
  const int *tree_body;       // (ntree)  root body
  const int *tree_origin;     // (ntree)  body whose xpos is the origin O of the tree: cpu/tree_origin.h
  const int *body_late;       // (nbody)  1: of a tree whose O is not the root body's
  int nlate;
  const int *late_body;       // (nlate)  those bodies
  const int *tree_end;        // (ntree)  last body + 1: a tree's bodies follow each other
  int ngroup;                 // of trees that tendons and equality constraints couple, then the light parts of groups
  const int *group_dofadr, *group_dof;  // (ngroup+1) ()  dofs of each, ascending
  const int *group_whole;     // (ngroup)  the group that a light part is of, else the group itself
  const double* group_share;  // (ngroup)  mass of a light part over that of its group, else 1
  const int *body_groupid;    // (nbody)  group of a body that can move, else -1
  const int *body_lightid;    // (nbody)  light part of a body, else -1

  const int *jnt_type, *jnt_qposadr, *jnt_dofadr, *jnt_actfrclimited, *jnt_actgravcomp;
  const int *turn_jnt;        // (nturn)
  const int *dof_turnadr;     // (nv+1)  those of turn_jnt that A couples with the dof
  const int *dof_turn;
  int nball;                  // ball joints with a limit
  const int *ball_jnt;        // (nball)
  const int *dof_bodyid, *dof_jntid;
  const int *dof_parentid;    // (nv)     next dof towards the root on the path, else -1
  const int *dof_freerot;     // (nv)     first of the three rotational dofs of a free joint it belongs to, else -1
  const int *dof_rubs;        // (nv)     1: it may have dry friction
  // the table of rows, the static constraints: README.md, "Rows"
  const int *coord_rowadr;    // (ncoord+1)  rows of each coordinate. Of a dof: limits, dry friction; of an actuator: the servo; of a tendon: tendon_*row; of a ball: the limit
  const int *coord_limited;   // (ncoord)  its first rows with the law of limits: limits, and a tendon's spring; of a dof: the joint has no other
  const int *coord_momentadr;  // (ncoord+1)  entries of its moment arm; a dof has none
  const int *moment_dof, *moment_coord;  // (nmoment)  dof and coordinate of an entry
  const int *dof_momentadr;   // (nv+1)   entries on the dof: dof_moment[dof_momentadr[i] .. dof_momentadr[i+1]), rising
  const int *dof_moment;      // (nmoment)
  const int *dof_rowmomentadr, *dof_rowmoment;  // those of them whose coordinate has rows
  int nrowdof, nrowlength;
  int nrowservo;              // the first of row_length, of actuators
  int row_coord_end;          // last coordinate with rows + 1
  const int *row_dof;         // (nrowdof)  dofs on which rows act, rising
  const int *row_length;      // (nrowlength)  coordinates behind the dofs that have rows, rising
  // blocks: equalities.h
  const int *eq_type;         // (neq)   EqualityType
  const int *eq_body, *eq_site;  // (neq,2)  of a connect or weld: bodies, else 0; sites, -1: anchors and pose of eq_data
  const int *eq_jnt, *eq_tendon;  // (neq,2)  of a coupling, or -1
  const int *eq_native;       // (neq)   1: a weld's rotation and translation have one w, as in Drake
  const int *block_adr;       // (neq+1)  columns of J
  const int *block_dof, *block_side, *block_of;  // (nblockdof)  dof, rising in a block; which of the two it moves: 1, 2, 3: both; equality constraint
  const int *block_moment;    // (nblockdof,2)  entries of the moment arms of both tendons, or -1
  const int *dof_blockadr, *dof_blockentry;  // (nv+1), (nblockdof)  columns of each dof
  // structure of the factor without points: tree, rows, body blocks; as the fields of the same names
  const int *row_parent, *row_num, *run_adr, *run_first, *run_end, *below_adr, *below_row, *below_place;
  // the same for many threads: rows and columns lie dense
  int nfactorlevel;
  const int *factor_parent, *factor_last;  // (nv)  elimination tree; pack_last of the last row that has dof i, or i
  const int *factor_leveladr;  // (nfactorlevel+1)  panels of rows that do not need each other
  const int *factor_panel;     // (panels)  FactorPanel in a word

  const int *geom_type, *geom_bodyid, *geom_priority;
  const int *geom_dataid;     // (ngeom)  mesh of the file or height field, or -1
  const int *geom_raymask;    // (ngeom)  bit of its group, kRayStatic where nothing moves it; 0: rays pass
  const float *geom_rbound;   // (ngeom)  upper bound on the bounding sphere's radius about geom_pos, m; plane: 0
  const int *pair_geom1, *pair_geom2, *pair_condim, *pair_explicit, *pair_slotadr, *pair_slotnum;
  const int *slot_pair;       // (nslot)
  int npairgeom;
  const int *pair_geom;       // (npairgeom)  geoms that occur in pairs
  int nhullgeom;
  const int *hull_geom;       // (nhullgeom)  geoms in pairs without a plane
  // links: the geoms of a body, or one of the world's, that occur in pairs without a plane or height field; linkpair: pairs
  // of the same two links that follow each other in the list
  int nlink, nlinkpair;
  const int *link_geomadr, *link_geom;  // (nlink+1)
  const int *linkpair_adr;         // (nlinkpair+1)  the first of its pairs
  const int *linkpair_link;        // (nlinkpair,2)
  const double *linkpair_margin;   // (nlinkpair)  the largest; infinite: its pairs are compared without the links
  const double *linkpair_horizon;  // (nlinkpair)  the longest
  Colliders colliders;        // of all pairs

  // what the medium acts on: elements body_fluidadr[b] .. body_fluidadr[b+1] of body b
  const int *body_fluidadr;   // (nbody+1)
  const int *fluid_geom;      // (elements)  its ellipsoid, or -1: the box with the body's inertia
  const double *fluid_coef;   // (elements,12)  row of geom_fluid

  const int *site_bodyid, *site_type;
  const int *actuator_trntype, *actuator_trnid, *actuator_ctrllimited, *actuator_forcelimited;
  const int *actuator_dyntype, *actuator_actadr, *actuator_actlimited, *actuator_actearly;
  const int *actuator_gainmuscle, *actuator_biasmuscle;
  const int *actuator_refid;  // (nu)   reference site, site of the slider, or -1
  const double *actuator_cranklength;
  const int *actuator_mayservo;  // (nu)   1: feedback that pulls back is possible, so it may be a row
  const int *actuator_onball;    // (nu)   1: acts on a ball joint, or between two sites
  const int *actuator_bounded;   // (nu)   1: jnt_actfrcrange of its joint or tendon_actfrcrange bounds the actuator's own force
  const double *tendon_length0;
  const int *tendon_adr, *tendon_num;
  const int *tendon_fixed;    // (ntendon)  1: over joints, 0: over sites
  const int *tendon_limitrow, *tendon_springrow, *tendon_dragrow, *tendon_rubrow;  // (ntendon)  rows of the tendon, -1: none
  const int *wrap_type, *wrap_objid, *wrap_sideid;
  const int *wrap_moment;     // (nwrap)  entry of a joint's dof in the tendon's arm, else -1

  // springs and dampers: c1, c2 of polynomials; ncurved: how many joints, dofs and tendons have such
  int ncurved;
  const double *jnt_stiffnesspoly, *dof_dampingpoly;        // (njnt,2) (nv,2)
  const double *tendon_stiffnesspoly, *tendon_dampingpoly;  // (ntendon,2)
  // sensors: one row per sensor; types are SensorType and ObjectType, cutoff 0: none
  int nsensor;
  const int *sensor_type, *sensor_objtype, *sensor_objid, *sensor_reftype, *sensor_refid, *sensor_adr, *sensor_dim;
  const int *sensor_interval;    // (nsensor)  1: belongs to the last interval, 0: to the state
  const double *sensor_cutoff;
  const double *sensor_reach;    // (nsensor)  of distances: up to which they are told
  const int *cam_bodyid;                    // (ncam)
  const double *cam_pos, *cam_quat;         // (ncam,3) (ncam,4)  in the body
  const double *cam_lens;                   // (ncam,4)  focal lengths and middle of the image, pixels

  bool own_body_quat;  // environments may differ in it; decides what work is done and never a result
};
// clang-format on

// One number per field of fields.def.
enum class Field : int {
#define X(kind, type, name, rows, columns, producer, meaning) name,
#include "physics/base/fields.def"
#undef X
};
inline constexpr int kFields = 0
#define X(kind, type, name, rows, columns, producer, meaning) \
  +1  // NOLINT(bugprone-macro-parentheses)
#include "physics/base/fields.def"
#undef X
    ;

enum class FieldKind : int { state, input, param, output, scratch };
enum class FieldType : int { wide, real, index };

// What is computed when it is asked for: quantities.h.
enum class Quantity : int {
#define X(name, rows, columns, meaning) name,
#include "physics/base/quantities.def"
#undef X
};
inline constexpr int kQuantities = 0
#define X(name, rows, columns, meaning) +1  // NOLINT(bugprone-macro-parentheses)
#include "physics/base/quantities.def"
#undef X
    ;

}  // namespace stiction::physics

STICTION_PHYSICS_BEGIN

// The fields of the environments of one team. Parameters are read-only by convention of the stages.
template <class S>
struct EnvView {
  using wide = Wide<S>;
  using real = S;
  using index = int;
#define X(kind, type, name, rows, columns, producer, meaning) type* name;
#include "physics/base/fields.def"
#undef X
};

// Entry (i, j), j <= i, of a lower triangle.
STICTION_FN int tri(int i, int j) {
  return i * (i + 1) / 2 + j;
}

STICTION_PHYSICS_END
