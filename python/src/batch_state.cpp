// Choosing environments, and their states in and out of a batch.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "as_array.h"
#include "batch.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

using Ids = std::vector<int>;

}  // namespace

std::vector<int> parse_ids(const Batch& b, const nb::object& given, const char* name) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("atleast_1d")(as_array(given, name));
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool masked = nb::isinstance(given, numpy.attr("ma").attr("MaskedArray"));
  const auto size = nb::cast<long long>(array.attr("size"));
  const bool line = nb::cast<int>(array.attr("ndim")) == 1;
  if (!line || masked || size > std::numeric_limits<int>::max() ||
      (kind == "b" && size != b.num_envs()) ||
      (kind != "b" && kind != "i" && kind != "u" && size > 0))
    throw ArgumentError(std::string(name) + ": given " + (masked ? "a masked array, " : "") +
                        "dtype " + text(array.attr("dtype")) + " of shape " +
                        text(array.attr("shape")) +
                        "; expected indices of environments (n,) or a mask (" +
                        std::to_string(b.num_envs()) + ",)");
  if (size == 0) return {};
  if (kind == "b") array = numpy.attr("flatnonzero")(array);
  const nb::object bad = numpy.attr("flatnonzero")(numpy.attr("logical_or")(
      numpy.attr("less")(array, 0), numpy.attr("greater_equal")(array, b.num_envs())));
  if (nb::len(bad) > 0)
    throw ArgumentError(std::string(name) + ": environment " +
                        text(nb::object(array[nb::object(bad[0])])) + "; must be in [0, " +
                        std::to_string(b.num_envs()) + ")");
  Ids ids;
  for (const nb::handle h : nb::borrow<nb::list>(array.attr("tolist")()))
    ids.push_back(nb::cast<int>(h));
  return ids;
}

