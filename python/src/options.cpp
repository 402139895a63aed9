// Options: C++ enumerations as strings, immutable, compared by value.
#include "stiction/options.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <string>
#include <type_traits>

#include "module.h"
#include "stiction/error.h"
#include "stiction/option_names.h"
#include "stiction/text.h"

namespace stiction::python {
namespace {

struct Plain {};
struct Solves {};  // of friction_iterations
constexpr Plain plain{};
constexpr Solves solves{};

// 'a', 'b', 'c'
template <class E>
std::string quoted_choices(E any) {
  std::string list;
  for (const std::string_view name : choice_names(any))
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  return list;
}

// The type of a field as a signature has it.
std::string type_text(Plain, double) {
  return "float";
}
std::string type_text(Plain, std::optional<double>) {
  return "float | None";
}
std::string type_text(Plain, int) {
  return "int";
}
template <class E>
std::string type_text(Plain, E choice) {
  return "typing.Literal[" + quoted_choices(choice) + "]";
}
std::string type_text(Solves, int) {
  return "int | typing.Literal['auto', 'fixed_point']";
}

// The value of a field in Python.
nb::object to_python(Plain, double x) {
  return nb::float_(x);
}
nb::object to_python(Plain, const std::optional<double>& x) {
  return nb::cast(x);
}
nb::object to_python(Plain, int n) {
  return nb::int_(n);
}
template <class E>
nb::object to_python(Plain, E choice) {
  return nb::cast(std::string(name_of(choice)));
}
nb::object to_python(Solves, int n) {
  if (n == kAutoFriction) return nb::cast(std::string(kAutoName));
  if (n == kFixedPointFriction) return nb::cast(std::string(kFixedPointName));
  return nb::int_(n);
}

// What Python gives for a field; false: it is of another type.
template <class T>
bool take(Plain, const char*, nb::handle given, T& to) {
  return nb::try_cast(given, to);
}
template <class E>
requires std::is_enum_v<E>
bool take(Plain, const char* field, nb::handle given, E& to) {
  std::string name;
  if (!nb::try_cast(given, name)) return false;
  const auto names = choice_names(to);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw ArgumentError("Options." + std::string(field) + " = '" + visible(name) +
                        "': must be one of " + quoted_choices(to));
  to = static_cast<E>(found - names.begin());
  return true;
}
bool take(Solves, const char* field, nb::handle given, int& to) {
  constexpr const char* kRange = ": must be in [1, 100], 'auto' or 'fixed_point'";
  const auto refuse = [&](const std::string& value) {
    throw ArgumentError("Options." + std::string(field) + " = " + value + kRange);
  };
  if (std::string name; nb::try_cast(given, name)) {
    if (name != kAutoName && name != kFixedPointName) refuse("'" + visible(name) + "'");
    to = name == kAutoName ? kAutoFriction : kFixedPointFriction;
    return true;
  }
  if (!nb::try_cast(given, to)) return false;
  if (to < 1) refuse(std::to_string(to));
  return true;
}

// All fields as Python values, in the order of the constructor.
nb::dict fields(const Options& o) {
  nb::dict d;
#define OPTION(name, kind, range) d[#name] = to_python(kind, o.name);
#include "stiction/options.def"
#undef OPTION
  return d;
}

Options from_fields(const nb::dict& given) {
  Options o;
  for (const auto& [key, value] : given) {
    const std::string field = nb::cast<std::string>(key);
    std::string type;
    bool known = false;
#define OPTION(name, kind, range)                                          \
  if (field == #name) {                                                    \
    known = true;                                                          \
    if (!take(kind, #name, value, o.name)) type = type_text(kind, o.name); \
  }
#include "stiction/options.def"
#undef OPTION
    if (!known) {
      std::string names;
      for (const auto& [name, number] : fields(o))
        names += (names.empty() ? "'" : ", '") + nb::cast<std::string>(name) + "'";
      throw nb::type_error(
          ("Options has no field '" + visible(field) + "'; it has " + names).c_str());
    }
    if (!type.empty())
      throw nb::type_error(("Options." + field + ": given " +
                            nb::cast<std::string>(nb::repr(value)) + "; expected " + type)
                               .c_str());
  }
  validate(o);
  return o;
}

// def __init__(self, *, timestep: float | None = None, ...) -> None
std::string init_signature() {
  const Options o;
  std::string arguments;
#define OPTION(name, kind, range)                                               \
  arguments += std::string(", " #name ": ") + type_text(kind, o.name) + " = " + \
               nb::cast<std::string>(nb::repr(to_python(kind, o.name)));
#include "stiction/options.def"
#undef OPTION
  return "def __init__(self, *" + arguments + ") -> None";
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

}  // namespace

void bind_options(nb::module_& m) {
  // nanobind keeps their addresses
  static const std::string signature = init_signature();
  static std::deque<std::string> getters;
  const auto getter = [](const char* name, const std::string& type) {
    return getters.emplace_back("def " + std::string(name) + "(self) -> " + type).c_str();
  };
  nb::class_<Options> c(m, "Options", kDoc);
  c.def(
      "__init__",
      [](Options* self, const nb::kwargs& given) { new (self) Options(from_fields(given)); },
      nb::sig(signature.c_str()));
#define OPTION(name, kind, range)                                      \
  c.def_prop_ro(                                                       \
      #name, [](const Options& o) { return to_python(kind, o.name); }, \
      nb::for_getter(nb::sig(getter(#name, type_text(kind, Options().name)))));
#include "stiction/options.def"
#undef OPTION
  c.def(
      "replace",
      [](const Options& o, const nb::kwargs& changes) {
        nb::dict d = fields(o);
        d.update(changes);
        return from_fields(d);
      },
      "A copy with the given fields changed.");
  c.def(nb::self == nb::self)
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
      .def("__setstate__",
           [](Options& self, const nb::dict& state) { new (&self) Options(from_fields(state)); });
}

}  // namespace stiction::python
