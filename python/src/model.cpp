// Model: reading, sizes, names and look-ups. Its arrays are in model_arrays.cpp.
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "arrays.h"
#include "module.h"
#include "stiction/error.h"
#include "stiction/load.h"
#include "stiction/text.h"

namespace stiction::python {
namespace {

using Shared = std::shared_ptr<LoadedModel>;
using Path = std::filesystem::path;

// One ModelWarning, if something of the model is not computed.
void warn(const Model& model, const LoadReport& report) {
  const std::string lines = summary(report);
  if (lines.empty()) return;
  const std::string text = (model.file.empty() ? "the model" : visible(model.file)) +
                           " has physics that is not computed:\n" + lines +
                           "\nprint(model.report) shows all, strict=True refuses such models";
  const nb::object category = nb::module_::import_("stiction._core").attr("ModelWarning");
  // 1: the line of Python that loads
  if (PyErr_WarnEx(category.ptr(), text.c_str(), 1) != 0) throw nb::python_error();
}

// Files as Python gives them.
using Files = std::map<std::string, std::variant<nb::bytes, std::string>>;
Assets assets_of(const std::optional<Files>& files) {
  Assets assets;
  for (const auto& [name, content] : files.value_or(Files{})) {
    if (const auto* bytes = std::get_if<nb::bytes>(&content))
      assets.emplace(name, std::string(bytes->c_str(), bytes->size()));
    else
      assets.emplace(name, std::get<std::string>(content));
  }
  return assets;
}

// Without the GIL. A refusal carries the report that explains it.
Shared load(nb::handle model_error, ModelSource given) {
  auto report = std::make_shared<LoadReport>();
  const auto source = std::make_shared<ModelSource>(std::move(given));
  try {
    ModelPtr model;
    {
      const nb::gil_scoped_release release;
      model = load_model(*source, report.get());
    }
    warn(*model, *report);
    return std::make_shared<LoadedModel>(LoadedModel{std::move(model), report, source});
  } catch (const ModelError& e) {
    nb::object error = model_error(e.what());
    error.attr("report") = nb::cast(std::shared_ptr<const LoadReport>(report));
    PyErr_SetObject(model_error.ptr(), error.ptr());
  }
  throw nb::python_error();
}

int geom_index(const Model& m, const Key& key) {
  const int g = index_of(m, key, &Model::geom);
  if (g < 0 || g >= m.ngeom)
    throw ArgumentError("geom = " + std::to_string(g) +
                        ": must be a name, None for all geoms, or " + "an index in [0, " +
                        std::to_string(m.ngeom) + ")");
  return g;
}

Shared with_material(const LoadedModel& self, const std::optional<Key>& geom, double stiffness,
                     double dissipation, std::optional<double> friction, double relaxation_time,
                     double restitution) {
  const int g = geom ? geom_index(*self.model, *geom) : -1;
  return changed(self,
                 NewMaterial{g, {stiffness, dissipation, friction, relaxation_time, restitution}});
}

void def_size(nb::class_<LoadedModel>& c, const char* name, int Model::*field, const char* doc) {
  c.def_prop_ro(
      name, [field](const LoadedModel& m) { return (*m.model).*field; }, doc);
}

void def_names(nb::class_<LoadedModel>& c, const char* name, Names Model::*field, const char* sig) {
  c.def_prop_ro(
      name,
      [field](const LoadedModel& m) {
        nb::list names;
        for (const std::string& n : (*m.model).*field) names.append(n);
        return nb::tuple(names);
      },
      nb::sig(sig), "names in model order; '' where unnamed");
}

void def_lookup(nb::class_<LoadedModel>& c, const char* name,
                int (Model::*find)(const std::string&) const, const char* doc) {
  c.def(
      name, [find](const LoadedModel& m, const std::string& n) { return ((*m.model).*find)(n); },
      nb::arg("name"), doc);
}

template <class Spec>
void def_specs(nb::class_<LoadedModel>& c, const char* name, std::vector<Spec> Model::*field,
               const char* doc = "read and kept, not computed by the engine yet") {
  c.def_prop_ro(
      name, [field](const LoadedModel& m) { return (*m.model).*field; }, doc);
}

void bind_specs(nb::module_& m) {
  nb::class_<SensorSpec>(m, "SensorSpec", "A sensor as in the file.")
      .def_ro("name", &SensorSpec::name)
      .def_ro("type", &SensorSpec::type)
      .def_ro("objtype", &SensorSpec::objtype)
      .def_ro("object", &SensorSpec::object)
      .def_ro("reftype", &SensorSpec::reftype)
      .def_ro("reference", &SensorSpec::reference)
      .def_ro("cutoff", &SensorSpec::cutoff, "bound of the readings; 0: none")
      .def_ro("dim", &SensorSpec::dim, "numbers of a reading; 0: kept, but not evaluated");
  nb::class_<MeshSpec>(m, "MeshSpec", "A mesh asset as in the file.")
      .def_ro("name", &MeshSpec::name)
      .def_ro("file", &MeshSpec::file)
      .def_ro("scale", &MeshSpec::scale);
  nb::class_<HfieldSpec>(m, "HfieldSpec", "A height field asset as in the file.")
      .def_ro("name", &HfieldSpec::name)
      .def_ro("file", &HfieldSpec::file)
      .def_ro("nrow", &HfieldSpec::nrow)
      .def_ro("ncol", &HfieldSpec::ncol)
      .def_ro("size", &HfieldSpec::size);
}

using Actuators = std::variant<std::string, std::map<std::string, std::string>>;
using UrdfState = std::tuple<bool, bool, std::map<std::string, std::string>, double, double,
                             std::vector<std::string>>;

UrdfOptions urdf_options(bool floor, bool free_root, const Actuators& actuators, double kp,
                         double kv, const std::vector<Path>& search_path) {
  UrdfOptions o{floor, free_root, {}, kp, kv, {}};
  if (const auto* all = std::get_if<std::string>(&actuators)) {
    o.actuators.emplace("", *all);
  } else {
    o.actuators = std::get<std::map<std::string, std::string>>(actuators);
  }
  for (const Path& folder : search_path) o.search_path.push_back(folder.string());
  for (const auto& [name, value] : {std::pair{"kp", kp}, {"kv", kv}})
    if (!(value >= 0 && value <= 1e12))
      throw ArgumentError(std::string(name) + " = " + std::to_string(value) +
                          ": must be in [0, 1e12]");
  return o;
}

void bind_urdf(nb::module_& m) {
  nb::class_<UrdfOptions>(m, "Urdf",
                          "How a URDF becomes a model: `Model.from_file(path, urdf=...)`.")
      .def(
          "__init__",
          [](UrdfOptions* self, bool floor, bool free_root, const Actuators& actuators, double kp,
             double kv, const std::vector<Path>& search_path) {
            new (self) UrdfOptions(urdf_options(floor, free_root, actuators, kp, kv, search_path));
          },
          nb::kw_only(), nb::arg("floor") = false, nb::arg("free_root") = false,
          nb::arg("actuators") = "none", nb::arg("kp") = 100.0, nb::arg("kv") = 10.0,
          nb::arg("search_path") = std::vector<Path>{},
          "floor: a plane at z = 0.\n\n"
          "free_root: the root link moves freely; otherwise it stands in the world.\n\n"
          "actuators: 'position', 'velocity', 'effort' or 'none', of all joints that mimic none, "
          "or a "
          "dict of them by the joint's name ('': all others). Forces are bounded by the joint's "
          "effort, "
          "controls by its limits.\n\n"
          "kp: of position servos, N m/rad or N/m; they are critically damped at qpos0. kv: of "
          "velocity "
          "servos, N m s/rad or N s/m.\n\n"
          "search_path: folders of meshes and of ROS packages (package://NAME/), beside that of "
          "the "
          "file. Nothing outside of them and of the folder around the file's is read.\n\n"
          "Raises ArgumentError on a gain out of range; a name that the robot does not have, when "
          "it is "
          "loaded.")
      .def("__getstate__",
           [](const UrdfOptions& o) {
             return UrdfState{o.floor, o.free_root, o.actuators, o.kp, o.kv, o.search_path};
           })
      .def("__setstate__", [](UrdfOptions& o, const UrdfState& s) {
        const auto& [floor, free_root, actuators, kp, kv, search_path] = s;
        new (&o) UrdfOptions{floor, free_root, actuators, kp, kv, search_path};
      });
}

std::string repr(const LoadedModel& self) {
  const Model& m = *self.model;
  const auto size = [](const char* name, int n) {
    return std::string(" ") + name + "=" + std::to_string(n);
  };
  return "<stiction.Model '" + visible(m.name) + "'" + size("nq", m.nq) + size("nv", m.nv) +
         size("nu", m.nu) + size("nbody", m.nbody) + size("ngeom", m.ngeom) +
         size("npair", m.npair) + ">";
}

}  // namespace

void bind_model(nb::module_& m, nb::handle model_error) {
  bind_specs(m);
  bind_urdf(m);
  nb::class_<LoadedModel> c(
      m, "Model", nb::is_weak_referenceable(),
      "The checked, immutable robot, read from MJCF or URDF.\n\n"
      "Array fields carry MuJoCo's names and are read-only NumPy views; they keep the model "
      "alive.\n"
      "SI units, radians, unit quaternions w x y z, z up. Body 0 is the world.\n\n"
      "It pickles, with the text of every file that it was read from, and is its own copy.");

  c.def_static(
      "from_file",
      [model_error](const Path& path, bool strict, const std::optional<Files>& assets,
                    const std::optional<UrdfOptions>& urdf) {
        return load(
            model_error,
            {path.string(), "", "", assets_of(assets), {strict}, urdf.value_or(UrdfOptions{}), {}});
      },
      nb::arg("path"), nb::arg("strict") = false, nb::arg("assets") = nb::none(),
      nb::arg("urdf") = nb::none(),
      "Reads an MJCF or URDF file. Physics that is ignored gives one ModelWarning; with `strict` "
      "it "
      "is refused.\n\n"
      "urdf: stiction.Urdf, how a URDF becomes a model.\n\n"
      "assets: files that are included or referred to, by path or bare name, as bytes or str; they "
      "are looked at before the disk.\n\n"
      "Raises ModelError naming file, line, element, attribute and value; its `report` holds what "
      "had been read.");
  c.def_static(
      "from_xml",
      [model_error](const std::string& xml, const Path& directory, bool strict,
                    const std::optional<Files>& assets, const std::optional<UrdfOptions>& urdf) {
        return load(model_error, {"",
                                  xml,
                                  directory.string(),
                                  assets_of(assets),
                                  {strict},
                                  urdf.value_or(UrdfOptions{}),
                                  {}});
      },
      nb::arg("string"), nb::arg("directory") = "", nb::arg("strict") = false,
      nb::arg("assets") = nb::none(), nb::arg("urdf") = nb::none(),
      "Reads MJCF or URDF text as from_file reads a file; `directory` resolves includes and "
      "assets. Raises "
      "ModelError, warns with ModelWarning.");

  c.def_prop_ro(
      "report", [](const LoadedModel& self) { return self.report; },
      "how every element of the file was read");
  c.def_prop_ro("name", [](const LoadedModel& self) { return self.model->name; });
  c.def_prop_ro(
      "file", [](const LoadedModel& self) { return self.model->file; },
      "path of the file, '' for text");
  c.def_prop_ro(
      "timestep", [](const LoadedModel& self) { return self.model->timestep; }, "s, from <option>");
  c.def_prop_ro(
      "density", [](const LoadedModel& self) { return self.model->density; },
      "of the medium, kg/m^3");
  c.def_prop_ro(
      "viscosity", [](const LoadedModel& self) { return self.model->viscosity; },
      "of the medium, Pa s");

  def_size(c, "nq", &Model::nq, "number of positions");
  def_size(c, "nv", &Model::nv, "number of velocities (degrees of freedom)");
  def_size(c, "nu", &Model::nu, "number of actuators");
  def_size(c, "na", &Model::na, "number of activations: states of actuators");
  def_size(c, "nbody", &Model::nbody, "number of bodies, the world included");
  def_size(c, "njnt", &Model::njnt, "number of joints");
  def_size(c, "ngeom", &Model::ngeom, "number of geoms");
  def_size(c, "nmesh", &Model::nmesh, "number of meshes");
  def_size(c, "nhfield", &Model::nhfield, "number of height fields");
  def_size(c, "nsite", &Model::nsite, "number of sites");
  def_size(c, "ncam", &Model::ncam, "number of cameras");
  def_size(c, "nmocap", &Model::nmocap, "number of mocap bodies");
  def_size(c, "nkey", &Model::nkey, "number of keyframes");
  def_size(c, "ntendon", &Model::ntendon, "number of tendons");
  def_size(c, "neq", &Model::neq, "number of equality constraints");
  def_size(c, "nsensor", &Model::nsensor, "number of sensors that are evaluated");
  def_size(c, "nsensordata", &Model::nsensordata, "numbers of all readings");
  def_size(c, "npair", &Model::npair, "number of candidate geom pairs");
  def_size(c, "nslot", &Model::nslot, "number of contact slots of all pairs");
  def_size(c, "nrebound", &Model::nrebound,
           "number of contact slots that remember an impact: nslot where a pair has restitution, "
           "else 0");
  def_size(c, "nanchor", &Model::nanchor,
           "number of anchors of anchored stiction: nslot; where a pair has condim 4 or 6 2 * "
           "nslot, the second\n"
           "half for turning");

#define NAMES(field) "def " field "(self) -> tuple[str, ...]"
  def_names(c, "body_names", &Model::body_names, NAMES("body_names"));
  def_names(c, "jnt_names", &Model::jnt_names, NAMES("jnt_names"));
  def_names(c, "geom_names", &Model::geom_names, NAMES("geom_names"));
  def_names(c, "site_names", &Model::site_names, NAMES("site_names"));
  def_names(c, "cam_names", &Model::cam_names, NAMES("cam_names"));
  def_names(c, "tendon_names", &Model::tendon_names, NAMES("tendon_names"));
  def_names(c, "actuator_names", &Model::actuator_names, NAMES("actuator_names"));
  def_names(c, "eq_names", &Model::eq_names, NAMES("eq_names"));
  def_names(c, "sensor_names", &Model::sensor_names, NAMES("sensor_names"));
  def_names(c, "key_names", &Model::key_names, NAMES("key_names"));
#undef NAMES

  def_lookup(c, "body", &Model::body, "Index of the body; ArgumentError with the nearest names.");
  def_lookup(c, "joint", &Model::joint,
             "Index of the joint; ArgumentError with the nearest names.");
  def_lookup(c, "geom", &Model::geom, "Index of the geom; ArgumentError with the nearest names.");
  def_lookup(c, "mesh", &Model::mesh, "Index of the mesh; ArgumentError with the nearest names.");
  def_lookup(c, "camera", &Model::camera,
             "Index of the camera; ArgumentError with the nearest names.");
  def_lookup(c, "site", &Model::site, "Index of the site; ArgumentError with the nearest names.");
  def_lookup(c, "actuator", &Model::actuator,
             "Index of the actuator; ArgumentError with the nearest names.");
  def_lookup(c, "equality", &Model::equality,
             "Index of the equality constraint; ArgumentError with the nearest names.");
  def_lookup(c, "sensor", &Model::sensor,
             "Index of the sensor; ArgumentError with the nearest names.");
  def_lookup(c, "key", &Model::key, "Index of the keyframe; ArgumentError with the nearest names.");

  def_specs(c, "sensors", &Model::sensors, "every sensor of the file, also those not evaluated");
  def_specs(c, "meshes", &Model::meshes);
  def_specs(c, "hfields", &Model::hfields);

  c.def("with_contact_material", &with_material, nb::arg("geom").none(), nb::kw_only(),
        nb::arg("stiffness"), nb::arg("dissipation") = 0.0, nb::arg("friction") = nb::none(),
        nb::arg("relaxation_time") = 0.0, nb::arg("restitution") = 0.0,
        "A copy of the model with the contact material of one geom (name or index), or of all "
        "geoms (None), replaced.\n\n"
        "stiffness: N/m, > 0; two geoms act as springs in series.\n"
        "dissipation: Hunt-Crossley d, s/m, >= 0.\n"
        "friction: sliding coefficient; None: the geom's own.\n"
        "relaxation_time: tau of SAP contact, s.\n"
        "restitution: e in [0, 1]; two geoms share theirs as their dissipation.\n\n"
        "Raises ArgumentError on unphysical values.");
  c.def(
      "with_timestep",
      [](const LoadedModel& self, double timestep) { return changed(self, NewTimestep{timestep}); },
      nb::arg("timestep"),
      "The model as a file with this <option timestep> (s, finite and > 0) would give it:\n"
      "pair_stiffness where refsafe bounds solref by two timesteps, pair_relaxation_time. What a\n"
      "Batch and a Reference do for Options.timestep. Raises ArgumentError on a bad timestep.");
  c.def(
      "with_hfield_data",
      [](const LoadedModel& self, const std::string& name, const ArrayLike& data) {
        const nb::object shape = nb::module_::import_("numpy").attr("shape")(data);
        if (nb::len(shape) != 2)
          throw ArgumentError("data: shape " + text(shape) + ", expected (nrow, ncol)");
        const int nrow = nb::cast<int>(shape[0]), ncol = nb::cast<int>(shape[1]);
        const Input given(data, "data", {nrow, ncol}, "(nrow, ncol)");
        const std::span<const double> numbers = given;
        return changed(self, NewHfieldData{name, nrow, ncol, {numbers.begin(), numbers.end()}});
      },
      nb::arg("name"), nb::arg("data"),
      "A copy of the model in which a height field has these elevations, the same for all\n"
      "environments.\n\n"
      "name: of the <hfield>.\n"
      "data: (nrow, ncol), rows along y, columns along x, in units of hfield_size[2] (m); its\n"
      "resolution need not be the file's.\n\n"
      "Raises ArgumentError where no height field has the name, with fewer than 2 rows or "
      "columns,\n"
      "with elevations that are not finite or beyond 1e6 m, where the file of the field was not "
      "there.");
  c.def(
      "with_mesh",
      [](const LoadedModel& self, const Key& geom, const Key& mesh) {
        const Model& model = *self.model;
        const int g = index_of(model, geom, &Model::geom);
        return changed(self, NewMesh{g, index_of(model, mesh, &Model::mesh)});
      },
      nb::arg("geom"), nb::arg("mesh"),
      "A copy of the model in which a geom is another mesh of its choice, as by "
      "Batch.choose_mesh.\n\n"
      "geom, mesh: names or indices.\n\n"
      "Raises ArgumentError on a mesh that the file does not list for the geom.");
  c.def("__repr__", &repr);

  bind_model_arrays(c);
  bind_model_copies(c);
}

}  // namespace stiction::python
