// Rays and height scans, of a Batch and of the Reference. The GIL is released while they are computed.
#include "rays.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "as_array.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

int body_of(const Model& m, const Key& key) {
  return index_of(m, key, &Model::body);
}

// MuJoCo's: six flags; None: all groups.
int groups_of(const MaybeArray& given) {
  if (!given) return kAllGeomGroups;
  const Input flags(*given, "geomgroup", {kGeomGroups}, "(6,), a flag for each group");
  int bits = 0;
  for (std::size_t i = 0; i < flags.span().size(); ++i)
    if (flags.span()[i] != 0) bits |= 1 << i;
  return bits;
}

RayOptions options_of(const Model& m, const MaybeArray& geomgroup, bool flg_static,
                      const Key& exclude) {
  return {groups_of(geomgroup), flg_static, body_of(m, exclude)};
}

template <class T>
nb::object array_of(std::vector<T> numbers, const std::vector<int>& shape) {
  auto* kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::vector<std::size_t> sizes(shape.begin(), shape.end());
  static constinit T nothing{};
  return nb::ndarray<nb::numpy, T>(kept->empty() ? &nothing : kept->data(), sizes.size(),
                                   sizes.data(), owner)
      .cast();
}

template <class Real>
nb::tuple hits_of(RayHits<Real> hits, std::vector<int> shape) {
  nb::object distance = array_of(std::move(hits.distance), shape);
  nb::object geomid = array_of(std::move(hits.geomid), shape);
  shape.push_back(3);
  return nb::make_tuple(distance, geomid, array_of(std::move(hits.normal), shape));
}

nb::object numpy(const char* name) {
  return nb::module_::import_("numpy").attr(name);
}

// (3,), (nray, 3) or (environments, nray, 3), of both together; `own`: the third.
struct Given {
  nb::object array;
  std::vector<int> shape;
};
Given given(const ArrayLike& vectors, const char* name) {
  Given g{as_array(vectors, name), {}};
  if (is_real(g.array)) g.shape = nb::cast<std::vector<int>>(nb::list(g.array.attr("shape")));
  if (g.shape.empty() || g.shape.size() > 3 || g.shape.back() != 3)
    throw ArgumentError(std::string(name) + ": given " + text(g.array.attr("dtype")) +
                        " of shape " + text(g.array.attr("shape")) +
                        "; expected real numbers of shape (nray, 3), or (num_envs, nray, 3)");
  while (g.shape.size() < 2) g.shape.insert(g.shape.begin(), 1);
  return g;
}
Input vectors_of(const Given& g, const char* name, int environments, int nray) {
  if (g.shape.size() == 3)
    return {numpy("broadcast_to")(g.array, nb::make_tuple(environments, nray, 3)),
            name,
            {environments, nray, 3},
            "(num_envs, nray, 3)"};
  return {numpy("broadcast_to")(g.array, nb::make_tuple(nray, 3)), name, {nray, 3}, "(nray, 3)"};
}
// The number of rays, where each array has as many or one for all.
int ray_count(const Given& a, const Given& b, int environments) {
  const int n = a.shape[a.shape.size() - 2], m = b.shape[b.shape.size() - 2];
  for (const Given* g : {&a, &b})
    if (g->shape.size() == 3 && g->shape[0] != environments)
      throw ArgumentError("origins and directions: given " + std::to_string(g->shape[0]) +
                          " environments, expected " + std::to_string(environments));
  if (n != m && n != 1 && m != 1)
    throw ArgumentError("origins has " + std::to_string(n) + " rays, directions " +
                        std::to_string(m));
  return n == 1 ? m : n;
}

nb::tuple raycast(const BoundBatch& b, const ArrayLike& origins, const ArrayLike& directions,
                  const MaybeArray& geomgroup, bool flg_static, const Key& exclude,
                  const Key& frame, const MaybeArray& ids) {
  const Model& m = b.engine.model();
  const std::vector<int> which = ids_or_all(b.engine, ids);
  const int count = static_cast<int>(which.size());
  const Given o = given(origins, "origins"), d = given(directions, "directions");
  const int nray = ray_count(o, d, count);
  const Input from = vectors_of(o, "origins", count, nray);
  const Input along = vectors_of(d, "directions", count, nray);
  const Rays rays{nray, from, along, body_of(m, frame),
                  options_of(m, geomgroup, flg_static, exclude)};
  RayHits<float> hits;
  {
    const nb::gil_scoped_release release;
    hits = b.engine.raycast(rays, which);
  }
  return hits_of(std::move(hits), {count, nray});
}

nb::object height_scan(const BoundBatch& b, const Key& body, int nx, int ny, double step,
                       std::pair<double, double> offset, double above, const MaybeArray& geomgroup,
                       const MaybeArray& ids) {
  const std::vector<int> which = ids_or_all(b.engine, ids);
  const HeightScan scan{nx, ny, step, offset.first, offset.second, above, groups_of(geomgroup)};
  const int id = body_of(b.engine.model(), body);
  std::vector<float> heights;
  {
    const nb::gil_scoped_release release;
    heights = b.engine.height_scan(id, scan, which);
  }
  return array_of(std::move(heights), {static_cast<int>(which.size()), nx, ny});
}

