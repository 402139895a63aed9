// The contents of a file, element by element, with defaults filled in: between XML and Model.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "model/mesh/hfield_files.h"
#include "model/mesh/mesh.h"
#include "model/spec/derive.h"
#include "model/xml/orientation.h"
#include "model/xml/xml.h"
#include "stiction/model.h"

namespace stiction::model {

enum class Switch { no, yes, automatic };
using Range = std::array<double, 2>;

struct Compiler : AngleSettings {
  bool autolimits = true, balanceinertia = false;
  bool alignfree = false;  // a free body without children gets the frame of its inertia
  bool strippath = false;
  bool fitaabb = false;   // primitives are fitted to the bounding box of a mesh, not to its inertia
  std::string meshdir;    // of meshes and height fields
  std::string directory;  // of an attached model: that of its file
  bool useexisting = true;  // <lengthrange>: a given range of a muscle is used
  bool uselimit = false;    // <lengthrange>: otherwise the range of the joint or tendon is used
  Switch inertiafromgeom = Switch::automatic;
  double boundmass = 0, boundinertia = 0, settotalmass = -1;  // kg, kg m², kg
  std::array<int, 2> inertiagrouprange{0, 5};
};

inline int dof_count(JointType type) {
  return type == JointType::free ? 6 : type == JointType::ball ? 3 : 1;
}

// Where the attributes of a spec were written: on the element itself or in a default class. Attributes
// that are not computed are marked there, but only if an element of the model ends up with them.
class Written {
 public:
  void note(Element& e) {
    for (const Attribute& a : e.attributes) {
      const auto same = std::find_if(places_.begin(), places_.end(),
                                     [&](const auto& place) { return place.first == a.name; });
      if (same != places_.end())
        same->second = &e;
      else
        places_.emplace_back(a.name, &e);
    }
  }
  Element* find(std::string_view attribute) const {
    for (const auto& [name, e] : places_)
      if (name == attribute) return e;
    return nullptr;
  }
  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }

 private:
  std::vector<std::pair<std::string, Element*>> places_;
};
// Marks the attribute where it was written; has no effect if it was not written.
inline void mark(const Written& written, std::string_view attribute, Use use, bool physics,
                 const std::string& note) {
  if (Element* e = written.find(attribute)) mark(*e, attribute, use, physics, note);
}

struct JointSpec {
  Element* element = nullptr;
  Written written;
  std::string name;
  JointType type = JointType::hinge;
  Vec3 pos = Vec3::Zero(), axis = Vec3::UnitZ();
  Switch limited = Switch::automatic, actfrclimited = Switch::automatic;
  Switch align = Switch::automatic;  // of a free joint: see Compiler::alignfree
  Range range{}, actfrcrange{}, springdamper{};
  double stiffness = 0, damping = 0, armature = 0, frictionloss = 0, ref = 0, springref = 0;
  std::array<double, 2> stiffnesspoly{}, dampingpoly{};
  double margin = 0;
  bool actgravcomp = false;
  std::array<double, 2> solref{0.02, 1};  // of the limit
};

// A mesh named by an element.
struct NamedMesh {
  Element* element = nullptr;
  std::string mesh;
};

struct GeomSpec {
  Element* element = nullptr;
  Written written;
  std::string name, mesh, hfield;
  std::vector<NamedMesh> choices;  // for environments, `mesh` first; empty: no choice
  GeomType type = GeomType::sphere;
  Vec3 pos = Vec3::Zero(), size = Vec3::Zero();
  Quat quat = Quat::Identity();
  std::optional<std::array<double, 6>> fromto;
  bool shell = false, sdf = false;
  bool fitted = false;  // a primitive of type `fit` that gets its size from the mesh
  GeomType fit = GeomType::mesh;
  double fitscale = 1;
  double mesh_volume = 0;            // of the mesh, if it was read; else 0
  Vec3 mesh_moments = Vec3::Zero();  // its inertia per mass
  int contype = 1, conaffinity = 1, condim = 3, priority = 0, group = 0;
  std::array<double, 4> rgba{0.5, 0.5, 0.5, 1};
  std::string material;
  std::array<double, 3> friction{1, 0.005, 0.0001};
  std::array<double, 2> solref{0.02, 1};
  std::array<double, 5> solimp{0.9, 0.95, 0.001, 0.5, 2};
  bool fluid_ellipsoid = false;
  std::array<double, 5> fluidcoef{0.5, 0.25, 1.5, 1, 1};
  std::array<double, 6> surfacevel{};  // linear, angular, in the frame of the geom
  double solmix = 1, margin = 0, gap = 0, density = 1000;
  std::optional<double> mass;
};

struct SiteSpec {
  Element* element = nullptr;
  std::string name;
  GeomType type = GeomType::sphere;
  Vec3 pos = Vec3::Zero(), size{0.005, 0.005, 0.005};
  Quat quat = Quat::Identity();
  std::optional<std::array<double, 6>> fromto;
};

