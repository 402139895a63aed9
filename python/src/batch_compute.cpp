// What a batch computes when it is asked for: quantities of the state, Jacobians, contacts, inverse
// dynamics. The GIL is released while it computes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "as_array.h"
#include "batch.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

void def_quantity(nb::class_<BoundBatch>& c, const FieldInfo& f) {
  const std::string sig = "def " + f.name + "(self) -> numpy.typing.NDArray[numpy.float64]";
  const std::string doc = "computed: " + f.meaning;
  c.def_prop_ro(
      f.name.c_str(),
      [name = f.name](const BoundBatch& b) {
        Computed x;
        {
          const nb::gil_scoped_release release;
          x = b.engine.compute(name);
        }
        return array_of<const double>(std::move(x.numbers), x.shape);
      },
      nb::sig(sig.c_str()), doc.c_str());
}

int object_of(const Model& m, ObjectType type, const Key& key) {
  return index_of(m, key,
                  type == ObjectType::geom   ? &Model::geom
                  : type == ObjectType::site ? &Model::site
                                             : &Model::body);
}

nb::tuple both(const Batch& b, Jacobian j) {
  const std::vector<int> shape = {b.num_envs(), 3, b.model().nv};
  return nb::make_tuple(array_of(std::move(j.position), shape),
                        array_of(std::move(j.rotation), shape));
}

nb::tuple jacobian(const BoundBatch& b, ObjectType type, const Key& key) {
  const int id = object_of(b.engine.model(), type, key);
  Jacobian j;
  {
    const nb::gil_scoped_release release;
    j = b.engine.jacobian(type, id);
  }
  return both(b.engine, std::move(j));
}

// (3,) for all environments, or (num_envs, 3).
nb::tuple point_jacobian(const BoundBatch& b, const Key& key, const nb::object& point) {
  const int n = b.engine.num_envs(), body = index_of(b.engine.model(), key, &Model::body);
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object given = as_array(point, "point");
  if (is_real(given) && given.attr("shape").equal(nb::make_tuple(3)))
    given = numpy.attr("broadcast_to")(given, nb::make_tuple(n, 3));
  const Input points(given, "point", {n, 3}, "(num_envs, 3), or (3,) for all");
  Jacobian j;
  {
    const nb::gil_scoped_release release;
    j = b.engine.jacobian(body, points.span());
  }
  return both(b.engine, std::move(j));
}

nb::object inverse(const BoundBatch& b, const nb::object& qacc) {
  const int n = b.engine.num_envs(), nv = b.engine.model().nv;
  const Input given(qacc, "qacc", {n, nv}, "(num_envs, nv)");
  std::vector<double> force;
  {
    const nb::gil_scoped_release release;
    force = b.engine.inverse(given.span());
  }
  return array_of(std::move(force), {n, nv});
}

nb::object frozen(const BoundBatch& b) {
  std::vector<int> ids;
  {
    const nb::gil_scoped_release release;
    ids = b.engine.frozen();
  }
  const nb::object mask =
      nb::module_::import_("numpy").attr("zeros")(b.engine.num_envs(), nb::arg("dtype") = "bool");
  for (const int i : ids) mask[nb::int_(i)] = true;
  return mask;
}

#define JACOBIANS \
  " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"

void bind_jacobians(nb::class_<BoundBatch>& c) {
  const auto def = [&](const char* name, const char* of, ObjectType type, const char* sig,
                       const char* doc) {
    c.def(
        name, [type](const BoundBatch& b, const Key& key) { return jacobian(b, type, key); },
        nb::arg(of), nb::sig(sig), doc);
  };
  c.def(
      "jac", &point_jacobian, nb::arg("body"), nb::arg("point"),
      nb::sig("def jac(self, body: int | str, point: numpy.typing.ArrayLike)" JACOBIANS),
      "(jacp, jacr), (num_envs, 3, nv) each: jacp @ qvel is the velocity of the point that is at\n"
      "`point` in the world, (3,) or (num_envs, 3), and fixed to the body; jacr @ qvel is the\n"
      "body's angular velocity. World axes. As MuJoCo's mj_jac. NaN where the state is out of\n"
      "bounds. Raises ArgumentError on an unknown body or a shape that does not fit.");
  def("jac_body", "body", ObjectType::xbody, "def jac_body(self, body: int | str)" JACOBIANS,
      "(jacp, jacr) of the origin of a body's frame; as `jac`.");
  def("jac_body_com", "body", ObjectType::body, "def jac_body_com(self, body: int | str)" JACOBIANS,
      "(jacp, jacr) of the centre of mass of a body; as `jac`.");
  def("jac_geom", "geom", ObjectType::geom, "def jac_geom(self, geom: int | str)" JACOBIANS,
      "(jacp, jacr) of the origin of a geom's frame; as `jac`.");
  def("jac_site", "site", ObjectType::site, "def jac_site(self, site: int | str)" JACOBIANS,
      "(jacp, jacr) of the origin of a site's frame; as `jac`.");
}

}  // namespace

void bind_batch_compute(nb::class_<BoundBatch>& c) {
  for (const FieldInfo& f : Batch::fields(*load_model_from_string("<mujoco/>")))
    if (f.kind == "computed") def_quantity(c, f);
  bind_jacobians(c);
  c.def(
      "inverse", &inverse, nb::arg("qacc"),
      nb::sig("def inverse(self, qacc: numpy.typing.ArrayLike) -> "
              "numpy.typing.NDArray[numpy.float64]"),
      "Inverse dynamics of a step, (num_envs, nv): the generalized force that actuators and\n"
      "applied forces together must exert so that the next step ends with\n"
      "qvel + timestep * qacc. qacc: (num_envs, nv).\n\n"
      "Contacts, joint limits, dry friction, springs and dampers act besides, as they do in that\n"
      "step: MuJoCo's qfrc_inverse, of this engine's laws and in discrete time. ctrl,\n"
      "qfrc_applied and xfrc_applied are not read. To round-off with one solve per step\n"
      "(friction_iterations = 1) and at the fixed point ('fixed_point'); within\n"
      "friction_tolerance with 'auto'. NaN where the state is out of bounds, or no force was "
      "found\n"
      "to the solver's tolerance. Raises\n"
      "ArgumentError on another shape or a number that is not finite.");
  c.def(
      "contacts",
      [](const BoundBatch& b, const MaybeArray& ids) { return contacts_of(b.engine, ids); },
      nb::arg("ids") = nb::none(),
      nb::sig("def contacts(self, ids: numpy.typing.ArrayLike | None = None) -> Contacts"),
      "Contacts: the points in the problem of a step from the present state and inputs that is\n"
      "not taken, of all environments or of those in `ids` (indices or a mask); none where the\n"
      "state is out of bounds.");
  c.def_prop_ro(
      "frozen", &frozen, nb::sig("def frozen(self) -> numpy.typing.NDArray[numpy.bool_]"),
      "(num_envs,) True where a step failed and the environment keeps its state until it\n"
      "is reset: batch.reset(batch.frozen). Other bits of `status` are warnings.");
}

}  // namespace stiction::python
