// The checked, immutable robot: arrays named as in MuJoCo's mjModel, shapes in the right-hand
// column.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/types.h"

namespace stiction {

// A sensor as in the file.
struct SensorSpec {
  std::string name, type;       // MJCF element name: "gyro", "jointpos", ...
  std::string objtype, object;  // what it is attached to: "site", "joint", ...; its name
  std::string reftype, reference;
  double cutoff = 0;
  int dim = 0;  // numbers of a reading; 0: kept, but not evaluated (the report says so)
};
// Records that are read and kept but not computed by the engine yet (the report says so).
struct MeshSpec {
  std::string name, file;
  std::array<double, 3> scale{1, 1, 1};
};
struct HfieldSpec {
  std::string name, file;
  int nrow = 0, ncol = 0;  // as in the model file; 0: defined by the height field's own file
  std::array<double, 4> size{};
};

// A candidate pair without native materials: the values from which its stiffness, dissipation and relaxation time
// follow, together with the timestep.
struct MappedPair {
  int pair;
  std::array<double, 2> solref;  // of both geoms together, or of the explicit pair
  std::array<double, 5> solimp;
  double cone_factor;  // normal stiffness of the contact rows of MuJoCo, relative to one row
};

using Ints = std::vector<int>;
using Reals = std::vector<double>;
using Names = std::vector<std::string>;

// The right-hand column is a table.
// clang-format off

// Row-major arrays; (n,k) is n rows of k numbers. SI units, radians, quaternions w x y z and unit,
// z up. Body 0 is the world; parents come before children. Frames are local to the parent body.
struct Model {
  std::string name, file;                  // model name; path of the file, empty for a string

  // sizes
  int nq = 0, nv = 0, nu = 0;              // positions, velocities, actuators
  int na = 0;                              // activations: states of actuators
  int nbody = 0, njnt = 0, ngeom = 0, nsite = 0, nmocap = 0, nkey = 0, ntendon = 0, nmesh = 0, nhfield = 0;
  int npair = 0, nslot = 0;                // candidate geom pairs; contact points of all of them
  int nanchor = 0;                         // anchors of anchored stiction: nslot; 2 nslot if a pair has condim 4 or 6
  int nrebound = 0;                        // slots that remember an impact: nslot if a pair has restitution, else 0

  // from <option>
  double timestep = 0.002;                 // s; with_timestep changes it and what depends on it
  bool refsafe = true;                     // timeconst of solref is at least two timesteps
  std::array<double, 3> gravity{0, 0, -9.81};  // m/s²
  double density = 0, viscosity = 0;       // of the medium, kg/m³ and Pa s; both 0: no medium
  std::array<double, 3> wind{};            // velocity of the medium, m/s
  std::array<double, 3> magnetic{0, -0.5, 0};  // magnetic flux measured by magnetometers, world axes

  // bodies
  Names body_names;                        // (nbody); "" where unnamed
  Ints body_parentid;                      // (nbody)    parent; the world's is 0
  Ints body_rootid;                        // (nbody)    top ancestor below the world
  Ints body_weldid;                        // (nbody)    nearest ancestor-or-self with joints or mocap, else 0
  Ints body_jntadr, body_jntnum;           // (nbody)    joints of the body; adr -1 when none
  Ints body_dofadr, body_dofnum;           // (nbody)    dofs of the body; adr -1 when none
  Ints body_mocapid;                       // (nbody)    index of a mocap body, else -1
  Reals body_pos, body_quat;               // (nbody,3) (nbody,4)  frame in the parent at qpos0
  Reals body_mass;                         // (nbody)    kg
  Reals body_ipos, body_iquat;             // (nbody,3) (nbody,4)  centre of mass, principal axes
  Reals body_inertia;                      // (nbody,3)  principal moments, kg m²
  Reals body_subtreemass;                  // (nbody)    kg
  Reals body_gravcomp;                     // (nbody)    share of gravity compensated
  Reals body_invweight0;                   // (nbody,2)  mean inverse inertia at qpos0: translation, rotation

