// Batch: construction, stepping, files. The GIL is released while it computes.
#include "batch.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "device_array.h"
#include "rays.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::python {

Precision parse_precision(const std::string& name) {
  if (name == "float32") return Precision::float32;
  if (name == "float64") return Precision::float64;
  throw ArgumentError("precision = '" + name + "': must be 'float32' or 'float64'");
}

const char* name_of(Precision p) {
  return p == Precision::float32 ? "float32" : "float64";
}

std::uintptr_t parse_stream(const nb::object& stream) {
  if (stream.is_none()) return 0;
  for (const char* name : {"cuda_stream", "ptr"})
    if (nb::hasattr(stream, name)) return nb::cast<std::uintptr_t>(stream.attr(name));
  return nb::cast<std::uintptr_t>(stream);
}

std::shared_ptr<LoadedModel> model_argument(nb::handle given, const char* what) {
  if (nb::isinstance<LoadedModel>(given)) return nb::cast<std::shared_ptr<LoadedModel>>(given);
  const std::string shown = visible(text(nb::repr(given))).substr(0, 100);
  throw ArgumentError("model: given " + shown + "; " + what +
                      " takes a stiction.Model: stiction.assets.load(\"go2\") or "
                      "stiction.Model.from_file(\"robot.xml\")");
}

std::optional<Options> options_argument(nb::handle given) {
  if (given.is_none()) return {};
  if (nb::isinstance<Options>(given)) return nb::cast<Options>(given);
  throw ArgumentError("options: given " + visible(text(nb::repr(given))).substr(0, 100) +
                      "; expected stiction.Options(...), or None");
}

void check_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void warn(const std::string& text) {
  if (!text.empty() && PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0)
    throw nb::python_error();
}

