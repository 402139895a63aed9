// Env: episodes as NumPy arrays, or as arrays of a device. The GIL is released while it computes.
#include "stiction/env.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "as_array.h"
#include "batch.h"
#include "device_array.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

// Arrays and the batch keep the engine alive, not this object: no cycle for the garbage collector.
struct BoundEnv {
  std::shared_ptr<Env> engine;
  nb::object batch;
};

nb::capsule owner_of(const std::shared_ptr<Env>& e) {
  return nb::capsule(new std::shared_ptr<Env>(e),
                     [](void* p) noexcept { delete static_cast<std::shared_ptr<Env>*>(p); });
}

nb::object array(const BoundEnv& b, const ArrayView& v) {
  return batch_array(b.engine->batch(), v, owner_of(b.engine));
}

Autoreset parse_autoreset(const std::string& name) {
  if (name == "same_step") return Autoreset::same_step;
  if (name == "next_step") return Autoreset::next_step;
  if (name == "disabled") return Autoreset::disabled;
  throw ArgumentError("autoreset = '" + name +
                      "': must be one of 'same_step', 'next_step', 'disabled'");
}
const char* name_of(Autoreset a) {
  constexpr const char* kNames[] = {"same_step", "next_step", "disabled"};
  return kNames[static_cast<int>(a)];
}

// A number, a string, True or False, or a sequence of numbers.
TaskOption parse_option(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  const nb::object a = as_array(nb::borrow(value), name);
  const std::string kind = text(a.attr("dtype").attr("kind"));
  const int ndim = nb::cast<int>(a.attr("ndim"));
  if (kind == "b" && ndim == 0) return nb::cast<bool>(a.attr("item")());
  if (std::string("fiu").find(kind) == std::string::npos || ndim > 1)
    throw ArgumentError(name + ": given " + text(nb::repr(value)) +
                        "; expected a number, a string, True or False, or a list of numbers");
  if (ndim == 0) return nb::cast<double>(a.attr("astype")("float64").attr("item")());
  return nb::cast<std::vector<double>>(a.attr("astype")("float64").attr("tolist")());
}

bool has_option(const std::string& id, const std::string& name) {
  for (const TaskInfo& task : Env::tasks())
    for (const TaskOptionInfo& option : task.options)
      if (task.id == id && option.name == name) return true;
  return false;
}

// The value, or none where the name is unknown: Env refuses it by its name, not by its value.
TaskOption parse_option_of(const std::string& id, const std::string& name, nb::handle value) {
  try {
    return parse_option(name, value);
  } catch (const ArgumentError&) {
    if (has_option(id, name)) throw;
    return {};
  }
}

void init(BoundEnv* self, const std::string& id, int num_envs, std::optional<int> threads,
          std::uint64_t seed, const std::string& precision, const std::string& autoreset,
          std::optional<int> max_episode_steps, const nb::object& given_options,
          const std::string& device, const nb::object& stream, const nb::kwargs& task_options) {
  const std::optional<Options> options = options_argument(given_options);
  EnvOptions o;
  o.num_envs = num_envs;
  if (threads && *threads < 1)
    throw ArgumentError("threads = " + std::to_string(*threads) + ": must be >= 1 or None");
  o.threads = threads.value_or(0);
  o.seed = seed;
  o.precision = parse_precision(precision);
  o.autoreset = parse_autoreset(autoreset);
  if (max_episode_steps && *max_episode_steps < 0)
    throw ArgumentError("max_episode_steps = " + std::to_string(*max_episode_steps) +
                        ": must be >= 0 (0: without limit) or None (the task's)");
  o.max_episode_steps = max_episode_steps.value_or(-1);
  o.engine = options;
  o.device = device;
  o.stream = parse_stream(stream);
  if (options && options->linear_solver == LinearSolver::cusolver)
    nb::module_::import_("stiction._util.cusolver").attr("tell_engine")();
  for (const auto& [name, value] : task_options) {
    const std::string n = nb::cast<std::string>(name);
    o.task.emplace(n, parse_option_of(id, n, value));
  }
  std::shared_ptr<Env> engine;
  {
    const nb::gil_scoped_release release;
    engine = std::make_shared<Env>(id, o);
    engine->batch().set_poll(check_signals);
  }
  const auto model = std::make_shared<LoadedModel>();
  model->model = engine->model();
  model->report = std::make_shared<LoadReport>(engine->load_report());
  const auto source = std::make_shared<ModelSource>();
  source->xml = engine->model_xml(), source->assets = engine->model_assets();
  model->source = source;
  nb::object batch =
      nb::cast(new BoundBatch{model, engine, engine->batch()}, nb::rv_policy::take_ownership);
  new (self) BoundEnv{std::move(engine), std::move(batch)};
}