  // joints and degrees of freedom
  Names jnt_names;                         // (njnt)
  std::vector<JointType> jnt_type;         // (njnt)
  Ints jnt_bodyid, jnt_qposadr, jnt_dofadr;  // (njnt)
  Reals jnt_pos, jnt_axis;                 // (njnt,3)   anchor and unit axis in the body
  Ints jnt_limited;                        // (njnt)     0 or 1
  Reals jnt_range;                         // (njnt,2)   m or rad; ball: (0, largest angle)
  Reals jnt_margin;                        // (njnt)     the limit acts this far inside the range
  Reals jnt_solref;                        // (njnt,2)   solreflimit: (time constant in s, damping ratio) or (−stiffness, −damping)
  Reals jnt_stiffness;                     // (njnt)     N/m or N m/rad, about qpos_spring
  Reals jnt_stiffnesspoly;                 // (njnt,2)   c1, c2 of the force -x (k + c1 x + c2 x²), k the stiffness; |x| for free and ball joints
  Ints jnt_actfrclimited;                  // (njnt)     0 or 1
  Reals jnt_actfrcrange;                   // (njnt,2)   clamp of the summed actuator force on the joint
  Ints jnt_actgravcomp;                    // (njnt)     1: gravity compensation is part of that sum
  Reals qpos0, qpos_spring;                // (nq)       reference pose; springs' rest pose
  Ints dof_bodyid, dof_jntid;              // (nv)
  Ints dof_parentid;                       // (nv)       previous dof towards the root, else -1
  Reals dof_armature;                      // (nv)       reflected inertia, kg or kg m²
  Reals dof_damping;                       // (nv)       N s/m or N m s/rad
  Reals dof_dampingpoly;                   // (nv,2)     c1, c2 of the force -v (d + c1 |v| + c2 v²), d the damping
  Reals dof_frictionloss;                  // (nv)       dry friction, N or N m
  Reals dof_invweight0;                    // (nv)       diagonal of M⁻¹ at qpos0, averaged per joint block

  // geoms
  Names geom_names;                        // (ngeom)
  std::vector<GeomType> geom_type;         // (ngeom)
  Ints geom_bodyid, geom_contype, geom_conaffinity, geom_condim, geom_priority;  // (ngeom)
  Ints geom_group;                         // (ngeom)    used by rays and views
  Reals geom_alpha;                        // (ngeom)    opacity: the last number of rgba, 1 with a material; rays pass through geoms with 0
  Reals geom_size;                         // (ngeom,3)  MuJoCo's: radius | radius, half length | half sizes
  Reals geom_pos, geom_quat;               // (ngeom,3) (ngeom,4)  in the body
  Reals geom_rbound;                       // (ngeom)    bounding-sphere radius about geom_pos, the largest over its mesh choices; plane: 0
  Reals geom_friction;                     // (ngeom,3)  sliding, torsional, rolling
  Reals geom_solref, geom_solimp;          // (ngeom,2) (ngeom,5)
  Reals geom_solmix;                       // (ngeom)
  Reals geom_surfacevel;                   // (ngeom,6)  velocity of the surface relative to the body, geom frame: linear, angular
  Reals geom_margin, geom_gap;             // (ngeom)    m
  Ints geom_native;                        // (ngeom)    1: the three below were given, else mapped per pair
  Reals geom_stiffness;                    // (ngeom)    N/m
  Reals geom_dissipation;                  // (ngeom)    Hunt–Crossley d, s/m
  Reals geom_relaxation_time;              // (ngeom)    SAP τ, s
  Reals geom_restitution;                  // (ngeom)    e of the native material
  Reals geom_fluid;                        // (ngeom,12)   1, five coefficients of fluidcoef, virtual mass and inertia of an ellipsoid in the medium, kg and kg m² per density; 0: box of the body
  Ints geom_dataid;                        // (ngeom)    mesh or hfield index, else -1
  Ints geom_meshadr, geom_meshnum;         // (ngeom)    meshes that an environment may choose for the geom, its own first; 0: no choice
  Ints geom_mesh;                          // (ngeommesh)