namespace {

using Path = std::filesystem::path;

void init(BoundBatch* self, const nb::object& given, int num_envs, const nb::object& options,
          const std::string& device, const std::string& precision, std::optional<int> threads,
          const nb::object& stream) {
  std::shared_ptr<LoadedModel> model = model_argument(given, "Batch");
  const BatchOptions o{.num_envs = num_envs,
                       .options = options_argument(options).value_or(Options{}),
                       .device = device,
                       .precision = parse_precision(precision),
                       .threads = threads,
                       .stream = parse_stream(stream)};
  if (o.options.linear_solver == LinearSolver::cusolver)
    nb::module_::import_("stiction._util.cusolver").attr("tell_engine")();
  const nb::gil_scoped_release release;
  model = at_timestep(std::move(model), o.options);
  const auto engine = std::make_shared<Batch>(model->model, o);
  engine->set_poll(check_signals);
  new (self) BoundBatch{std::move(model), engine, *engine};
}

std::string repr(const BoundBatch& b) {
  const Batch& e = b.engine;
  return "<stiction.Batch '" + visible(e.model().name) +
         "' num_envs=" + std::to_string(e.num_envs()) + " device=" + e.device() +
         " precision=" + name_of(e.precision()) + " threads=" + std::to_string(e.threads()) +
         " isa=" + e.isa() + " lanes=" + std::to_string(e.lanes()) + ">";
}

void step(BoundBatch& b, int n) {
  const nb::gil_scoped_release release;
  b.engine.step(n);
}

void bind_properties(nb::class_<BoundBatch>& c) {
  c.def_prop_ro(
      "model", [](const BoundBatch& b) { return b.model; },
      "as it is used: Model.with_timestep where the options have another timestep");
  c.def_prop_ro(
      "options", [](const BoundBatch& b) { return b.engine.options(); },
      "with every default resolved");
  c.def_prop_ro("num_envs", [](const BoundBatch& b) { return b.engine.num_envs(); });
  c.def_prop_ro(
      "device", [](const BoundBatch& b) { return b.engine.device(); },
      "where the arrays are and the steps run: 'cpu', 'cuda:0'");
  c.def_prop_ro(
      "device_description", [](const BoundBatch& b) { return b.engine.device_description(); },
      "the card, and what the kernels need of it; empty on the CPU");
  c.def_prop_rw(
      "stream", [](const BoundBatch& b) { return b.engine.stream(); },
      [](BoundBatch& b, const nb::object& stream) { b.engine.set_stream(parse_stream(stream)); },
      nb::for_setter(nb::sig("def stream(self, value: object, /) -> None")),
      "the CUDA stream it works on, as a number; 0: the default one. May be set to a number or to\n"
      "a stream of torch or CuPy, which then waits for the work so far");
  c.def(
      "synchronize",
      [](const BoundBatch& b) {
        const nb::gil_scoped_release release;
        b.engine.synchronize();
      },
      "Waits until the device has done what the batch gave it.");
  c.def_prop_ro(
      "precision", [](const BoundBatch& b) { return name_of(b.engine.precision()); },
      "'float32' or 'float64'");
  c.def_prop_ro("threads", [](const BoundBatch& b) { return b.engine.threads(); });
  c.def_prop_ro(
      "isa", [](const BoundBatch& b) { return b.engine.isa(); },
      "instruction set that runs; the environment variable STICTION_ISA chooses");
  c.def_prop_ro(
      "lanes", [](const BoundBatch& b) { return b.engine.lanes(); },
      "environments that one thread steps side by side");
  c.def_prop_ro(
      "memory", [](const BoundBatch& b) { return b.engine.memory(); }, "in bytes");
}

void bind_files(nb::class_<BoundBatch>& c) {
  c.def(
      "save",
      [](const BoundBatch& b, const Path& path) {
        const nb::gil_scoped_release release;
        b.engine.save(path.string());
      },
      nb::arg("path"), "Writes state, inputs, status and own parameters to a file.");
  c.def(
      "load",
      [](BoundBatch& b, const Path& path) {
        std::string warning;
        {
          const nb::gil_scoped_release release;
          warning = b.engine.load(path.string());
        }
        warn(warning);
      },
      nb::arg("path"),
      "Reads what `save` wrote, into a batch of the same model, options, precision and num_envs:\n"
      "the same bits from there on with the same `isa`, else it warns (RuntimeWarning). Own\n"
      "parameters that the file doesn't have become the model's; arrays stay valid. Raises Error\n"
      "on a damaged or foreign file, and changes nothing.");
  c.def(
      "snapshot",
      [](const BoundBatch& b) {
        std::vector<std::byte> bytes;
        {
          const nb::gil_scoped_release release;
          bytes = b.engine.snapshot();
        }
        return nb::bytes(bytes.data(), bytes.size());
      },
      "What `save` writes, and the outputs, as bytes: forces and accelerations of the last step "
      "are\n"
      "there, too.");
  c.def(
      "restore",
      [](BoundBatch& b, const nb::bytes& bytes) {
        const auto* data = static_cast<const std::byte*>(bytes.data());
        std::string warning;
        {
          const nb::gil_scoped_release release;
          warning = b.engine.restore({data, bytes.size()});
        }
        warn(warning);
      },
      nb::arg("snapshot"), "Goes on from a `snapshot`, as `load` from a file.");
  // of TaskEnv, whose steps have hooks that may raise
  c.def(
      "_remember", [](BoundBatch& b) { b.engine.remember(); }, "Keeps a copy of everything.");
  c.def(
      "_put_back", [](BoundBatch& b) { b.engine.put_back(); }, "Back to what was kept.");
  c.def(
      "dump",
      [](const BoundBatch& b, int env, const Path& path) {
        const nb::gil_scoped_release release;
        b.engine.dump(env, path.string());
      },
      nb::arg("env"), nb::arg("path"),
      "Writes one environment as JSON; `stiction replay FILE` steps it in double with a trace.");
}

constexpr const char* kDoc =
    "Thousands of independent copies of one robot, stepped together.\n\n"
    "Every field (qpos, qvel, ctrl, xpos, ...; `fields()` lists them) is an attribute: a NumPy\n"
    "array over the batch's own memory, environments first, valid as long as somebody holds it.\n"
    "Outputs are read-only. Write states with `set_state` or `reset`: they check and refresh.\n\n"
    "options: Options; solver_tolerance defaults to 1e-4 in float32, 1e-6 in float64.\n"
    "threads: at most so many, as many as measuring shows to be worth it; None: one per processor\n"
    "that this process may use.\n"
    "device: 'cpu', 'cuda', 'cuda:1'. On a card arrays are DeviceArray, steps return before they\n"
    "are done, and work is in the order of `stream`.\n\n"
    "A batch is for one thread at a time: a call while another thread is in one raises Error.\n"
    "Arrays are plain memory. Raises ArgumentError on options out of range, an unknown device, or\n"
    "too little memory.";

constexpr const char* kInitSignature =
    "def __init__(self, model: Model, num_envs: int = 1, options: Options | None = None, "
    "device: str = 'cpu', precision: typing.Literal['float32', 'float64'] = 'float32', "
    "threads: int | None = None, stream: object = 0) -> None";

}  // namespace