nb::object depth(const BoundBatch& b, const Key& camera, int width, int height,
                 const MaybeArray& geomgroup, bool flg_static, const std::optional<Key>& exclude,
                 const MaybeArray& ids) {
  const Model& m = b.engine.model();
  const std::vector<int> which = ids_or_all(b.engine, ids);
  const int* const number = std::get_if<int>(&camera);
  const int id = number != nullptr ? *number : m.camera(std::get<std::string>(camera));
  const bool own = !exclude && id >= 0 && id < m.ncam;
  const Key body = own ? Key(m.cam_bodyid[static_cast<std::size_t>(id)]) : exclude.value_or(-1);
  const RayOptions options = options_of(m, geomgroup, flg_static, body);
  std::vector<float> image;
  {
    const nb::gil_scoped_release release;
    image = b.engine.depth(id, width, height, options, which);
  }
  return array_of(std::move(image), {static_cast<int>(which.size()), height, width});
}

// In pieces, between which Ctrl-C ends it; each computes the frames of bodies anew. What is refused is told by its place
// among all rays.
RayHits<double> cast(const Reference& engine, std::span<const double> qpos,
                     std::span<const double> origins, std::span<const double> directions,
                     const RayOptions& options, const Inputs& inputs) {
  constexpr std::size_t kPiece = 3 * 1024;  // numbers
  RayHits<double> all = engine.raycast(qpos, {}, {}, options, inputs);
  const auto append = [](auto& to, const auto& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  try {
    for (std::size_t first = 0; first < origins.size(); first += kPiece) {
      if (first > 0) check_signals();
      const std::size_t n = std::min(kPiece, origins.size() - first);
      const RayHits<double> hits = engine.raycast(qpos, origins.subspan(first, n),
                                                  directions.subspan(first, n), options, inputs);
      append(all.distance, hits.distance);
      append(all.geomid, hits.geomid);
      append(all.normal, hits.normal);
    }
  } catch (const ArgumentError&) {
    all = engine.raycast(qpos, origins, directions, options, inputs);
  }
  return all;
}

nb::tuple reference_raycast(const BoundReference& r, const ArrayLike& qpos,
                            const ArrayLike& origins, const ArrayLike& directions,
                            const MaybeArray& geomgroup, bool flg_static, const Key& exclude,
                            const MaybeArray& mocap_pos, const MaybeArray& mocap_quat) {
  const Model& m = *r.model->model;
  const Input q(qpos, "qpos", {m.nq}, "(nq,)");
  const Given o = given(origins, "origins"), d = given(directions, "directions");
  const int nray = ray_count(o, d, 1);
  const Input from = vectors_of(o, "origins", 1, nray);
  const Input along = vectors_of(d, "directions", 1, nray);
  const InputArrays inputs(m, {}, {}, mocap_pos, mocap_quat, {}, {}, {}, {}, {}, {});
  const RayOptions options = options_of(m, geomgroup, flg_static, exclude);
  RayHits<double> hits;
  {
    const nb::gil_scoped_release release;
    hits = cast(r.engine, q, from, along, options, inputs.inputs());
  }
  return hits_of(std::move(hits), {nray});
}

#define HITS(real)                             \
  " -> tuple[numpy.typing.NDArray[numpy." real \
  "], numpy.typing.NDArray[numpy.int32], "     \
  "numpy.typing.NDArray[numpy." real "]]"
#define GEOMS                                                                                     \
  "As MuJoCo's mj_ray: the distance is in units of the direction's length, from inside a geom\n"  \
  "the far side counts, a plane is seen from above and within its size. geomgroup: six flags,\n"  \
  "None for all; static: also geoms that nothing moves; exclude_body: rays pass its geoms, -1:\n" \
  "of none. Rays pass geoms with geom_alpha 0 and meshes without a hull, which only show\n"       \
  "(docs/mjcf.md). "

void bind_depth(nb::class_<BoundBatch>& c) {
  c.def(
      "depth", &depth, nb::arg("camera"), nb::arg("width") = 64, nb::arg("height") = 48,
      nb::kw_only(), nb::arg("geomgroup") = nb::none(), nb::arg("static") = true,
      nb::arg("exclude_body") = nb::none(), nb::arg("ids") = nb::none(),
      nb::sig("def depth(self, camera: int | str, width: int = 64, height: int = 48, *, "
              "geomgroup: numpy.typing.ArrayLike | None = None, static: bool = True, "
              "exclude_body: int | str | None = None, ids: numpy.typing.ArrayLike | None = None) "
              "-> numpy.typing.NDArray[numpy.float32]"),
      "(num_envs, height, width) m along the optical axis of a camera to the first geom that the\n"
      "ray through the middle of each pixel meets, the topmost row first; inf where it meets\n"
      "none, NaN where the state is out of bounds. What MuJoCo's depth images say, to the\n"
      "resolution of their buffer, of hulls in the place of meshes.\n\n"
      "exclude_body: rays pass its geoms; None: the camera's own body, -1: none. The others as\n"
      "in `raycast`. Computed by the CPU. Raises ArgumentError on a camera that is not\n"
      "mode=\"fixed\" and perspective, or a size that is not in [1, 4096].");
}

}  // namespace