std::vector<int> ids_or_all(const Batch& b, const MaybeArray& given) {
  if (given) return parse_ids(b, *given, "ids");
  Ids ids(static_cast<std::size_t>(b.num_envs()));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

namespace {

// The parts of a state: where, name, numbers per environment, as text.
struct Part {
  const char* name;
  std::vector<double> BatchState::*numbers;
  std::vector<int> shape;
  const char* symbols;
};
std::vector<Part> parts(const Batch& b) {
  const Model& m = b.model();
  const bool anchored = b.options().stiction == Stiction::anchored;
  const bool papers = b.options().contact_pairs == ContactPairs::penetrating_deepest;
  const int rebounds = papers ? 0 : m.nrebound;
  const int mocap = b.options().mocap_velocity == MocapVelocity::none ? 0 : m.nmocap;
  return {{"qpos", &BatchState::qpos, {m.nq}, "nq"},
          {"qvel", &BatchState::qvel, {m.nv}, "nv"},
          {"act", &BatchState::act, {m.na}, "na"},
          {"time", &BatchState::time, {}, ""},
          {"anchor", &BatchState::anchor, {anchored ? m.nanchor : 0, 3}, "nanchor, 3"},
          {"friction_anchor",
           &BatchState::friction_anchor,
           {anchored ? m.nv + m.ntendon : 0},
           "nv + ntendon"},
          {"rebound", &BatchState::rebound, {rebounds}, "nrebound"},
          {"body_airtime", &BatchState::body_airtime, {m.nbody}, "nbody"},
          {"qacc_warmstart", &BatchState::qacc_warmstart, {m.nv}, "nv"},
          {"mocap_xpos", &BatchState::mocap_xpos, {mocap, 3}, "nmocap, 3"},
          {"mocap_xquat", &BatchState::mocap_xquat, {mocap, 4}, "nmocap, 4"},
          {"mocap_xvel", &BatchState::mocap_xvel, {mocap, 6}, "nmocap, 6"}};
}

// One row for each of n environments, or one row for all.
std::vector<double> rows(const nb::object& given, const Part& part, std::size_t n) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = as_array(given, part.name);
  nb::list one, each;
  each.append(n);
  for (const int k : part.shape) one.append(k), each.append(k);
  const nb::tuple shape(array.attr("shape"));
  const bool fits = shape.equal(nb::tuple(one)) || shape.equal(nb::tuple(each));
  if (!fits || !is_real(array))
    throw ArgumentError(std::string(part.name) + ": given dtype " + text(array.attr("dtype")) +
                        " of shape " + text(shape) + "; expected real numbers of shape " +
                        text(nb::tuple(each)) + ", or " + text(nb::tuple(one)) + " for all");
  const nb::object full = numpy.attr("ascontiguousarray")(
      numpy.attr("broadcast_to")(array, nb::tuple(each)), nb::arg("dtype") = "float64");
  const auto numbers = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(full);
  return {numbers.data(), numbers.data() + numbers.size()};
}

// From keyword arguments; nothing when there are none.
std::optional<BatchState> parse_state(const Batch& b, const nb::kwargs& given, std::size_t n) {
  if (given.empty()) return std::nullopt;
  BatchState state;
  std::size_t used = 0;
  std::string names;
  for (const Part& part : parts(b)) {
    names += (names.empty() ? "" : ", ") + std::string(part.name);
    if (!given.contains(part.name)) continue;
    ++used;
    const nb::object value = given[part.name];
    if (!value.is_none()) state.*part.numbers = rows(value, part, n);
  }
  if (used != given.size())
    throw ArgumentError("state: given " + text(nb::list(given.keys())) + "; known are " + names);
  return state;
}

void reset(BoundBatch& b, const MaybeArray& given_ids, const nb::kwargs& given) {
  const Ids ids = ids_or_all(b.engine, given_ids);
  const std::optional<BatchState> state = parse_state(b.engine, given, ids.size());
  const nb::gil_scoped_release release;
  b.engine.reset(ids, state ? &*state : nullptr);
}

void set_state(BoundBatch& b, const MaybeArray& given_ids, const nb::kwargs& given) {
  const Ids ids = ids_or_all(b.engine, given_ids);
  const std::optional<BatchState> state = parse_state(b.engine, given, ids.size());
  if (!state) throw ArgumentError("set_state: nothing to set; give qpos, qvel, ...");
  const nb::gil_scoped_release release;
  b.engine.set_state(ids, *state);
}

nb::dict get_state(const BoundBatch& b, const MaybeArray& given_ids) {
  const Ids ids = ids_or_all(b.engine, given_ids);
  BatchState state = b.engine.get_state(ids);
  nb::dict d;
  for (const Part& part : parts(b.engine)) {
    auto* numbers = new std::vector<double>(std::move(state.*part.numbers));
    const nb::capsule owner(numbers,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    std::vector<std::size_t> shape{ids.size()};
    for (const int k : part.shape) shape.push_back(static_cast<std::size_t>(k));
    static constinit double nothing{};
    d[part.name] = nb::ndarray<nb::numpy, double>(numbers->empty() ? &nothing : numbers->data(),
                                                  shape.size(), shape.data(), owner);
  }
  return d;
}

void copy(BoundBatch& b, const ArrayLike& src, const ArrayLike& dst) {
  const Ids from = parse_ids(b.engine, src, "src"), to = parse_ids(b.engine, dst, "dst");
  const nb::gil_scoped_release release;
  b.engine.copy(from, to);
}

#define STATE_ARGUMENTS                                     \
  "qpos: numpy.typing.ArrayLike | None = None, "            \
  "qvel: numpy.typing.ArrayLike | None = None, "            \
  "act: numpy.typing.ArrayLike | None = None, "             \
  "time: numpy.typing.ArrayLike | None = None, "            \
  "anchor: numpy.typing.ArrayLike | None = None, "          \
  "friction_anchor: numpy.typing.ArrayLike | None = None, " \
  "rebound: numpy.typing.ArrayLike | None = None, "         \
  "body_airtime: numpy.typing.ArrayLike | None = None, "    \
  "qacc_warmstart: numpy.typing.ArrayLike | None = None, "  \
  "mocap_xpos: numpy.typing.ArrayLike | None = None, "      \
  "mocap_xquat: numpy.typing.ArrayLike | None = None, "     \
  "mocap_xvel: numpy.typing.ArrayLike | None = None) -> None"

}  // namespace

void bind_batch_state(nb::class_<BoundBatch>& c) {
  c.def("reset", &reset, nb::arg("ids") = nb::none(), nb::arg("state"),
        nb::sig("def reset(self, ids: numpy.typing.ArrayLike | None = None, "
                "**state: numpy.typing.ArrayLike) -> None"),
        "The model's reference pose, or the given state; the rest of the state, inputs and\n"
        "status zero; outputs refreshed. Of all environments, or of those in `ids` (indices or a "
        "mask).\n\n"
        "state: qpos, qvel, act, time, anchor, friction_anchor, rebound, body_airtime, "
        "qacc_warmstart, mocap_xpos, mocap_xquat, mocap_xvel; one row for each "
        "chosen\n"
        "environment, or one for all. Raises ArgumentError on a bad index, shape or number.");
  c.def(
      "set_state", &set_state, nb::arg("ids") = nb::none(), nb::arg("state"),
      nb::sig("def set_state(self, ids: numpy.typing.ArrayLike | None = None, *, " STATE_ARGUMENTS),
      "States of all environments or of those in `ids` (indices or a mask), rows as in `reset`.\n"
      "\nOf what is not given qpos, qvel, act and time stay, the rest becomes zero. Inputs stay, "
      "the "
      "status\n"
      "is cleared, outputs are refreshed. Raises ArgumentError naming environment and index.");
  c.def("get_state", &get_state, nb::arg("ids") = nb::none(),
        nb::sig("def get_state(self, ids: numpy.typing.ArrayLike | None = None) "
                "-> dict[str, numpy.typing.NDArray[numpy.float64]]"),
        "Copies of the state; batch.set_state(**batch.get_state()) changes nothing.");
  c.def(
      "teleport",
      [](BoundBatch& b, const MaybeArray& given) {
        const Ids ids = ids_or_all(b.engine, given);
        const nb::gil_scoped_release release;
        b.engine.teleport(ids);
      },
      nb::arg("ids") = nb::none(),
      nb::sig("def teleport(self, ids: numpy.typing.ArrayLike | None = None) -> None"),
      "Mocap bodies are at once where mocap_pos and mocap_quat say when the next step begins.\n\n"
      "Of all environments, or of those in `ids` (indices or a mask). With mocap_velocity =\n"
      "'difference' they stand in that step, as in the first one after a reset; with 'given' they\n"
      "move on from there. Raises ArgumentError on a bad index.");
  c.def("copy", &copy, nb::arg("src"), nb::arg("dst"),
        "State, inputs, own parameters and status of environment src[i] to dst[i].");
}

}  // namespace stiction::python