// One seed for all: environment i draws with seed + i; or a seed for each environment of the batch.
std::vector<std::uint64_t> parse_seeds(const Env& e, const std::vector<int>& ids,
                                       nb::handle given) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object a = as_array(nb::borrow(given), "seed");
  const std::string kind = text(a.attr("dtype").attr("kind"));
  const bool one = nb::cast<int>(a.attr("ndim")) == 0;
  const auto negative = [&] {
    return nb::cast<bool>(numpy.attr("any")(numpy.attr("less")(a, 0)).attr("item")());
  };
  if ((kind != "i" && kind != "u") || negative() ||
      !(one || a.attr("shape").equal(nb::make_tuple(e.num_envs()))))
    throw ArgumentError("seed: given " + text(nb::repr(given)) +
                        "; expected a whole number >= 0 or one for each of " +
                        std::to_string(e.num_envs()) + " environments");
  std::vector<std::uint64_t> seeds;
  seeds.reserve(ids.size());
  for (const int i : ids)
    seeds.push_back(one ? nb::cast<std::uint64_t>(a.attr("item")()) + static_cast<std::uint64_t>(i)
                        : nb::cast<std::uint64_t>(a.attr("item")(i)));
  return seeds;
}

nb::object reset(BoundEnv& b, const std::optional<nb::object>& given, const nb::object& seed) {
  Env& e = *b.engine;
  std::vector<int> ids;
  if (given && !given->is_none()) {
    ids = parse_ids(e.batch(), *given, "reset");
  } else {
    for (int i = 0; i < e.num_envs(); ++i) ids.push_back(i);
  }
  if (!seed.is_none()) e.seed(ids, parse_seeds(e, ids, seed));
  {
    const nb::gil_scoped_release release;
    e.reset(ids);
  }
  return array(b, e.obs());
}

using Actions = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Actions as the engine takes them; `owner` keeps them alive.
struct GivenActions {
  ArrayView view;
  nb::object owner;
  bool borrowed = false;  // in the memory of the device
};

GivenActions parse_actions(const BoundEnv& b, nb::object a) {
  Env& e = *b.engine;
  GivenActions given;
  ArrayView& v = given.view;
  v.name = "actions", v.shape = {e.num_envs(), e.info().num_actions, 1},
  v.device = e.batch().device();
  if (v.device != "cpu") {
    if (const auto borrowed = borrow({v, e.batch(), b.batch}, a)) {
      v.data = borrowed->data, given.owner = borrowed->owner, given.borrowed = true;
      return given;
    }
    v.device = "cpu";
  }
  a = as_array(a, "actions");
  const nb::tuple shape = nb::make_tuple(e.num_envs(), e.info().num_actions);
  if (!is_real(a) || !a.attr("shape").equal(shape))
    throw ArgumentError("actions: given dtype " + text(a.attr("dtype")) + " of shape " +
                        text(a.attr("shape")) + "; expected real numbers of shape " + text(shape) +
                        " = (num_envs, num_actions)");
  nb::object order = nb::str("C");
  given.owner = a.attr("astype")("float32", nb::arg("order") = order, nb::arg("copy") = false);
  v.data = const_cast<float*>(nb::cast<Actions>(given.owner).data());
  return given;
}

nb::tuple step(BoundEnv& b, const ArrayLike& actions, const nb::object& physics) {
  Env& e = *b.engine;
  const GivenActions given = parse_actions(b, actions);
  {
    const nb::gil_scoped_release release;
    const std::function<void()> call = [&] {
      const nb::gil_scoped_acquire acquire;
      physics();
    };
    e.step(given.view, physics.is_none() ? nullptr : &call);
  }
  if (given.borrowed) return_borrowed({given.view, e.batch(), b.batch});
  return nb::make_tuple(array(b, e.obs()), array(b, e.reward()), array(b, e.terminated()),
                        array(b, e.truncated()));
}

// A copy, read by whoever builds a space of actions.
nb::object bounds(std::span<const float> x) {
  nb::list list;
  for (const float v : x) list.append(v);
  return nb::module_::import_("numpy").attr("array")(list, nb::arg("dtype") = "float32");
}

nb::dict options_of(const TaskInfo& info) {
  nb::dict d;
  for (const TaskOptionInfo& o : info.options) d[o.name.c_str()] = nb::cast(o.value);
  return d;
}

