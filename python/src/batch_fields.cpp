// Fields and parameters of a batch as NumPy arrays over its memory, and assignment with checks.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <vector>

#include "as_array.h"
#include "batch.h"
#include "device_array.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

template <class... Access>
nb::object array(const ArrayView& v, nb::handle owner) {
  static constinit double nothing{};  // an empty field may have no memory
  std::array<std::size_t, 3> shape{};
  for (std::size_t k = 0; k < shape.size(); ++k) shape[k] = static_cast<std::size_t>(v.shape[k]);
  return nb::ndarray<nb::numpy, Access...>(v.data ? v.data : &nothing,
                                           static_cast<std::size_t>(v.ndim), shape.data(), owner,
                                           nullptr, dtype_of(v.dtype))
      .cast();
}

// batch.name = value: the same numbers as batch.name[...] = value, without broadcasting.
void assign(nb::handle_t<BoundBatch> self, const std::string& name, const nb::object& value) {
  Batch& batch = nb::cast<BoundBatch&>(self).engine;
  const ArrayView view = batch.field(name);
  if (!view.writable) throw ArgumentError("batch." + name + ": an output, read-only");
  if (view.device != "cpu") return write({view, batch, nb::borrow(self)}, value, false);
  const nb::object target = batch_array(batch, view, self);
  const nb::object given = as_array(value, "batch." + name);
  if (!is_real(given) || !given.attr("shape").equal(target.attr("shape")))
    throw ArgumentError("batch." + name + ": given dtype " + text(given.attr("dtype")) +
                        " of shape " + text(given.attr("shape")) +
                        "; expected real numbers of shape " + text(target.attr("shape")) +
                        "; batch." + name + "[:] = ... broadcasts");
  target[nb::ellipsis()] = given;
}

// The fields of every model are the same, their sizes are not: a property each, by name.
void def_field(nb::class_<BoundBatch>& c, const FieldInfo& f) {
  const auto get = [name = f.name](nb::handle_t<BoundBatch> self) {
    Batch& batch = nb::cast<BoundBatch&>(self).engine;
    return batch_array(batch, batch.field(name), self);
  };
  const auto set = [name = f.name](nb::handle_t<BoundBatch> self, const nb::object& value) {
    assign(self, name, value);
  };
  const std::string number = f.wide ? "float64" : "numpy.floating[typing.Any]";
  const std::string array_type =
      "numpy.typing.NDArray[" + (f.wide ? "numpy." + number : number) + "]";
  const std::string getter = "def " + f.name + "(self) -> " + array_type;
  const std::string setter = "def " + f.name + "(self, value: numpy.typing.ArrayLike, /) -> None";
  const std::string doc = f.kind + ": " + f.meaning;
  if (f.kind == "output")
    c.def_prop_ro(f.name.c_str(), get, nb::sig(getter.c_str()), doc.c_str());
  else
    c.def_prop_rw(f.name.c_str(), get, set, nb::for_getter(nb::sig(getter.c_str())),
                  nb::for_setter(nb::sig(setter.c_str())), doc.c_str());
}

// A list of one or more.
nb::list names_or_indices(const nb::object& given, const char* name) {
  const nb::object array = nb::module_::import_("numpy").attr("atleast_1d")(as_array(given, name));
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (nb::cast<int>(array.attr("ndim")) != 1 || (kind != "i" && kind != "u" && kind != "U"))
    throw ArgumentError(std::string(name) + ": given " + text(array.attr("dtype")) + " of shape " +
                        text(array.attr("shape")) + "; expected names or indices, one or (n,)");
  return nb::list(array.attr("tolist")());
}

}  // namespace

nb::dlpack::dtype dtype_of(DType d) {
  switch (d) {
    case DType::float32: return nb::dtype<float>();
    case DType::float64: return nb::dtype<double>();
    case DType::int32: return nb::dtype<std::int32_t>();
    case DType::uint32: return nb::dtype<std::uint32_t>();
    case DType::uint8: return nb::dtype<bool>();  // how C++ keeps true and false
  }
  return nb::dtype<float>();
}

nb::object batch_array(Batch& batch, const ArrayView& v, nb::handle owner) {
  if (v.device != "cpu") return nb::cast(DeviceArray{v, batch, nb::borrow(owner)});
  return v.writable ? array<>(v, owner) : array<nb::ro>(v, owner);
}

