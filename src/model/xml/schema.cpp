// The MJCF grammar as a table: depth, element, attributes. <worldbody>, <frame> and <replicate>
// have the children of <body>; sensors share the attributes of kSensorAttributes.
#include "model/xml/schema.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stiction::model {
namespace {

struct Row {
  int depth;
  const char* element;
  const char* attributes;
};

constexpr std::string_view kSensorAttributes =
    "cutoff delay interp interval name noise nsample user";

// clang-format off
constexpr Row kRows[] = {
  {0, "mujoco", "model"},
  {1, "compiler", "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass "
                    "conflict coordinate discardvisual eulerseq fitaabb fusestatic "
                    "inertiafromgeom inertiagrouprange meshdir passthrough savecanonical "
                    "savecompiled saveinertial settotalmass strippath texturedir usethread"},
  {2, "lengthrange", "accel interval inttotal maxforce mode timeconst timestep tolrange "
                       "useexisting uselimit"},
  {1, "option", "actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity "
                  "impratio integrator iterations jacobian ls_iterations ls_tolerance magnetic "
                  "noslip_iterations noslip_tolerance o_friction o_margin o_solimp o_solref "
                  "sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance "
                  "viscosity wind"},
  {2, "flag", "actuation autoreset clampctrl constraint contact damper diagexact energy "
                "equality eulerdamp filterparent frictionloss fwdinv gravity invdiscrete ipc "
                "island limit midphase multiccd nativeccd override refsafe sensor sleep "
                "speculative spring warmstart"},
  {1, "size", "memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam "
                "nuser_geom nuser_jnt nuser_sensor nuser_site nuser_tendon nuserdata"},
  {1, "statistic", "center extent meaninertia meanmass meansize"},
  {1, "visual", ""},
  {2, "global", "azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth "
                  "offheight offwidth orthographic realtime"},
  {2, "quality", "numquads numslices numstacks offsamples shadowsize"},
  {2, "headlight", "active ambient diffuse specular"},
  {2, "map", "actuatortendon alpha fogend fogstart force haze shadowclip shadowscale "
               "stiffness stiffnessrot torque zfar znear"},
  {2, "scale", "actuatorlength actuatorwidth camera com connect constraint contactheight "
                 "contactwidth forcewidth framelength framewidth frustum jointlength jointwidth "
                 "light selectpoint slidercrank"},
  {2, "rgba", "actuator actuatornegative actuatorpositive bv bvactive camera com connect "
                "constraint contactforce contactfriction contactgap contactpoint contacttorque "
                "crankbroken fog force frustum haze inertia joint light rangefinder selectpoint "
                "slidercrank"},
  {1, "default", "class"},
  {2, "mesh", "inertia maxhullvert scale"},
  {2, "texture", "builtin colorspace embed gridlayout gridsize height hflip mark markrgb "
                   "nchannel random rgb1 rgb2 type vflip width"},
  {2, "material", "emission metallic reflectance rgba roughness shininess specular texrepeat "
                    "texture texuniform"},
  {3, "layer", "role texture"},
  {2, "joint", "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis damping "
                 "frictionloss group limited margin pos range ref solimpfriction solimplimit "
                 "solreffriction solreflimit springdamper springref springyield stiffness type "
                 "user"},
  {2, "geom", "adhesion axisangle castshadow conaffinity condim contype density euler "
                "fitscale fluidcoef fluidshape friction fromto gap group hfield margin mass "
                "material mesh pos priority quat rgba shellinertia size solimp solmix solref "
                "surfacevel type user xyaxes zaxis"},
  {2, "site", "axisangle euler fromto group material mesh pos quat rgba size type user xyaxes "
                "zaxis"},
  {2, "camera", "axisangle euler focal focalpixel fovy ipd mode output pos principal "
                  "principalpixel projection quat resolution sensorsize user xyaxes zaxis"},
  {2, "light", "active ambient attenuation bulbradius castshadow cutoff diffuse dir "
                 "directional exponent intensity mode pos range softness specular type"},
  {2, "pair", "adhesion condim friction gap margin solimp solref solreffriction"},
  {2, "equality", "active solimp solref"},
  {2, "tendon", "actuatorfrclimited actuatorfrcrange armature damping frictionloss group "
                  "limited margin material range rgba solimpfriction solimplimit solreffriction "
                  "solreflimit springlength springyield stiffness user width"},
  {2, "general", "actdim actearly actlimited actrange armature biasprm biastype cranklength "
                   "ctrllimited ctrlrange damping delay dynprm dyntype ffrange forcelimited "
                   "forcerange gainprm gaintype gear group inheritrange input interp nsample "
                   "user velrange"},
  {2, "motor", "armature cranklength ctrllimited ctrlrange damping delay forcelimited "
                 "forcerange gear group interp nsample user"},
  {2, "position", "armature cranklength ctrllimited ctrlrange damping dampratio delay "
                    "forcelimited forcerange gear group inheritrange interp kp kv nsample "
                    "timeconst user"},
  {2, "velocity", "armature cranklength ctrllimited ctrlrange damping delay forcelimited "
                    "forcerange gear group interp kv nsample user"},
  {2, "intvelocity", "actlimited actrange armature cranklength ctrllimited ctrlrange damping "
                       "dampratio delay forcelimited forcerange gear group inheritrange interp "
                       "kp kv nsample user"},
  {2, "orientation", "ctrlrange dampratio delay forcelimited forcerange group input interp kp "
                       "kv nsample user"},
  {2, "pid", "armature cranklength ctrllimited ctrlrange damping dampratio delay ffrange "
               "forcelimited forcerange gear group imax inheritrange input interp ki kp kv "
               "nsample posrange slewmax user velrange"},
  {2, "damper", "armature cranklength ctrlrange damping delay forcelimited forcerange gear "
                  "group interp kv nsample user"},
  {2, "cylinder", "area armature bias cranklength ctrllimited ctrlrange damping delay "
                    "diameter forcelimited forcerange gear group interp nsample timeconst user"},
  {2, "muscle", "armature cranklength ctrllimited ctrlrange damping delay force forcelimited "
                  "forcerange fpmax fvmax gear group interp lmax lmin nsample range scale "
                  "timeconst user vmax"},
  {2, "adhesion", "ctrlrange delay forcelimited forcerange gain group interp nsample user"},
  {2, "dcmotor", "armature cogging controller cranklength ctrllimited ctrlrange damping delay "
                   "gear group inductance input interp lugre motorconst nominal nsample "
                   "resistance saturation thermal user"},
  {1, "extension", ""},
  {2, "plugin", "plugin"},
  {3, "instance", "name"},
  {4, "config", "key value"},
  {1, "asset", ""},
  {2, "mesh", "builtin class content_type face file inertia material maxhullvert name normal "
                "params refpos refquat scale smoothnormal texcoord vertex"},
  {3, "plugin", "instance plugin"},
  {4, "config", "key value"},
  {2, "hfield", "content_type elevation file name ncol nrow size"},
  {2, "skin", "face file group inflate material name rgba texcoord vertex"},
  {3, "bone", "bindpos bindquat body vertid vertweight"},
  {2, "texture", "builtin class colorspace content_type embed file fileback filedown "
                   "filefront fileleft fileright fileup gridlayout gridsize height hflip mark "
                   "markrgb name nchannel random rgb1 rgb2 type vflip width"},
  {2, "material", "class emission metallic name reflectance rgba roughness shininess specular "
                    "texrepeat texture texuniform"},
  {3, "layer", "role texture"},
  {2, "model", "content_type file name"},
  {1, "body", "axisangle childclass euler fuse gravcomp mocap name pos quat simple sleep user "
                "xyaxes zaxis"},
  {2, "inertial", "axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis"},
  {2, "joint", "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class "
                 "damping frictionloss group limited margin name pos range ref solimpfriction "
                 "solimplimit solreffriction solreflimit springdamper springref springyield "
                 "stiffness type user"},
  {2, "freejoint", "align group name"},
  {2, "geom", "adhesion axisangle castshadow class conaffinity condim contype density euler "
                "fitscale fluidcoef fluidshape friction fromto gap group hfield margin mass "
                "material mesh name pos priority quat rgba shellinertia size solimp solmix "
                "solref surfacevel type user xyaxes zaxis"},
  {3, "plugin", "instance plugin"},
  {4, "config", "key value"},
  {2, "frame", "axisangle childclass euler name pos quat xyaxes zaxis"},
  {2, "replicate", "childclass count euler offset sep"},
  {2, "composite", "count curve initial offset prefix quat size type vertex"},
  {2, "attach", "body frame model prefix"},
  {2, "site", "axisangle class euler fromto group material mesh name pos quat rgba size type "
                "user xyaxes zaxis"},
  {2, "camera", "axisangle class euler focal focalpixel fovy ipd mode name output pos "
                  "principal principalpixel projection quat resolution sensorsize target user "
                  "xyaxes zaxis"},
  {2, "light", "active ambient attenuation bulbradius castshadow class cutoff diffuse dir "
                 "directional exponent intensity mode name pos range softness specular target "
                 "texture type"},
  {2, "plugin", "instance plugin"},
  {3, "config", "key value"},
  {2, "flexcomp", "axisangle cellcount count dim dof element euler file flatskin group "
                    "inertiabox mass material mesh name origin point pos quat radius rgba rigid "
                    "scale spacing texcoord type xyaxes zaxis"},
  {3, "edge", "damping equality solimp solref stiffness"},
  {3, "elasticity", "damping elastic2d poisson section sectionsize shear thickness yield "
                      "young"},
  {3, "contact", "activelayers conaffinity condim contype friction gap margin passive "
                   "priority selfcollide solimp solmix solref"},
  {3, "pin", "grid gridrange id range"},
  {3, "plugin", "instance plugin"},
  {4, "config", "key value"},
  {1, "deformable", ""},
  {2, "flex", "body cellcount dim dof element elemtexcoord flatskin group material name node "
                "nodecoord radius rgba texcoord vertex"},
  {3, "contact", "activelayers conaffinity condim contype friction gap margin passive "
                   "priority selfcollide solimp solmix solref"},
  {3, "edge", "damping stiffness"},
  {3, "elasticity", "damping elastic2d poisson section sectionsize shear thickness yield "
                      "young"},
  {2, "skin", "face file group inflate material name rgba texcoord vertex"},
  {3, "bone", "bindpos bindquat body vertid vertweight"},
  {1, "contact", ""},
  {2, "pair", "adhesion class condim friction gap geom1 geom2 margin name solimp solref "
                "solreffriction"},
  {2, "exclude", "body1 body2 name"},
  {1, "tendon", ""},
  {2, "spatial", "actuatorfrclimited actuatorfrcrange armature class damping frictionloss "
                   "group limited margin material name range rgba solimpfriction solimplimit "
                   "solreffriction solreflimit springlength springyield stiffness user width"},
  {3, "site", "site"},
  {3, "geom", "geom sidesite"},
  {3, "pulley", "divisor"},
  {2, "fixed", "actuatorfrclimited actuatorfrcrange armature class damping frictionloss group "
                 "limited margin name range solimpfriction solimplimit solreffriction "
                 "solreflimit springlength springyield stiffness user"},
  {3, "joint", "coef joint"},
  {1, "equality", ""},
  {2, "connect", "active anchor body1 body2 class name site1 site2 solimp solref"},
  {2, "weld", "active anchor body1 body2 class name relpose site1 site2 solimp solref "
                "torquescale"},
  {2, "joint", "active class joint1 joint2 name polycoef solimp solref"},
  {2, "tendon", "active class name polycoef solimp solref tendon1 tendon2"},
  {2, "flex", "active class flex name solimp solref"},
  {2, "flexstrain", "active cell class flex name solimp solref"},
  {1, "actuator", ""},
  {2, "general", "actdim actearly actlimited actrange armature biasprm biastype body class "
                   "cranklength cranksite ctrllimited ctrlrange damping delay dynprm dyntype "
                   "ffrange forcelimited forcerange gainprm gaintype gear group inheritrange "
                   "input interp joint jointinparent lengthrange name nsample refsite site "
                   "slidersite tendon user velrange"},
  {2, "motor", "armature class cranklength cranksite ctrllimited ctrlrange damping delay "
                 "forcelimited forcerange gear group interp joint jointinparent lengthrange "
                 "name nsample refsite site slidersite tendon user"},
  {2, "position", "armature class cranklength cranksite ctrllimited ctrlrange damping "
                    "dampratio delay forcelimited forcerange gear group inheritrange interp "
                    "joint jointinparent kp kv lengthrange name nsample refsite site slidersite "
                    "tendon timeconst user"},
  {2, "velocity", "armature class cranklength cranksite ctrllimited ctrlrange damping delay "
                    "forcelimited forcerange gear group interp joint jointinparent kv "
                    "lengthrange name nsample refsite site slidersite tendon user"},
  {2, "intvelocity", "actlimited actrange armature class cranklength cranksite ctrllimited "
                       "ctrlrange damping dampratio delay forcelimited forcerange gear group "
                       "inheritrange interp joint jointinparent kp kv lengthrange name nsample "
                       "refsite site slidersite tendon user"},
  {2, "orientation", "class ctrlrange dampratio delay forcelimited forcerange group input "
                       "interp joint kp kv name nsample refsite site user"},
  {2, "pid", "armature class cranklength cranksite ctrllimited ctrlrange damping dampratio "
               "delay ffrange forcelimited forcerange gear group imax inheritrange input interp "
               "joint jointinparent ki kp kv lengthrange name nsample posrange refsite site "
               "slewmax slidersite tendon user velrange"},
  {2, "damper", "armature class cranklength cranksite ctrlrange damping delay forcelimited "
                  "forcerange gear group interp joint jointinparent kv lengthrange name nsample "
                  "refsite site slidersite tendon user"},
  {2, "cylinder", "area armature bias class cranklength cranksite ctrllimited ctrlrange "
                    "damping delay diameter forcelimited forcerange gear group interp joint "
                    "jointinparent lengthrange name nsample refsite site slidersite tendon "
                    "timeconst user"},
  {2, "muscle", "armature class cranklength cranksite ctrllimited ctrlrange damping delay "
                  "force forcelimited forcerange fpmax fvmax gear group interp joint "
                  "jointinparent lengthrange lmax lmin name nsample range scale slidersite "
                  "tausmooth tendon timeconst user vmax"},
  {2, "adhesion", "body class ctrlrange delay forcelimited forcerange gain group interp name "
                    "nsample user"},
  {2, "dcmotor", "armature class cogging controller cranklength cranksite ctrllimited "
                   "ctrlrange damping delay gear group inductance input interp joint "
                   "jointinparent lengthrange lugre motorconst name nominal nsample refsite "
                   "resistance saturation site slidersite tendon thermal user"},
  {2, "plugin", "actdim actearly actlimited actrange armature class cranklength cranksite "
                  "ctrllimited ctrlrange damping delay dynprm dyntype forcelimited forcerange "
                  "gear group instance interp joint jointinparent lengthrange name nsample "
                  "plugin site slidersite tendon user"},
  {3, "config", "key value"},
  {1, "sensor", ""},
  {2, "touch", "site"},
  {2, "accelerometer", "site"},
  {2, "velocimeter", "site"},
  {2, "gyro", "site"},
  {2, "force", "site"},
  {2, "torque", "site"},
  {2, "magnetometer", "site"},
  {2, "camprojection", "camera site"},
  {2, "rangefinder", "camera data site"},
  {2, "jointpos", "joint"},
  {2, "jointvel", "joint"},
  {2, "tendonpos", "tendon"},
  {2, "tendonvel", "tendon"},
  {2, "actuatorpos", "actuator"},
  {2, "actuatorvel", "actuator"},
  {2, "actuatorfrc", "actuator"},
  {2, "jointactuatorfrc", "joint"},
  {2, "tendonactuatorfrc", "tendon"},
  {2, "ballquat", "joint"},
  {2, "ballangvel", "joint"},
  {2, "jointlimitpos", "joint"},
  {2, "jointlimitvel", "joint"},
  {2, "jointlimitfrc", "joint"},
  {2, "tendonlimitpos", "tendon"},
  {2, "tendonlimitvel", "tendon"},
  {2, "tendonlimitfrc", "tendon"},
  {2, "framepos", "objname objtype refname reftype"},
  {2, "framequat", "objname objtype refname reftype"},
  {2, "framexaxis", "objname objtype refname reftype"},
  {2, "frameyaxis", "objname objtype refname reftype"},
  {2, "framezaxis", "objname objtype refname reftype"},
  {2, "framelinvel", "objname objtype refname reftype"},
  {2, "frameangvel", "objname objtype refname reftype"},
  {2, "framelinacc", "objname objtype"},
  {2, "frameangacc", "objname objtype"},
  {2, "subtreecom", "body"},
  {2, "subtreelinvel", "body"},
  {2, "subtreeangmom", "body"},
  {2, "insidesite", "enclosed objname objtype site"},
  {2, "distance", "body1 body2 geom1 geom2"},
  {2, "normal", "body1 body2 geom1 geom2"},
  {2, "fromto", "body1 body2 geom1 geom2"},
  {2, "contact", "body1 body2 data geom1 geom2 num reduce site subtree1 subtree2"},
  {2, "e_potential", ""},
  {2, "e_kinetic", ""},
  {2, "clock", ""},
  {2, "tactile", "geom mesh"},
  {2, "user", "datatype dim needstage objname objtype"},
  {2, "plugin", "cutoff instance name objname objtype plugin refname reftype user"},
  {3, "config", "key value"},
  {1, "custom", ""},
  {2, "numeric", "data name size"},
  {2, "text", "data name"},
  {2, "tuple", "name"},
  {3, "element", "objname objtype prm"},
  {1, "keyframe", ""},
  {2, "key", "act ctrl mpos mquat name plastic qpos qvel time"},
};
// clang-format on

constexpr int kRowCount = static_cast<int>(std::size(kRows));

int row_of(std::string_view element, int depth, int from) {
  for (int i = from; i < kRowCount && kRows[i].depth >= depth; ++i) {
    if (kRows[i].depth == depth && element == kRows[i].element) return i;
  }
  return -1;
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t i = list.find(word); i != list.npos; i = list.find(word, i + 1)) {
    const std::size_t end = i + word.size();
    if ((i == 0 || list[i - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

void split(std::string_view list, std::vector<std::string>& out) {
  while (!list.empty()) {
    const std::size_t n = std::min(list.find(' '), list.size());
    if (n > 0) out.emplace_back(list.substr(0, n));
    list.remove_prefix(std::min(n + 1, list.size()));
  }
}

std::string hint(const std::string& near) {
  return near.empty() ? std::string() : "; did you mean \"" + near + "\"?";
}

void check_attributes(const Element& e, int row, bool sensor) {
  for (const auto& a : e.attributes) {
    if (has_word(kRows[row].attributes, a.name)) continue;
    if (sensor && has_word(kSensorAttributes, a.name)) continue;
    std::vector<std::string> known;
    split(kRows[row].attributes, known);
    if (sensor) split(kSensorAttributes, known);
    fail(e, a.name,
         "unknown attribute of <" + shown(e.name) + ">" + hint(nearest(a.name, known)) +
             "; correct or remove it");
  }
}

void check_element(const Element& e, int row) {
  const int depth = kRows[row].depth;
  const bool in_body = std::string_view(kRows[row].element) == "body" ||
                       std::string_view(kRows[row].element) == "frame" ||
                       std::string_view(kRows[row].element) == "replicate";
  static const int body = row_of("body", 1, 1), defaults = row_of("default", 1, 1);
  const bool nested_default = row == defaults;
  const int first = in_body ? body + 1 : row + 1, inner = in_body ? 2 : depth + 1;
  for (const auto& child : e.children) {
    int r = in_body && child.name == "body" ? body
            : nested_default && child.name == "default"
                ? defaults
                : row_of(child.name == "worldbody" ? "body" : child.name, inner, first);
    if (child.name == "worldbody" && depth != 0) r = -1;
    if (child.name == "body" && depth == 0) r = -1;
    if (r < 0) {
      std::vector<std::string> known;
      if (in_body) known.emplace_back("body");
      if (nested_default) known.emplace_back("default");
      for (int i = first; i < kRowCount && kRows[i].depth >= inner; ++i) {
        if (kRows[i].depth == inner) known.emplace_back(kRows[i].element);
      }
      fail(child, "unknown element inside <" + shown(e.name) + ">" +
                      hint(nearest(child.name, known)) + "; correct or remove it");
    }
    if (child.name == "worldbody") {
      for (const auto& a : child.attributes) {
        if (a.name != "childclass") fail(child, a.name, "the world body has no such attribute");
      }
    }
    check_attributes(child, r, e.name == "sensor" && child.name != "plugin");
    check_element(child, r);
  }
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(name.size(), 12) / 3;  // one typo per 3 letters
  if (name.size() > 60 || best_distance == 0) return best;
  for (const auto& k : known) {
    // Levenshtein distance, one row at a time
    std::vector<std::size_t> d(k.size() + 1);
    std::iota(d.begin(), d.end(), 0u);
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = d[0]++;
      for (std::size_t j = 0; j < k.size(); ++j) {
        const std::size_t change = diagonal + (name[i] != k[j]);
        diagonal = d[j + 1];
        d[j + 1] = std::min({change, d[j] + 1, d[j + 1] + 1});
      }
    }
    if (d.back() <= best_distance && (best.empty() || d.back() < best_distance)) {
      best = k, best_distance = d.back();
    }
  }
  return best;
}

void check_schema(const Element& root) {
  if (root.name != "mujoco") {
    fail(root, "the top element must be <mujoco>; is this an MJCF file?");
  }
  check_attributes(root, 0, false);
  check_element(root, 0);
}

}  // namespace stiction::model