void def_result(nb::class_<BoundEnv>& c, const char* name, ArrayView (Env::*get)(), const char* doc,
                const char* type, const char* sig_name) {
  const std::string sig =
      std::string("def ") + sig_name + "(self) -> numpy.typing.NDArray[" + type + "]";
  c.def_prop_ro(
      name, [get](const BoundEnv& b) { return array(b, ((*b.engine).*get)()); },
      nb::sig(sig.c_str()), doc);
}

void bind_results(nb::class_<BoundEnv>& c) {
  const char *real = "numpy.float32", *flag = "numpy.bool_", *whole = "numpy.int32";
  const auto def = [&](const char* name, ArrayView (Env::*get)(), const char* type,
                       const char* doc) { def_result(c, name, get, doc, type, name); };
  def("obs", &Env::obs, real, "(num_envs, num_obs)");
  def("reward", &Env::reward, real, "(num_envs,)");
  def("terminated", &Env::terminated, flag, "(num_envs,)");
  def("truncated", &Env::truncated, flag, "(num_envs,)");
  def("final_obs", &Env::final_obs, real,
      "(num_envs, num_obs): where an episode ended its last observation, elsewhere equal to obs");
  def("metrics", &Env::metrics, real,
      "(num_envs, len(metric_names)): of the step, where an episode ended of its last one");
  def("episode_return", &Env::episode_return, real, "(num_envs,): sum of the rewards");
  def("final_episode_length", &Env::final_episode_length, whole,
      "(num_envs,): of each environment's last finished episode");
  def("final_episode_return", &Env::final_episode_return, real,
      "(num_envs,): of each environment's last finished episode");
  c.def_prop_rw(
      "episode_length", [](const BoundEnv& b) { return array(b, b.engine->episode_length()); },
      [](const BoundEnv& b, const nb::object& value) {
        const ArrayView view = b.engine->episode_length();
        if (view.device != "cpu") return write({view, b.engine->batch(), b.batch}, value, false);
        const nb::object target = array(b, view);
        const nb::object given = as_array(value, "episode_length");
        if (!given.attr("shape").equal(target.attr("shape")))
          throw ArgumentError("episode_length: given shape " + text(given.attr("shape")) +
                              "; expected " + text(target.attr("shape")));
        target[nb::ellipsis()] = given;
      },
      nb::for_getter(nb::sig("def episode_length(self) -> numpy.typing.NDArray[numpy.int32]")),
      nb::for_setter(nb::sig("def episode_length(self, value: numpy.typing.ArrayLike, /) -> None")),
      "(num_envs,) steps since the reset; writing it moves the time limit");
}

void bind_info(nb::class_<BoundEnv>& c) {
  c.def_prop_ro("id", [](const BoundEnv& b) { return b.engine->info().id; });
  c.def_prop_ro(
      "info", [](const BoundEnv& b) { return b.engine->info(); }, "TaskInfo, options as given");
  c.def_prop_ro(
      "task_options", [](const BoundEnv& b) { return options_of(b.engine->info()); },
      nb::sig("def task_options(self) -> dict[str, bool | float | str | list[float]]"),
      "with every default filled in");
  c.def_prop_ro("num_envs", [](const BoundEnv& b) { return b.engine->num_envs(); });
  c.def_prop_ro("num_obs", [](const BoundEnv& b) { return b.engine->info().num_obs; });
  c.def_prop_ro("num_actions", [](const BoundEnv& b) { return b.engine->info().num_actions; });
  c.def_prop_ro(
      "action_low", [](const BoundEnv& b) { return bounds(b.engine->action_low()); },
      nb::sig("def action_low(self) -> numpy.typing.NDArray[numpy.float32]"), "(num_actions,)");
  c.def_prop_ro(
      "action_high", [](const BoundEnv& b) { return bounds(b.engine->action_high()); },
      nb::sig("def action_high(self) -> numpy.typing.NDArray[numpy.float32]"), "(num_actions,)");
  c.def_prop_ro(
      "dt", [](const BoundEnv& b) { return b.engine->dt(); }, "of a control step, s");
  c.def_prop_ro(
      "physics_dt", [](const BoundEnv& b) { return *b.engine->batch().options().timestep; },
      "of a physics step, s");
  c.def_prop_ro(
      "frame_skip", [](const BoundEnv& b) { return b.engine->info().frame_skip; },
      "physics steps per control step");
  c.def_prop_ro(
      "max_episode_steps", [](const BoundEnv& b) { return b.engine->info().max_episode_steps; },
      "0: without limit");
  c.def_prop_ro("metric_names", [](const BoundEnv& b) { return b.engine->info().metrics; });
  c.def_prop_ro(
      "device", [](const BoundEnv& b) { return b.engine->batch().device(); },
      "where the arrays are and everything runs: 'cpu', 'cuda:0'");
  c.def_prop_ro(
      "memory", [](const BoundEnv& b) { return b.engine->memory(); },
      "of batch and episodes, in bytes");
  c.def_prop_rw(
      "stream", [](const BoundEnv& b) { return b.engine->batch().stream(); },
      [](BoundEnv& b, const nb::object& stream) {
        b.engine->batch().set_stream(parse_stream(stream));
      },
      nb::for_setter(nb::sig("def stream(self, value: object, /) -> None")),
      "the CUDA stream it works on, as a number: that of `batch`");
  c.def_prop_ro(
      "autoreset", [](const BoundEnv& b) { return name_of(b.engine->autoreset()); },
      "'same_step', 'next_step' or 'disabled'");
  c.def_prop_ro(
      "steps", [](const BoundEnv& b) { return b.engine->steps(); },
      "control steps since construction");
  c.def_prop_ro(
      "batch", [](const BoundEnv& b) { return b.batch; }, nb::sig("def batch(self) -> Batch"),
      "state, inputs and outputs of all environments");
  c.def_prop_ro(
      "model_xml", [](const BoundEnv& b) { return b.engine->model_xml(); },
      "the task's model as MJCF");
  c.def_prop_ro(
      "model_assets",
      [](const BoundEnv& b) {
        nb::dict files;
        for (const auto& [name, content] : b.engine->model_assets())
          files[name.c_str()] = nb::bytes(content.data(), content.size());
        return files;
      },
      nb::sig("def model_assets(self) -> dict[str, bytes]"), "the files that model_xml names");
}