void bind_batch_fields(nb::class_<BoundBatch>& c) {
  for (const FieldInfo& f : Batch::fields(*load_model_from_string("<mujoco/>")))
    if (f.kind != "param" && f.kind != "computed") def_field(c, f);

  c.def(
      "fields", [](const BoundBatch& b) { return Batch::fields(b.engine.model()); },
      "list of FieldInfo: states, inputs, parameters and outputs of this model");
  c.def(
      "param",
      [](nb::handle_t<BoundBatch> self, const std::string& name) {
        Batch& batch = nb::cast<BoundBatch&>(self).engine;
        return batch_array(batch, batch.param(name), self);
      },
      nb::arg("name"), nb::sig("def param(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
      "Makes a parameter own to each environment, starting from the model's, and returns its "
      "array.\n\n"
      "batch.param('body_mass')[:, 1] *= scale. Unphysical values are refused by the next step, "
      "reset or `check_params`, on a device by the last two. Raises ArgumentError with the nearest "
      "names.");
  c.def(
      "param_is_own",
      [](const BoundBatch& b, const std::string& name) { return b.engine.param_is_own(name); },
      nb::arg("name"), "False while all environments share the model's values.");
  c.def(
      "check_params", [](const BoundBatch& b) { b.engine.check_params(); },
      "Raises ArgumentError naming parameter, environment, index and value if an own number is "
      "unphysical.");
  c.def(
      "choose_mesh",
      [](BoundBatch& b, const Key& geom, const nb::object& mesh, const MaybeArray& ids) {
        const Model& m = b.engine.model();
        const int g = index_of(m, geom, &Model::geom);
        std::vector<int> chosen;
        for (const nb::handle one : names_or_indices(mesh, "mesh")) {
          Key key;
          if (!nb::try_cast(one, key))
            throw ArgumentError("mesh = " + text(one) + ": must be a name, or an index in [0, " +
                                std::to_string(m.nmesh) + ")");
          chosen.push_back(index_of(m, key, &Model::mesh));
        }
        b.engine.choose_mesh(g, chosen, ids_or_all(b.engine, ids));
      },
      nb::arg("geom"), nb::arg("mesh"), nb::arg("ids") = nb::none(),
      nb::sig("def choose_mesh(self, geom: int | str, mesh: numpy.typing.ArrayLike, "
              "ids: numpy.typing.ArrayLike | None = None) -> None"),
      "Environments get meshes of their own for a geom, out of those that the file lists:\n\n"
      "<custom><tuple name=\"stiction_meshes/GEOM\"><element objtype=\"mesh\" "
      "objname=\"MESH\"/>...\n\n"
      "geom: name or index.\n"
      "mesh: name or index, or one for each environment.\n"
      "ids: indices (n,) or a mask (num_envs,); None: all environments.\n\n"
      "Writes the parameters geom_dataid, geom_size, geom_pos and geom_quat, which become own; "
      "each mesh is placed as\n"
      "the file places the geom's. body_mass, body_ipos, body_iquat and body_inertia stay: "
      "Model.mesh_volume and\n"
      "mesh_inertia give those of a mesh. Raises ArgumentError on a mesh that the file does not "
      "list for the geom.");
  const auto array_of = [](ArrayView (Batch::*view)()) {
    return [view](nb::handle_t<BoundBatch> self) {
      Batch& batch = nb::cast<BoundBatch&>(self).engine;
      return batch_array(batch, (batch.*view)(), self);
    };
  };
  c.def_prop_ro("status", array_of(&Batch::status),
                nb::sig("def status(self) -> numpy.typing.NDArray[numpy.uint32]"),
                "(num_envs,) bits of Status, kept until the reset");
  c.def_prop_ro("status_step", array_of(&Batch::status_step),
                nb::sig("def status_step(self) -> numpy.typing.NDArray[numpy.int32]"),
                "(num_envs,) step of the first event since the reset; -1: none");
  c.def_prop_ro(
      "status_count", [](const BoundBatch& b) { return b.engine.status_count(); },
      "number of frozen environments");
}

}  // namespace stiction::python
