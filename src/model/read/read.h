// The reader, section by section: XML to a Spec. Each function reads one kind of element.
#pragma once

#include "model/spec/specs.h"
#include "model/xml/bounds.h"
#include "stiction/report.h"

namespace stiction::model {

// Reads the whole file, checked by check_schema(), in MuJoCo's order: settings, defaults, assets, tree, then what
// refers to names. `directories`: of the attached models, scope 1, 2, ...
Spec read_mjcf(Element& root, const std::vector<std::string>& directories = {});

// read_settings.cpp
void read_compiler(Element& e, Compiler& c);
void read_option(Element& e, Spec& spec);
void read_custom(Element& e, Spec& spec);

// read_mesh_choices.cpp: meshes that environments may choose for a geom,
//   <custom><tuple name="stiction_meshes/GEOM"> <element objtype="mesh" objname="MESH"/> ... </tuple></custom>
inline constexpr std::string_view kMeshChoiceKey = "stiction_meshes/";
// Reads a tuple of that name; false: it has another name. Throws ModelError on an element that is not a mesh.
bool read_mesh_choice(Element& tuple, Spec& spec);
// Gives each geom its choices, once all names are known. Throws ModelError on an unknown name and on a geom that is
// not a mesh.
void resolve_mesh_choices(Spec& spec);

// read_defaults.cpp
void read_defaults(Element& e, Spec& spec);
// Returns the class of an element: its own, else the inherited childclass, else main.
const DefaultClass& class_of(const Spec& spec, Element& e, const std::string& childclass);
std::string childclass_of(const Spec& spec, Element& e, const std::string& inherited);

// read_elements.cpp: overlay the given attributes on the defaults
// Reads solref and solimp; returns true if one is given.
bool read_solver(Element& e, std::array<double, 2>& solref, std::array<double, 5>& solimp);
// A mixture of the two formats is replaced by MuJoCo's default.
void read_solreflimit(Element& e, std::array<double, 2>& solref);
// Reads polynomial coefficients:
// a linear one and two of higher order, of the force -x (linear + poly[0] x + poly[1] x²).
void read_polynomial(Element& e, std::string_view attribute, const Bound& bound, double& linear,
                     std::array<double, 2>& poly);
void read_joint(const Compiler& c, Element& e, JointSpec& j);
void read_geom(const Compiler& c, Element& e, GeomSpec& g);
void read_site(const Compiler& c, Element& e, SiteSpec& s);
void read_camera(const Compiler& c, Element& e, CameraSpec& s);
void read_inertial(const Compiler& c, Element& e, InertialSpec& i);

// read_tree.cpp
void read_worldbody(Element& e, Spec& spec);
void check_size(const Element& e, GeomType type, const Vec3& size);

// judge.cpp: marks what an element of the model requests that is not computed, where it was
// written.
void judge(JointSpec& j);
void judge(PairSource& p);
void judge(TendonSpec& t);
void judge(ActuatorSpec& a);
// Judges geoms that can touch something, one flag for each geom in the order of the model, and pairs.
void judge_contacts(Spec& spec, const Model& m, const LoadReport& report);

// read_actuators.cpp
// Overlays the element on the actuator default `a`; `ancestor`: the parent of the class of `a`.
void read_actuator(const Spec& spec, Element& e, const std::string& ancestor, ActuatorSpec& a);
void read_actuators(Element& e, Spec& spec);
// autolimits: a given range enables its limit; the lower end must be below the upper one.
void resolve_limited(const Compiler& c, const Element& e, const std::string& switch_name,
                     const std::string& range_name, Switch& limited, const Range& range);

// read_relations.cpp: <asset>, <contact>
void read_assets(Element& e, Spec& spec);
// Reads attributes of a mesh that a class may also give.
void read_mesh(Element& e, std::array<double, 3>& scale, MeshSource& m);
void read_pair(Element& e, PairSource& p);
void read_contacts(Element& e, Spec& spec);

// read_equalities.cpp
void read_equality(Element& e, EqualitySource& q);
void read_equalities(Element& e, Spec& spec);
// <custom><numeric name="stiction_equality/NAME">; `equality` "": all of them
void read_compliance(Element& n, const std::string& equality, const std::vector<double>& data,
                     Spec& spec);

// read_tendons.cpp
void read_tendon(Element& e, TendonSpec& t);
void read_tendons(Element& e, Spec& spec);

// read_sensors.cpp: <sensor>, <keyframe>
void read_sensors(Element& e, Spec& spec);
void read_keyframes(Element& e, Spec& spec);

// Reads the name, which must be new among elements of this kind; "" if there is none.
std::string claim_name(Spec& spec, std::string_view kind, Element& e);
// Throws unless `name`, the value of `attribute`, names an element of this kind.
void require_name(const Spec& spec, std::string_view kind, const Element& e,
                  std::string_view attribute, const std::string& name);
std::optional<Switch> read_switch(Element& e, std::string_view attribute);

}  // namespace stiction::model
