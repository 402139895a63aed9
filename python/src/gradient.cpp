// StepDerivative: Jacobians and products of the next step of a batch. The GIL is released while it computes.
#include "stiction/gradient.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>

#include "batch.h"

namespace stiction::python {
namespace {

struct BoundDerivative {
  std::shared_ptr<void> owner;  // of the batch
  Batch& batch;
  StepDerivative engine;
};

nb::dict slices(const std::vector<DerivativeBlock>& blocks) {
  const nb::object slice = nb::module_::import_("builtins").attr("slice");
  nb::dict result;
  for (const DerivativeBlock& b : blocks) result[b.name.c_str()] = slice(b.first, b.first + b.size);
  return result;
}

nb::object jacobian(BoundDerivative& d) {
  std::vector<double> x;
  {
    const nb::gil_scoped_release release;
    x = d.engine.jacobian();
  }
  return array_of(std::move(x), {d.batch.num_envs(), d.engine.rows(), d.engine.columns()});
}

nb::object product(BoundDerivative& d, const nb::object& weights) {
  const Input given(weights, "weights", {d.batch.num_envs(), d.engine.rows()}, "(num_envs, rows)");
  std::vector<double> x;
  {
    const nb::gil_scoped_release release;
    x = d.engine.product(given.span());
  }
  return array_of(std::move(x), {d.batch.num_envs(), d.engine.columns()});
}

}  // namespace

void bind_gradient(nb::module_& m) {
  nb::class_<BoundDerivative> c(
      m, "StepDerivative",
      "The derivative of the step that a batch would take next, in every environment: "
      "docs/gradients.md.\n\n"
      "By the implicit function theorem at the minimum of the convex problem, which is solved to\n"
      "round-off for it, in double, whatever the batch's precision and solver_tolerance. The "
      "batch\n"
      "does not move, and a batch without it pays nothing.\n\n"
      "of: rows, what a step moves: \"qpos\", \"qvel\", \"act\", \"sensordata\", ...\n"
      "wrt: columns, what it starts from: \"qpos\", \"qvel\", \"ctrl\", \"qfrc_applied\", another\n"
      "field of the state or the inputs, or a parameter, which becomes own to each environment.\n\n"
      "Rows and columns of qpos are tangents, nv of them: an increment of a rotation is a vector\n"
      "in the axes of the body. All others are the numbers of the field, row-major.\n\n"
      "Raises ArgumentError on an unknown or repeated name, on a device, with\n"
      "friction_iterations = 'auto', which jumps where its bounds stop (take 'fixed_point'), and\n"
      "on sensordata of sensors that cast rays or search.");
  c.def(
      "__init__",
      [](BoundDerivative* self, const BoundBatch& b, const std::vector<std::string>& of,
         const std::vector<std::string>& wrt) {
        StepDerivative engine(b.engine, of, wrt);
        new (self) BoundDerivative{b.owner, b.engine, std::move(engine)};
      },
      nb::arg("batch"), nb::kw_only(), nb::arg("of") = std::vector<std::string>{"qpos", "qvel"},
      nb::arg("wrt") = std::vector<std::string>{"qpos", "qvel", "ctrl"},
      nb::sig("def __init__(self, batch: Batch, *, of: collections.abc.Sequence[str] = ('qpos', "
              "'qvel'), wrt: collections.abc.Sequence[str] = ('qpos', 'qvel', 'ctrl')) -> None"));
  c.def_prop_ro(
      "of", [](const BoundDerivative& d) { return slices(d.engine.of()); },
      nb::sig("def of(self) -> dict[str, slice]"), "the rows of each field");
  c.def_prop_ro(
      "wrt", [](const BoundDerivative& d) { return slices(d.engine.wrt()); },
      nb::sig("def wrt(self) -> dict[str, slice]"), "the columns of each field");
  c.def_prop_ro(
      "rows", [](const BoundDerivative& d) { return d.engine.rows(); }, "their number");
  c.def_prop_ro(
      "columns", [](const BoundDerivative& d) { return d.engine.columns(); }, "their number");
  c.def_prop_ro(
      "memory", [](const BoundDerivative& d) { return d.engine.memory(); },
      "bytes, of all threads");
  c.def(
      "jacobian", &jacobian, nb::sig("def jacobian(self) -> numpy.typing.NDArray[numpy.float64]"),
      "(num_envs, rows, columns) at the present state, inputs and parameters. Always finite; of a\n"
      "step that freezes its environment, whose state stays, it is 1 and 0. See `status`.");
  c.def("product", &product, nb::arg("weights"),
        nb::sig("def product(self, weights: numpy.typing.ArrayLike) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "weights @ jacobian() of each environment, (num_envs, columns), without the matrix.\n"
        "weights: (num_envs, rows). Raises ArgumentError on another shape or a number that is not\n"
        "finite.");
  c.def_prop_ro(
      "status",
      [](nb::handle_t<BoundDerivative> self) {
        const std::vector<std::uint32_t>& s =
            nb::cast<const BoundDerivative&>(self).engine.status();
        return view(s.data(), s.size(), self);
      },
      nb::sig("def status(self) -> numpy.typing.NDArray[numpy.uint32]"),
      "(num_envs) bits of Status of the steps that the last call differentiated: do not trust a\n"
      "derivative where not_converged or inaccurate is set");
  c.def_prop_ro(
      "exact",
      [](nb::handle_t<BoundDerivative> self) {
        const std::vector<std::uint8_t>& s = nb::cast<const BoundDerivative&>(self).engine.exact();
        return view(s.data(), s.size(), self).cast().attr("astype")("bool");
      },
      nb::sig("def exact(self) -> numpy.typing.NDArray[numpy.bool_]"),
      "(num_envs) whether all of the last call is exact. Points of boxes against boxes, and of\n"
      "cylinders, ellipsoids, meshes and height fields against others than planes, are searched "
      "for\n"
      "in numbers without tangents. Where one acts, the columns of qpos in the rows of qpos and "
      "qvel\n"
      "are those of Reference.step_jacobian, which takes longer; False where another row or "
      "column\n"
      "moves such a point, or own parameters differ from the model's, which the reference does "
      "not\n"
      "know: then these points are held in place.");
  refuse_pickle(c, "a StepDerivative belongs to its batch; make another one");
}

}  // namespace stiction::python