struct CameraSpec {
  Element* element = nullptr;
  std::string name;
  CameraMode mode = CameraMode::fixed;
  CameraProjection projection = CameraProjection::perspective;
  Vec3 pos = Vec3::Zero();
  Quat quat = Quat::Identity();
  double fovy = 45;
  std::array<int, 2> resolution = {1, 1};
  std::array<double, 2> sensorsize{}, focal{}, focalpixel{}, principal{}, principalpixel{};
};

// <inertial>: moments along the axes of `quat`.
struct InertialSpec {
  Element* element = nullptr;
  double mass = 0;
  Vec3 pos = Vec3::Zero(), moments = Vec3::Zero();
  Quat quat = Quat::Identity();
};

struct BodySpec {
  Element* element = nullptr;
  std::string name;
  int parent = 0;
  Vec3 pos = Vec3::Zero();          // in the parent
  Vec3 written_pos = Vec3::Zero();  // in the frame in which it is written
  Quat quat = Quat::Identity(), written_quat = Quat::Identity();
  bool mocap = false;
  double gravcomp = 0;
  std::optional<InertialSpec> inertial;
  std::vector<JointSpec> joints;
  std::vector<GeomSpec> geoms;
  std::vector<SiteSpec> sites;
  std::vector<CameraSpec> cameras;
};

// From gaintype, biastype and dyntype; `other` is not computed.
enum class Law { constant, affine, muscle, other };
// Range of lengths, force, scale, lmin, lmax, vmax, fpmax, fvmax; for an affine law the first three: force
// per 1, length, velocity.
using LawNumbers = std::array<double, 9>;
inline constexpr LawNumbers kMuscle{0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};

struct ActuatorSpec {
  Element* element = nullptr;
  Written written;
  std::string name;
  Transmission trntype = Transmission::joint;
  std::string target, reference;  // reference: refsite, slidersite
  double cranklength = 0;
  std::array<double, 6> gear{1, 0, 0, 0, 0, 0};
  // The element that last wrote gain, bias and dynamics: "general" or a shortcut. A class has a single
  // actuator default, whatever its elements are called.
  std::string kind = "general";
  Law gaintype = Law::constant, biastype = Law::constant;  // constant: first of gain; no bias
  LawNumbers gain{1};
  LawNumbers bias{};  // bias[2] > 0 in a position servo: a damping ratio
  ActuatorDynamics dyntype = ActuatorDynamics::none;
  bool unknown_state = false;  // any other dyntype
  std::array<double, 3> dynprm{1, 0, 0};
  bool actearly = false;
  int actdim = -1;          // -1: not given
  std::string unknown_law;  // the shortcut of these gain and bias, if it is not computed
  Switch ctrllimited = Switch::automatic, forcelimited = Switch::automatic;
  Switch actlimited = Switch::automatic;
  Range ctrlrange{}, forcerange{}, actrange{}, lengthrange{};
  double inheritrange = 0;
  // Added to the joint or tendon that it acts on, times gear².
  double damping = 0, armature = 0;
  std::array<double, 2> dampingpoly{};

  bool has_state() const { return dyntype != ActuatorDynamics::none; }
  bool is_muscle() const { return gaintype == Law::muscle || biastype == Law::muscle; }
  bool is_position_servo() const {
    return gaintype == Law::constant && biastype == Law::affine && gain[0] == -bias[1];
  }
  // inheritrange bounds the target of a servo, which is the control or the activation that integrates it.
  bool inherits_actrange() const {
    return inheritrange > 0 && is_position_servo() && dyntype == ActuatorDynamics::integrator;
  }
  bool inherits_ctrlrange() const {
    return inheritrange > 0 && is_position_servo() && !inherits_actrange();
  }
};

// Names of a <pair>; its numbers are in the PairSpec of derive.h.
struct PairSource {
  Element* element = nullptr;
  Written written;
  std::string geom1, geom2;
  PairSpec spec;
};

// An element of the path of a tendon.
struct WrapSpec {
  Element* element = nullptr;
  WrapType type = WrapType::joint;
  std::string object = {}, side = {};  // joint, site or geom; side: site beside a geom, "": none
  double coef = 0;                     // of a joint; divisor of a pulley
};

struct TendonSpec {
  Element* element = nullptr;
  Written written;
  std::string name;
  bool fixed = true;
  Switch limited = Switch::automatic, actfrclimited = Switch::automatic;
  Range range{}, actfrcrange{};
  Range springlength{-1, -1};  // both -1: the length at qpos_spring
  double stiffness = 0, damping = 0, armature = 0, frictionloss = 0, margin = 0;
  std::array<double, 2> stiffnesspoly{}, dampingpoly{};
  std::array<double, 2> solref{0.02, 1};  // of the limit
  std::vector<WrapSpec> wraps;
};