void bind_task_info(nb::module_& m) {
  nb::class_<TaskOptionInfo>(m, "TaskOption", "An option of a task.")
      .def_ro("name", &TaskOptionInfo::name)
      .def_ro("meaning", &TaskOptionInfo::meaning)
      .def_prop_ro("value", [](const TaskOptionInfo& o) { return o.value; })
      .def("__repr__", [](const TaskOptionInfo& o) {
        return "<stiction.TaskOption " + o.name + "=" + text(nb::repr(nb::cast(o.value))) + ">";
      });
  nb::class_<TaskInfo>(m, "TaskInfo", "A task: what `Env(id)` makes.")
      .def_ro("id", &TaskInfo::id)
      .def_ro("summary", &TaskInfo::summary)
      .def_ro("num_obs", &TaskInfo::num_obs)
      .def_ro("num_actions", &TaskInfo::num_actions)
      .def_ro("max_episode_steps", &TaskInfo::max_episode_steps, "0: without limit")
      .def_ro("reward_threshold", &TaskInfo::reward_threshold,
              "the return at which Gymnasium takes the task for solved, or None")
      .def_ro("frame_skip", &TaskInfo::frame_skip, "physics steps per control step")
      .def_ro("metrics", &TaskInfo::metrics)
      .def_ro("options", &TaskInfo::options)
      .def_ro("engine", &TaskInfo::engine,
              "stiction.Options of its physics, unless Env gets others")
      .def("__repr__", [](const TaskInfo& t) { return "<stiction.TaskInfo '" + t.id + "'>"; });
}

constexpr const char* kDoc =
    "Episodes: a batch with a compiled task, stepped by actions.\n\n"
    "obs, reward, terminated, truncated, final_obs and metrics alternate between two buffers:\n"
    "what a step or reset returned stays untouched during the next one. Copy what must live "
    "longer.\n\n"
    "threads: at most so many; None: one per processor that this process may use.\n"
    "seed: environment i draws with seed + i.\n"
    "autoreset: 'same_step': obs is the new episode's, final_obs the last one's; 'next_step': the\n"
    "next step ignores the action and has reward 0; 'disabled': the caller resets.\n"
    "max_episode_steps: None: the task's; 0: without limit.\n"
    "device: 'cpu', 'cuda', 'cuda:1'. On a card everything stays there: results are DeviceArray, "
    "a\n"
    "step takes actions of the card and returns before it is done, in the order of `stream` (a\n"
    "number, or a stream of torch or CuPy; None: the default one).\n"
    "task_options: Env.tasks() lists them.\n\n"
    "For one thread at a time: a call while another thread is in one raises Error. Ctrl-C ends a\n"
    "long step.\n\n"
    "Raises ArgumentError on an unknown id or option, naming the nearest, or a value out of range.";

