// Options: C++ enumerations as strings, immutable, compared by value.
#include "stiction/options.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "module.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::python {
namespace {

template <class E, std::size_t N>
using Choices = std::array<std::pair<E, std::string_view>, N>;

constexpr Choices<ContactModel, 3> kContactModel{{{ContactModel::lagged, "lagged"},
                                                  {ContactModel::similar, "similar"},
                                                  {ContactModel::sap, "sap"}}};
constexpr Choices<Stiction, 2> kStiction{
    {{Stiction::regularized, "regularized"}, {Stiction::anchored, "anchored"}}};
constexpr Choices<ContactPairs, 2> kContactPairs{
    {{ContactPairs::speculative, "speculative"},
     {ContactPairs::penetrating_deepest, "penetrating_deepest"}}};
constexpr Choices<Limits, 3> kLimits{
    {{Limits::automatic, "auto"}, {Limits::solref, "solref"}, {Limits::near_rigid, "near_rigid"}}};
constexpr Choices<FrictionCombination, 2> kFrictionCombination{
    {{FrictionCombination::mujoco, "mujoco"}, {FrictionCombination::harmonic, "harmonic"}}};
constexpr Choices<Gyroscopic, 3> kGyroscopic{{{Gyroscopic::automatic, "auto"},
                                              {Gyroscopic::midpoint, "midpoint"},
                                              {Gyroscopic::explicit_euler, "explicit_euler"}}};
constexpr Choices<LinearSolver, 2> kLinearSolver{
    {{LinearSolver::cholesky, "cholesky"}, {LinearSolver::cusolver, "cusolver"}}};

constexpr Choices<Scheme, 4> kScheme{{{Scheme::implicit_euler, "implicit_euler"},
                                      {Scheme::symplectic_euler, "symplectic_euler"},
                                      {Scheme::explicit_euler, "explicit_euler"},
                                      {Scheme::midpoint, "midpoint"}}};
constexpr Choices<NormalLaw, 3> kNormalLaw{{{NormalLaw::hunt_crossley, "hunt_crossley"},
                                            {NormalLaw::log_barrier, "log_barrier"},
                                            {NormalLaw::ipc_barrier, "ipc_barrier"}}};

constexpr Choices<MocapVelocity, 3> kMocapVelocity{{{MocapVelocity::difference, "difference"},
                                                    {MocapVelocity::given, "given"},
                                                    {MocapVelocity::none, "none"}}};

template <class E, std::size_t N>
E parse(const char* field, const std::string& value, const Choices<E, N>& choices) {
  std::string list;
  for (const auto& [e, name] : choices) {
    if (value == name) return e;
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  throw ArgumentError("Options." + std::string(field) + " = '" + visible(value) +
                      "': must be one of " + list);
}

template <class E, std::size_t N>
std::string name_of(E value, const Choices<E, N>& choices) {
  return std::string(choices[static_cast<std::size_t>(value)].second);
}

constexpr const char *kAuto = "auto", *kFixedPoint = "fixed_point";
using Solves = std::variant<int, std::string>;

int parse_solves(const Solves& given) {
  if (const auto* n = std::get_if<int>(&given)) {
    if (*n >= 1) return *n;
    throw ArgumentError("Options.friction_iterations = " + std::to_string(*n) +
                        ": must be in [1, 100], 'auto' or 'fixed_point'");
  }
  const std::string& name = std::get<std::string>(given);
  if (name == kAuto) return kAutoFriction;
  if (name == kFixedPoint) return kFixedPointFriction;
  throw ArgumentError("Options.friction_iterations = '" + name +
                      "': must be in [1, 100], 'auto' or 'fixed_point'");
}
Solves solves_of(const Options& o) {
  if (o.friction_iterations == kAutoFriction) return std::string(kAuto);
  if (o.friction_iterations == kFixedPointFriction) return std::string(kFixedPoint);
  return o.friction_iterations;
}

bool equal(const Options& a, const Options& b) {
  return a.timestep == b.timestep && a.contact_model == b.contact_model &&
         a.stiction == b.stiction && a.stiction_tolerance == b.stiction_tolerance &&
         a.regularization == b.regularization && a.near_rigid == b.near_rigid &&
         a.solver_tolerance == b.solver_tolerance && a.max_iterations == b.max_iterations &&
         a.friction_iterations == b.friction_iterations &&
         a.friction_tolerance == b.friction_tolerance && a.contact_pairs == b.contact_pairs &&
         a.limits == b.limits && a.friction_combination == b.friction_combination &&
         a.gyroscopic == b.gyroscopic && a.linear_solver == b.linear_solver &&
         a.scheme == b.scheme && a.normal_law == b.normal_law && a.barrier == b.barrier &&
         a.barrier_distance == b.barrier_distance && a.mocap_velocity == b.mocap_velocity;
}

// All fields as Python values, in the order of the constructor.
nb::dict fields(const Options& o) {
  nb::dict d;
  d["timestep"] = o.timestep;
  d["contact_model"] = name_of(o.contact_model, kContactModel);
  d["stiction"] = name_of(o.stiction, kStiction);
  d["stiction_tolerance"] = o.stiction_tolerance;
  d["regularization"] = o.regularization;
  d["near_rigid"] = o.near_rigid;
  d["solver_tolerance"] = o.solver_tolerance;
  d["max_iterations"] = o.max_iterations;
  d["friction_iterations"] = solves_of(o);
  d["friction_tolerance"] = o.friction_tolerance;
  d["contact_pairs"] = name_of(o.contact_pairs, kContactPairs);
  d["limits"] = name_of(o.limits, kLimits);
  d["friction_combination"] = name_of(o.friction_combination, kFrictionCombination);
  d["gyroscopic"] = name_of(o.gyroscopic, kGyroscopic);
  d["linear_solver"] = name_of(o.linear_solver, kLinearSolver);
  d["scheme"] = name_of(o.scheme, kScheme);
  d["normal_law"] = name_of(o.normal_law, kNormalLaw);
  d["barrier"] = o.barrier;
  d["barrier_distance"] = o.barrier_distance;
  d["mocap_velocity"] = name_of(o.mocap_velocity, kMocapVelocity);
  return d;
}

void init(Options* self, std::optional<double> timestep, const std::string& contact_model,
          const std::string& stiction, double stiction_tolerance, double regularization,
          double near_rigid, std::optional<double> solver_tolerance, int max_iterations,
          const Solves& friction_iterations, std::optional<double> friction_tolerance,
          const std::string& contact_pairs, const std::string& limits,
          const std::string& friction_combination, const std::string& gyroscopic,
          const std::string& linear_solver, const std::string& scheme,
          const std::string& normal_law, std::optional<double> barrier, double barrier_distance,
          const std::string& mocap_velocity) {
  const Options o{.timestep = timestep,
                  .contact_model = parse("contact_model", contact_model, kContactModel),
                  .stiction = parse("stiction", stiction, kStiction),
                  .stiction_tolerance = stiction_tolerance,
                  .regularization = regularization,
                  .near_rigid = near_rigid,
                  .solver_tolerance = solver_tolerance,
                  .max_iterations = max_iterations,
                  .friction_iterations = parse_solves(friction_iterations),
                  .friction_tolerance = friction_tolerance,
                  .contact_pairs = parse("contact_pairs", contact_pairs, kContactPairs),
                  .limits = parse("limits", limits, kLimits),
                  .friction_combination =
                      parse("friction_combination", friction_combination, kFrictionCombination),
                  .gyroscopic = parse("gyroscopic", gyroscopic, kGyroscopic),
                  .linear_solver = parse("linear_solver", linear_solver, kLinearSolver),
                  .scheme = parse("scheme", scheme, kScheme),
                  .normal_law = parse("normal_law", normal_law, kNormalLaw),
                  .barrier = barrier,
                  .barrier_distance = barrier_distance,
                  .mocap_velocity = parse("mocap_velocity", mocap_velocity, kMocapVelocity)};
  validate(o);
  new (self) Options(o);
}

constexpr const char* kDoc =
    "How to step: everything that is a choice of the user and not a property of the robot.\n\n"
    "Immutable; `replace` makes a changed copy. Raises ArgumentError on a value out of range.\n\n"
    "timestep: s; None: the model's.\n"
    "contact_model: 'lagged' (default), 'similar' or 'sap'; the convex models of \"Irrotational\n"
    "    Contact Fields\" and of the SAP paper. Only 'lagged' neither glides nor hardens with "
    "speed.\n"
    "stiction: 'regularized' creeps below stiction_tolerance; 'anchored' does not creep.\n"
    "stiction_tolerance: v_s, m/s, slip speed at which friction reaches 0.71 of its bound.\n"
    "regularization: sigma, friction slope at most 1/(sigma w).\n"
    "near_rigid: beta of SAP contact; 0 switches its floor on compliance off.\n"
    "solver_tolerance: relative momentum residual; None: 1e-6 in double precision.\n"
    "max_iterations: Newton iterations of a solve before Status.not_converged.\n"
    "friction_iterations: solves of a step; from the second on friction is bounded by the normal\n"
    "    impulse of the solve before, in the first by that of the last step. 'lagged' only.\n"
    "    'auto': the bounds follow the normal impulses within one solve, at most 8 times, until\n"
    "    friction is right within friction_tolerance. 'fixed_point': the same to round-off, so "
    "that\n"
    "    a step is a function of the state alone. Both are 1 where contact_model is not 'lagged' "
    "or\n"
    "    contact_pairs is 'penetrating_deepest'.\n"
    "friction_tolerance: share of the step's impulse by which friction may be wrong; None: 0.02 "
    "of\n"
    "    'auto', of 'fixed_point' 1e-10 in double precision, 1e-5 in single.\n"
    "contact_pairs: 'speculative', or 'penetrating_deepest' (Drake's point contact, to compare).\n"
    "limits: of joints. 'solref': a violated limit returns with the time constant of solreflimit;\n"
    "    'near_rigid': half of the way in each step, as in Drake; 'auto': 'near_rigid' with\n"
    "    'penetrating_deepest', else 'solref'.\n"
    "friction_combination: 'mujoco' (priority, else the larger), or 'harmonic' (2ab/(a+b)).\n"
    "gyroscopic: torque of free and ball joints. 'midpoint' keeps energy and momentum of a body "
    "on\n"
    "    which nothing acts; 'explicit_euler' gains energy (Drake's discrete systems); 'auto':\n"
    "    'explicit_euler' with 'penetrating_deepest' and with other schemes, else 'midpoint'.\n"
    "linear_solver: 'cholesky', our own; 'cusolver' checks it with NVIDIA's library, on device =\n"
    "    'cuda' only, slower.\n"
    "scheme: Reference only, as the three below. 'implicit_euler': springs and dampers of joints "
    "at\n"
    "    the end of the step, other forces at its start; 'symplectic_euler': all at the start;\n"
    "    'explicit_euler': positions advance with the velocity of the start, too; 'midpoint': "
    "smooth\n"
    "    forces and the motion half-way, of second order (the SAP paper's theta-method).\n"
    "normal_law: 'hunt_crossley' (stiffness and dissipation of the pair); 'log_barrier', force\n"
    "    barrier / gap at any distance; 'ipc_barrier', below barrier_distance (\"Irrotational\n"
    "    Contact Fields\", IX). Not with 'sap'.\n"
    "barrier: kappa; J of 'log_barrier' (None: 1e-3), N/m of 'ipc_barrier' (None: 1e4).\n"
    "barrier_distance: d of 'ipc_barrier', m.\n"
    "mocap_velocity: how mocap bodies of a Batch move. 'difference': over the steps of a call to\n"
    "    the pose written before it, in equal parts; they stand in the first step after a reset,\n"
    "    a set state or Batch.teleport. 'given': at Batch.mocap_vel, from where they are. 'none':\n"
    "    to the pose at once, without a velocity. A Reference takes mocap_vel as an argument.";

constexpr const char* kInitSignature =
    "def __init__(self, *, timestep: float | None = None, "
    "contact_model: typing.Literal['lagged', 'similar', 'sap'] = 'lagged', "
    "stiction: typing.Literal['regularized', 'anchored'] = 'regularized', "
    "stiction_tolerance: float = 1e-4, regularization: float = 1e-3, near_rigid: float = 1.0, "
    "solver_tolerance: float | None = None, max_iterations: int = 32, "
    "friction_iterations: int | typing.Literal['auto', 'fixed_point'] = 'auto', "
    "friction_tolerance: float | None = None, "
    "contact_pairs: typing.Literal['speculative', 'penetrating_deepest'] = 'speculative', "
    "limits: typing.Literal['auto', 'solref', 'near_rigid'] = 'auto', "
    "friction_combination: typing.Literal['mujoco', 'harmonic'] = 'mujoco', "
    "gyroscopic: typing.Literal['auto', 'midpoint', 'explicit_euler'] = 'auto', "
    "linear_solver: typing.Literal['cholesky', 'cusolver'] = 'cholesky', "
    "scheme: typing.Literal['implicit_euler', 'symplectic_euler', 'explicit_euler', 'midpoint'] = "
    "'implicit_euler', "
    "normal_law: typing.Literal['hunt_crossley', 'log_barrier', 'ipc_barrier'] = 'hunt_crossley', "
    "barrier: float | None = None, barrier_distance: float = 1e-3, "
    "mocap_velocity: typing.Literal['difference', 'given', 'none'] = 'difference') -> None";

}  // namespace

void bind_options(nb::module_& m) {
  nb::class_<Options> c(m, "Options", kDoc);
  c.def("__init__", &init, nb::kw_only(), nb::arg("timestep") = nb::none(),
        nb::arg("contact_model") = "lagged", nb::arg("stiction") = "regularized",
        nb::arg("stiction_tolerance") = 1e-4, nb::arg("regularization") = 1e-3,
        nb::arg("near_rigid") = 1.0, nb::arg("solver_tolerance") = nb::none(),
        nb::arg("max_iterations") = 32, nb::arg("friction_iterations") = kAuto,
        nb::arg("friction_tolerance") = nb::none(), nb::arg("contact_pairs") = "speculative",
        nb::arg("limits") = kAuto, nb::arg("friction_combination") = "mujoco",
        nb::arg("gyroscopic") = kAuto, nb::arg("linear_solver") = "cholesky",
        nb::arg("scheme") = "implicit_euler", nb::arg("normal_law") = "hunt_crossley",
        nb::arg("barrier") = nb::none(), nb::arg("barrier_distance") = 1e-3,
        nb::arg("mocap_velocity") = "difference", nb::sig(kInitSignature));
  c.def_ro("timestep", &Options::timestep)
      .def_prop_ro("contact_model",
                   [](const Options& o) { return name_of(o.contact_model, kContactModel); })
      .def_prop_ro("stiction", [](const Options& o) { return name_of(o.stiction, kStiction); })
      .def_ro("stiction_tolerance", &Options::stiction_tolerance)
      .def_ro("regularization", &Options::regularization)
      .def_ro("near_rigid", &Options::near_rigid)
      .def_ro("solver_tolerance", &Options::solver_tolerance)
      .def_ro("max_iterations", &Options::max_iterations)
      .def_prop_ro("friction_iterations", &solves_of)
      .def_ro("friction_tolerance", &Options::friction_tolerance)
      .def_prop_ro("contact_pairs",
                   [](const Options& o) { return name_of(o.contact_pairs, kContactPairs); })
      .def_prop_ro("limits", [](const Options& o) { return name_of(o.limits, kLimits); })
      .def_prop_ro(
          "friction_combination",
          [](const Options& o) { return name_of(o.friction_combination, kFrictionCombination); })
      .def_prop_ro("gyroscopic",
                   [](const Options& o) { return name_of(o.gyroscopic, kGyroscopic); })
      .def_prop_ro("linear_solver",
                   [](const Options& o) { return name_of(o.linear_solver, kLinearSolver); })
      .def_prop_ro("scheme", [](const Options& o) { return name_of(o.scheme, kScheme); })
      .def_prop_ro("mocap_velocity",
                   [](const Options& o) { return name_of(o.mocap_velocity, kMocapVelocity); })
      .def_prop_ro("normal_law", [](const Options& o) { return name_of(o.normal_law, kNormalLaw); })
      .def_ro("barrier", &Options::barrier)
      .def_ro("barrier_distance", &Options::barrier_distance);
  c.def(
      "replace",
      [](nb::handle_t<Options> self, const nb::kwargs& changes) {
        nb::dict d = fields(nb::cast<const Options&>(self));
        d.update(changes);
        return nb::cast<Options>(self.type()(**d));
      },
      "A copy with the given fields changed.");
  c.def("__eq__", &equal, nb::is_operator())
      .def("__hash__", [](const Options& o) { return nb::hash(nb::tuple(fields(o).values())); })
      .def("__repr__",
           [](const Options& o) {
             std::string s;
             for (const auto& [key, value] : fields(o))
               s += (s.empty() ? "" : ", ") + nb::cast<std::string>(key) + "=" +
                    nb::cast<std::string>(nb::repr(value));
             return "Options(" + s + ")";
           })
      .def("__getstate__", &fields)
      .def("__setstate__", [](Options& self, const nb::dict& state) {
        new (&self) Options(nb::cast<Options>(nb::type<Options>()(**state)));
      });
}

}  // namespace stiction::python