  // convex hulls of meshes, in the frames of their geoms: origin at the centre of mass,
  // principal axes. A visual mesh has no vertices
  Reals mesh_pos, mesh_quat;               // (nmesh,3) (nmesh,4)  that frame in the file's, after scale
  Reals mesh_size;                         // (nmesh,3)  size of its geoms: half sizes of the box around all vertices
  Reals mesh_volume;                       // (nmesh)    m³, according to `inertia` of the mesh; of a shell its area, m²
  Reals mesh_inertia;                      // (nmesh,3)  principal moments per mass, m²
  Ints mesh_vertadr, mesh_vertnum;         // (nmesh)    vertices of the hull
  Reals mesh_vert;                         // (nmeshvert,3)  m
  Ints mesh_faceadr, mesh_facenum;         // (nmesh)    triangles of the hull
  Ints mesh_face;                          // (nmeshface,3)  vertices of the mesh, counterclockwise from outside
  // flat faces, merged from triangles that are coplanar to 1e-6 of the hull's extent; MuJoCo's names
  Ints mesh_polyadr, mesh_polynum;         // (nmesh)    faces of the hull
  Reals mesh_polynormal;                   // (nmeshpoly,3)  unit, outwards
  Ints mesh_polyvertadr, mesh_polyvertnum; // (nmeshpoly)  corners of the face
  Ints mesh_polyvert;                      // (nmeshpolyvert)  vertices of the mesh, counterclockwise from outside; the longest edge is from the first to the second
  Ints mesh_polymapadr, mesh_polymapnum;   // (nmeshvert)  faces with a triangle at the vertex
  Ints mesh_polymap;                       // (nmeshpolymap)  faces of the mesh, ascending

  // height fields: rows along y, columns along x, starting at the corner (-size[0], -size[1]); elevation
  // size[2] hfield_data. A field whose file is missing has no rows
  Reals hfield_size;                       // (nhfield,4)  half sizes in x and y, elevation where the data is 1, depth below, m
  Ints hfield_nrow, hfield_ncol, hfield_adr;  // (nhfield)  adr: index of its first number
  Reals hfield_data;                       // (nhfielddata)  row by row; data of a file are in 0 to 1

  // candidate contacts: geom pairs that pass MuJoCo's filters and have a collider, lower type first
  Ints pair_geom1, pair_geom2;             // (npair)    the normal points from geom1 into geom2
  Ints pair_condim;                        // (npair)    1: frictionless, 3: sliding, 4: and torsional, 6: and rolling friction
  Ints pair_explicit;                      // (npair)    1: from <contact><pair>
  Reals pair_friction;                     // (npair)    MuJoCo's rule, or the explicit value
  Reals pair_friction2;                    // (npair)    along the second tangent; differs from pair_friction in anisotropic pairs, whose tangents are MuJoCo's. Reference only
  Reals pair_torsion, pair_rolling;        // (npair)    torsional and rolling coefficients, likewise, m; 0 below condim 4 and 6
  Reals pair_margin;                       // (npair)    subtracted from the distance, m
  Reals pair_stiffness;                    // (npair)    k, N/m
  Reals pair_dissipation;                  // (npair)    d, s/m
  Reals pair_restitution;                  // (npair)    e in [0, 1]: separation speed relative to impact speed
  Reals pair_relaxation_time;              // (npair)    SAP τ, s
  Reals pair_weight;                       // (npair)    contact point = (1-w) p1 + w p2; w = k2/(k1+k2)
  Ints pair_slotadr, pair_slotnum;         // (npair)    contact slots of the pair
  std::vector<MappedPair> mapped_pairs;    // pairs whose k, d and τ come from solref and solimp, ascending

  // sites
  Names site_names;                        // (nsite)
  Ints site_bodyid;                        // (nsite)
  Reals site_pos, site_quat;               // (nsite,3) (nsite,4)
  std::vector<GeomType> site_type;         // (nsite)    shape of the zone of a touch sensor
  Reals site_size;                         // (nsite,3)  as geom_size

  // cameras; x to the right, y up, looking along -z
  int ncam = 0;
  Names cam_names;                         // (ncam)
  std::vector<CameraMode> cam_mode;        // (ncam)
  std::vector<CameraProjection> cam_projection;  // (ncam)
  Ints cam_bodyid;                         // (ncam)
  Reals cam_pos, cam_quat;                 // (ncam,3) (ncam,4)
  Reals cam_fovy;                          // (ncam)     vertical angle of view, degrees; orthographic: height, m
  Ints cam_resolution;                     // (ncam,2)   pixels
  Reals cam_sensorsize;                    // (ncam,2)   size of the sensor chip, m; 0: not given
  Reals cam_intrinsic;                     // (ncam,4)   focal lengths and principal point offsets, m; 0 without a chip