void bind_rays(nb::class_<BoundBatch>& c) {
  c.def("raycast", &raycast, nb::arg("origins"), nb::arg("directions"), nb::kw_only(),
        nb::arg("geomgroup") = nb::none(), nb::arg("static") = true, nb::arg("exclude_body") = -1,
        nb::arg("body") = 0, nb::arg("ids") = nb::none(),
        nb::sig("def raycast(self, origins: numpy.typing.ArrayLike, directions: "
                "numpy.typing.ArrayLike, *, geomgroup: numpy.typing.ArrayLike | None = None, "
                "static: bool = True, exclude_body: int | str = -1, body: int | str = 0, ids: "
                "numpy.typing.ArrayLike | None = None)" HITS("float32")),
        "(distance, geomid, normal), (num_envs, nray) and (num_envs, nray, 3), of the first geom\n"
        "that each ray origin + x direction, x >= 0, meets at the present state; -1, -1 and zeros\n"
        "where it meets none, NaN where the state is out of bounds.\n\n"
        "origins, directions: (nray, 3) for all environments or (num_envs, nray, 3), m, in the\n"
        "frame of `body`: 0 is the world; one of the two may have a single ray. ids: indices or a\n"
        "mask, of which the first axis is then.\n\n" GEOMS
        "Computed by the CPU. Raises\n"
        "ArgumentError on other shapes, numbers that are not finite, a direction without length.");
  c.def(
      "height_scan", &height_scan, nb::arg("body"), nb::kw_only(), nb::arg("nx") = 17,
      nb::arg("ny") = 11, nb::arg("step") = 0.1, nb::arg("offset") = std::pair{0.0, 0.0},
      nb::arg("above") = 20.0, nb::arg("geomgroup") = nb::none(), nb::arg("ids") = nb::none(),
      nb::sig("def height_scan(self, body: int | str, *, nx: int = 17, ny: int = 11, step: float "
              "= 0.1, offset: tuple[float, float] = (0.0, 0.0), above: float = 20.0, geomgroup: "
              "numpy.typing.ArrayLike | None = None, ids: numpy.typing.ArrayLike | None = None) "
              "-> numpy.typing.NDArray[numpy.float32]"),
      "(num_envs, nx, ny) heights of the ground over the body's origin, m: negative below it,\n"
      "-inf where nothing is, NaN where the state is out of bounds.\n\n"
      "Sample (i, j) is (i - (nx - 1) / 2) step + offset[0] ahead and (j - (ny - 1) / 2) step +\n"
      "offset[1] to the left, in the heading of the body's x axis. The ground: geoms that neither\n"
      "joints nor mocap poses move, what a ray meets that comes down from `above` over the\n"
      "origin; planes have no end here, height fields are solid all the way down. Computed by the\n"
      "CPU. Raises ArgumentError on an unknown body, a grid without samples, a step that is not\n"
      "positive.");
  bind_depth(c);
}

void bind_rays(nb::class_<BoundReference>& c) {
  c.def("raycast", &reference_raycast, nb::arg("qpos"), nb::arg("origins"), nb::arg("directions"),
        nb::kw_only(), nb::arg("geomgroup") = nb::none(), nb::arg("static") = true,
        nb::arg("exclude_body") = -1, nb::arg("mocap_pos") = nb::none(),
        nb::arg("mocap_quat") = nb::none(),
        nb::sig("def raycast(self, qpos: numpy.typing.ArrayLike, origins: numpy.typing.ArrayLike, "
                "directions: numpy.typing.ArrayLike, *, geomgroup: numpy.typing.ArrayLike | None = "
                "None, static: bool = True, exclude_body: int | str = -1, mocap_pos: "
                "numpy.typing.ArrayLike | None = None, mocap_quat: numpy.typing.ArrayLike | None = "
                "None)" HITS("float64")),
        "(distance, geomid, normal), (nray,) and (nray, 3), of the first geom that each ray\n"
        "origin + x direction, x >= 0, meets at qpos; -1, -1 and zeros where it meets none.\n\n"
        "qpos: (nq,). origins, directions: (nray, 3) m, world axes; one of the two may have a\n"
        "single ray. mocap poses as in `forward`.\n\n" GEOMS
        "Raises ArgumentError on other\n"
        "shapes, numbers that are not finite, a direction without length.");
}

}  // namespace stiction::python