constexpr const char* kInitSignature =
    "def __init__(self, id: str, num_envs: int = 1, *, threads: int | None = None, seed: int = 0, "
    "precision: typing.Literal['float32', 'float64'] = 'float32', "
    "autoreset: typing.Literal['same_step', 'next_step', 'disabled'] = 'same_step', "
    "max_episode_steps: int | None = None, options: Options | None = None, "
    "device: str = 'cpu', stream: object = None, "
    "**task_options: typing.Any) -> None";

}  // namespace

void bind_env(nb::module_& m) {
  bind_task_info(m);
  nb::class_<BoundEnv> c(m, "Env", nb::is_weak_referenceable(), kDoc);
  c.def("__init__", &init, nb::arg("id"), nb::arg("num_envs") = 1, nb::kw_only(),
        nb::arg("threads") = nb::none(), nb::arg("seed") = 0, nb::arg("precision") = "float32",
        nb::arg("autoreset") = "same_step", nb::arg("max_episode_steps") = nb::none(),
        nb::arg("options") = nb::none(), nb::arg("device") = "cpu", nb::arg("stream") = nb::none(),
        nb::arg("task_options"), nb::sig(kInitSignature));
  c.def_static("tasks", &Env::tasks, "All compiled tasks, with their options and defaults.");
  c.def(
      "reset", &reset, nb::arg("ids") = nb::none(), nb::arg("seed") = nb::none(),
      nb::sig("def reset(self, ids: numpy.typing.ArrayLike | None = None, "
              "seed: int | collections.abc.Sequence[int] | None = None) -> "
              "numpy.typing.NDArray[numpy.float32]"),
      "Begins new episodes of all environments or of those in `ids` (indices or a mask); returns\n"
      "obs of all.\n\n"
      "With a seed, environment i of the batch draws with seed + i (a sequence: seed[i]) from\n"
      "its episode 0 on.");
  c.def("step", &step, nb::arg("actions"), nb::arg("physics") = nb::none(),
        nb::sig("def step(self, actions: numpy.typing.ArrayLike, "
                "physics: collections.abc.Callable[[], None] | None = None) -> "
                "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], "
                "numpy.typing.NDArray[numpy.bool_], numpy.typing.NDArray[numpy.bool_]]"),
        "One control step: (obs, reward, terminated, truncated). actions: (num_envs, "
        "num_actions);\n"
        "numbers that are not finite count as 0 and set Status.bad_control. On a device: float32,\n"
        "contiguous, whatever speaks DLPack or __cuda_array_interface__ there, after the work of "
        "its\n"
        "producer; or a NumPy array.\n\n"
        "physics: called in the place of batch.step(frame_skip); it writes the state that follows "
        "into\n"
        "`batch` and calls batch.refresh(). For the same task on another engine.");
  c.def(
      "observe",
      [](BoundEnv& b) {
        {
          const nb::gil_scoped_release release;
          b.engine->observe();
        }
        return array(b, b.engine->obs());
      },
      nb::sig("def observe(self) -> numpy.typing.NDArray[numpy.float32]"),
      "obs of the present state, for those who wrote into `batch`.");
  c.def(
      "snapshot",
      [](const BoundEnv& b) {
        const std::vector<std::byte> bytes = b.engine->snapshot();
        return nb::bytes(bytes.data(), bytes.size());
      },
      "All that later steps depend on and the last results, as bytes.");
  c.def(
      "restore",
      [](BoundEnv& b, const nb::bytes& bytes) {
        const auto* data = static_cast<const std::byte*>(bytes.data());
        std::string warning;
        {
          const nb::gil_scoped_release release;
          warning = b.engine->restore({data, bytes.size()});
        }
        warn(warning);
      },
      nb::arg("snapshot"),
      "Goes on from a snapshot of an Env of the same task, options, autoreset, precision and\n"
      "num_envs: the same bits from there on with the same `batch.isa`, else it warns\n"
      "(RuntimeWarning). Raises Error on what is damaged or foreign, and changes nothing.");
  bind_info(c);
  bind_results(c);
  c.def("__len__", [](const BoundEnv& b) { return b.engine->num_envs(); });
  refuse_pickle(c,
                "an Env does not pickle: send its id and options and make another one there; its "
                "state goes by snapshot() and restore()");
  c.def("__repr__", [](const BoundEnv& b) {
    return "<stiction.Env '" + b.engine->info().id +
           "' num_envs=" + std::to_string(b.engine->num_envs()) + ">";
  });
}

}  // namespace stiction::python