  // tendons. Fixed: length = sum of coef times joint position; spatial: length of a string over sites and geoms
  Names tendon_names;                      // (ntendon)
  Ints tendon_adr, tendon_num;             // (ntendon)  wraps of the tendon, all joints or none
  Ints tendon_limited;                     // (ntendon)  0 or 1
  Reals tendon_range;                      // (ntendon,2)  m, or the unit of the joints
  Reals tendon_margin;                     // (ntendon)  the limit acts this far inside the range
  Reals tendon_solref;                     // (ntendon,2)  solreflimit, as jnt_solref
  Reals tendon_stiffness, tendon_damping;  // (ntendon)  N/m, N s/m
  Reals tendon_stiffnesspoly, tendon_dampingpoly;  // (ntendon,2)  as of joints
  Reals tendon_lengthspring;               // (ntendon,2)  the spring rests between these lengths
  Reals tendon_armature;                   // (ntendon)  inertia of the length, kg
  Reals tendon_frictionloss;               // (ntendon)  dry friction, N
  Ints tendon_actfrclimited;               // (ntendon)  0 or 1
  Reals tendon_actfrcrange;                // (ntendon,2)  clamp of the summed actuator force on the tendon
  Reals tendon_length0;                    // (ntendon)  length at qpos0
  Reals tendon_invweight0;                 // (ntendon)  J M⁻¹ Jᵀ at qpos0
  std::vector<WrapType> wrap_type;         // (nwrap)
  Ints wrap_objid;                         // (nwrap)    joint, site or geom; -1 for a pulley
  Ints wrap_sideid;                        // (nwrap)    for a geom: the site on whose side the tendon passes, else -1
  Reals wrap_coef;                         // (nwrap)    for a joint the coefficient, for a pulley the divisor

  // actuators: force = clamp((gain * u + bias) . (1, length, velocity)), u the control or the activation
  Names actuator_names;                    // (nu)
  std::vector<Transmission> actuator_trntype;  // (nu)
  Ints actuator_trnid;                     // (nu)       joint, tendon, site or body; for a slider-crank the site of the crank
  Ints actuator_refid;                     // (nu)       reference site of a site; site of the slider; -1: none
  Reals actuator_gear;                     // (nu,6)     hinge, slide, tendon, slider-crank use the first
  Reals actuator_cranklength;              // (nu)       length of the rod between crank and slider, m
  Reals actuator_gain, actuator_bias;      // (nu,3)
  Ints actuator_ctrllimited, actuator_forcelimited;  // (nu)
  Reals actuator_ctrlrange, actuator_forcerange;     // (nu,2)
  std::vector<ActuatorDynamics> actuator_dyntype;  // (nu)
  Reals actuator_dynprm;                   // (nu,3)     of a filter: time constant, s; of a muscle: those of activation and deactivation, s, width of the change between them
  Ints actuator_actadr;                    // (nu)       index of its activation; -1: none
  Ints actuator_actlimited, actuator_actearly;  // (nu)  0 or 1; early: the force uses the next activation
  Reals actuator_actrange;                 // (nu,2)
  Ints actuator_gainmuscle, actuator_biasmuscle;  // (nu)  1: the gain or bias is replaced by muscle curves over length and velocity
  Reals actuator_muscle;                   // (nu,18)    nine of the gain, nine of the bias: range of lengths in units of L0 (2), peak force in N, scale, lmin, lmax, vmax, fpmax, fvmax
  Reals actuator_lengthrange;              // (nu,2)     of a muscle: lengths at the ends of that range
  Reals actuator_acc0;                     // (nu)       ‖M⁻¹ moment‖ at qpos0

  // equality constraints
  int neq = 0;
  Names eq_names;                          // (neq)
  std::vector<EqualityType> eq_type;       // (neq)
  std::vector<ObjectType> eq_objtype;      // (neq)      body, site, joint or tendon
  Ints eq_obj1id, eq_obj2id;               // (neq)      -1 for the second one of a coupling with a single joint or tendon
  Ints eq_active0;                         // (neq)      0 or 1: eq_active after a reset
  Reals eq_data;                           // (neq,11)   MuJoCo's. connect: anchor in body 1, in body 2; weld: anchor in body 2, in body 1, orientation of body 2 in body 1, torquescale; else: polycoef
  Reals eq_solref, eq_solimp;              // (neq,2) (neq,5)
  Ints eq_native;                          // (neq)      1: the two below were given, else they follow from solref and solimp
  Reals eq_stiffness;                      // (neq,2)    k: N/m, of a weld's rotation N m/rad; 1e40 and more: rigid
  Reals eq_relaxation_time;                // (neq)      τ, s