struct KeySpec {
  Element* element = nullptr;
  std::string name;
  double time = 0;
  std::vector<double> qpos, qvel, act, ctrl, mpos, mquat;  // empty: not given
};

struct EqualitySource {
  Element* element = nullptr;
  std::string name;
  EqualityType type = EqualityType::connect;
  ObjectType objtype = ObjectType::body;
  std::string object1, object2;  // object2 "": the world, or none
  Vec3 anchor = Vec3::Zero();
  std::array<double, 7> relpose{};  // a quaternion of length zero: the reference pose
  double torquescale = 1;
  std::array<double, 5> polycoef{0, 1, 0, 0, 0};
  std::array<double, 2> solref{0.02, 1};
  std::array<double, 5> solimp{0.9, 0.95, 0.001, 0.5, 2};
  bool active = true;
};

// Native compliance of <custom><numeric name="stiction_equality...">; equality "" means all.
struct ComplianceSpec {
  Element* element = nullptr;
  std::string equality;
  double stiffness = 0, relaxation_time = 0;  // N/m, s
  std::optional<double> rotational;           // N m/rad
};

// Data of a mesh that only the reader needs.
struct MeshSource {
  Element* element = nullptr;
  MeshSettings settings;
  std::vector<double> vertices;  // given in the model file
  std::vector<int> faces;
  std::optional<MeshShape> shape;  // if it was read
};

// One <default> class: the initial state of elements of the class.
struct DefaultClass {
  std::string parent;  // "": the class main
  JointSpec joint;
  GeomSpec geom;
  SiteSpec site;
  CameraSpec camera;
  ActuatorSpec actuator;
  PairSource pair;
  TendonSpec tendon;
  EqualitySource equality;
  std::array<double, 3> mesh_scale{1, 1, 1};
  MeshSource mesh;
};

struct SensorSource {
  Element* element = nullptr;
  SensorSpec spec;
};

// Native contact material of <custom><numeric name="stiction_contact...">; geom "" means all.
struct MaterialSpec {
  Element* element = nullptr;
  std::string geom;
  double stiffness = 0, dissipation = 0, restitution = 0;
};

// <custom><tuple name="stiction_meshes/GEOM">: meshes that environments may choose for the geom.
struct MeshChoiceSpec {
  Element* element = nullptr;
  std::string geom;
  std::vector<NamedMesh> meshes;
};

// Features that <flag> can disable.
struct Flags {
  bool contact = true, limit = true, frictionloss = true, spring = true, damper = true;
  bool equality = true, clampctrl = true, actuation = true, gravity = true;
};

// Data of a height field that only the reader needs: where it is written, and its elevations.
struct HfieldSource {
  Element* element = nullptr;
  // given in the model file, the row with the largest y first
  std::vector<double> elevation;
  Elevations read;
};

// The contents of a file.
struct Spec {
  std::string name;
  Compiler compiler;
  std::vector<Compiler> attached;  // of attached models: Element::scope 1, 2, ...
  const Compiler& compiler_of(const Element& e) const {
    return e.scope == 0 ? compiler : attached[static_cast<std::size_t>(e.scope) - 1];
  }
  const Compiler& compiler_of(const BodySpec& b) const {
    return b.element ? compiler_of(*b.element) : compiler;
  }
  double timestep = 0.002;
  std::array<double, 3> gravity{0, 0, -9.81};
  Flags flags;
  double density = 0, viscosity = 0;  // of the medium, kg/m³, Pa s
  std::array<double, 3> wind{};       // m/s
  std::array<double, 3> magnetic{0, -0.5, 0};
  ContactSettings contact;  // excludes and pairs are resolved from the two lists below
  std::map<std::string, DefaultClass, std::less<>> classes;
  std::vector<BodySpec> bodies;  // depth-first order, the world first
  std::vector<ActuatorSpec> actuators;
  std::vector<PairSource> pairs;
  std::vector<std::pair<std::string, std::string>> excludes;
  std::vector<TendonSpec> tendons;
  std::vector<KeySpec> keys;
  std::vector<MaterialSpec> materials;
  std::vector<MeshChoiceSpec> mesh_choices;
  std::vector<SensorSource> sensors;
  std::vector<EqualitySource> equalities;
  std::vector<ComplianceSpec> compliances;
  std::vector<MeshSpec> meshes;
  std::vector<MeshSource> mesh_sources;  // one per mesh
  std::vector<HfieldSpec> hfields;
  std::vector<HfieldSource> hfield_sources;  // one per field
  // Elements that may contain others and are not read: a missing name may be in one of them.
  std::vector<Element*> unread;

  bool has_medium() const { return density != 0 || viscosity != 0; }

  // Names per kind ("body", "joint", ...) with the element that owns them.
  std::map<std::string, std::map<std::string, const Element*, std::less<>>, std::less<>> names;
};

}  // namespace stiction::model