void bind_batch(nb::module_& m) {
  bind_batch_numbers(m);
  bind_contacts(m);
  bind_gradient(m);
  bind_device_array(m);
  nb::class_<BoundBatch> c(m, "Batch", nb::is_weak_referenceable(), kDoc);
  c.def("__init__", &init, nb::arg("model"), nb::arg("num_envs") = 1,
        nb::arg("options") = nb::none(), nb::arg("device") = "cpu",
        nb::arg("precision") = "float32", nb::arg("threads") = nb::none(), nb::arg("stream") = 0,
        nb::sig(kInitSignature));
  bind_properties(c);
  c.def(
      "step", &step, nb::arg("n") = 1,
      "n steps with the inputs as they are, then one refresh of the outputs.\n\n"
      "Raises ArgumentError, and steps nothing, where own parameters that were written since are\n"
      "unphysical (not on a device). Nothing that happens inside an environment raises: see "
      "`status`. Ctrl-C ends the call\n"
      "after a whole number of steps, the same of every environment.");
  c.def(
      "refresh",
      [](BoundBatch& b, const MaybeArray& given) {
        const std::vector<int> ids =
            given ? parse_ids(b.engine, *given, "refresh") : std::vector<int>{};
        const nb::gil_scoped_release release;
        given ? b.engine.refresh(ids) : b.engine.refresh();
      },
      nb::arg("ids") = nb::none(),
      nb::sig("def refresh(self, ids: numpy.typing.ArrayLike | None = None) -> None"),
      "Outputs at the present state of all environments or of those in `ids` (indices or a mask);\n"
      "forces come from a solve that moves nothing.");
  c.def_prop_ro(
      "counts", [](const BoundBatch& b) { return b.engine.counts(); },
      "SolverCounts since construction or `clear_counts`; a copy");
  c.def("clear_counts", [](BoundBatch& b) { b.engine.clear_counts(); });
  c.def(
      "render",
      [](const nb::object& self, int env, int width, int height, const nb::object& camera) {
        return nb::module_::import_("stiction.view.rendering")
            .attr("render_batch")(self, env, width, height, camera);
      },
      nb::arg("env") = 0, nb::arg("width") = 640, nb::arg("height") = 480,
      nb::arg("camera") = nb::none(),
      nb::sig("def render(self, env: int = 0, width: int = 640, height: int = 480, "
              "camera: str | None = None) -> numpy.typing.NDArray[numpy.uint8]"),
      "Picture of one environment as it is: (height, width, 3) uint8 RGB, drawn by MuJoCo.\n\n"
      "camera: the name of one of the model's file; None: one that follows the robot. Raises "
      "Error\n"
      "with the remedy where MuJoCo or a platform of OpenGL is missing, and ArgumentError on an\n"
      "environment that there is not.");
  c.def(
      "state_hash",
      [](const BoundBatch& b) {
        const nb::gil_scoped_release release;
        return b.engine.state_hash();
      },
      "FNV-1a of the state of all environments in order: equal only for equal bits");
  bind_batch_fields(c);
  bind_batch_state(c);
  bind_batch_compute(c);
  bind_rays(c);
  bind_files(c);
  c.def("__len__", [](const BoundBatch& b) { return b.engine.num_envs(); });
  c.def("__repr__", &repr);
  refuse_pickle(c,
                "a Batch does not pickle: send its model and options and make another one there; "
                "its state goes by snapshot() and restore()");
}

}  // namespace stiction::python