  // sensors that are evaluated, in the order of the file
  int nsensor = 0, nsensordata = 0;
  Names sensor_names;                      // (nsensor)
  std::vector<SensorType> sensor_type;     // (nsensor)
  std::vector<ObjectType> sensor_objtype, sensor_reftype;  // (nsensor)
  Ints sensor_objid, sensor_refid;         // (nsensor)  -1: none; for the reference: the world's frame
  Ints sensor_adr, sensor_dim;             // (nsensor)  index of the first number in sensordata, number of them
  Reals sensor_cutoff;                     // (nsensor)  bound of the readings; 0: none

  // keyframes
  Names key_names;                         // (nkey)
  Reals key_time;                          // (nkey)
  Reals key_qpos, key_qvel, key_ctrl;      // (nkey,nq) (nkey,nv) (nkey,nu)
  Reals key_act;                           // (nkey,na)
  Reals key_mpos, key_mquat;               // (nkey,nmocap,3) (nkey,nmocap,4)  poses of mocap bodies

  std::vector<SensorSpec> sensors;         // every sensor of the file

  // kept for later stages; the report names them
  std::vector<MeshSpec> meshes;
  std::vector<HfieldSpec> hfields;

  // Return the index of a name, or throw ArgumentError with the nearest names.
  int body(const std::string& n) const;
  int joint(const std::string& n) const;
  int geom(const std::string& n) const;
  int hfield(const std::string& n) const;
  int mesh(const std::string& n) const;
  int site(const std::string& n) const;
  int camera(const std::string& n) const;
  int actuator(const std::string& n) const;
  int equality(const std::string& n) const;
  int sensor(const std::string& n) const;
  int key(const std::string& n) const;
};

// clang-format on

using ModelPtr = std::shared_ptr<const Model>;

struct LoadReport;  // report.h
struct LoadOptions {
  bool strict = false;  // refuse physics that would be ignored
};

// Reads an MJCF file or string. Throws ModelError. The report, if given, is filled even if the model is
// refused afterwards. `directory` resolves <include> and asset paths of a string.
ModelPtr load_model(const std::string& path, LoadReport* report = nullptr,
                    const LoadOptions& options = {});
ModelPtr load_model_from_string(const std::string& xml, LoadReport* report = nullptr,
                                const LoadOptions& options = {}, const std::string& directory = "");

// Native contact material of one geom (docs/method.md, "Materials": in series with the other
// geom's).
struct ContactMaterial {
  double stiffness;                     // N/m, > 0
  double dissipation = 0;               // s/m, >= 0
  std::optional<double> friction = {};  // sliding coefficient; default: the geom's
  double relaxation_time = 0;           // s, SAP only
  double restitution = 0;               // e in [0, 1]
};

// Returns a copy of the model in which the material of geom `g` (of all geoms: g = -1) is replaced and the
// parameters of its pairs are recomputed. Throws ArgumentError on unphysical values.
ModelPtr with_contact_material(const Model& model, int g, const ContactMaterial& material);

// Returns a copy of the model in which the height field `name` has these elevations, `nrow` rows of `ncol` numbers in
// units of hfield_size[2], whatever its resolution was. Throws ArgumentError unless there are at least 2 x 2,
// all finite and within the bound of lengths, and if the file of the field was missing: its pairs are missing, too.
ModelPtr with_hfield_data(const Model& model, const std::string& name, int nrow, int ncol,
                          std::vector<double> data);

// Returns the meshes that an environment may choose for geom g, its own first; empty: no choice.
std::span<const int> mesh_choice(const Model& model, int g);
// Placement and size of geom g with a mesh of its choice instead of the file's.
struct MeshGeom {
  std::array<double, 3> pos, size;
  std::array<double, 4> quat;
};
// Throws ArgumentError unless the mesh is among the choices of the geom.
MeshGeom geom_with_mesh(const Model& model, int g, int mesh);
// Returns a copy of the model in which geom g has that mesh. Masses and inertias stay.
ModelPtr with_mesh(const Model& model, int g, int mesh);

// Returns the model that a file with this timestep would give: pair_stiffness, eq_stiffness and eq_relaxation_time
// change where refsafe bounds solref by two timesteps, pair_relaxation_time in pairs without native materials. Throws
// ArgumentError unless the timestep is finite and > 0.
ModelPtr with_timestep(const ModelPtr& model, double timestep);

}  // namespace stiction
