// stiction.terrain: height fields for robots on feet.
#include "stiction/terrain.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

constexpr int kKinds = 7;

PatchKind parse_kind(const std::string& name) {
  std::string all;
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<PatchKind>(k);
    if (name == name_of(kind)) return kind;
    all += std::string(k > 0 ? ", " : "") + "'" + name_of(kind) + "'";
  }
  throw ArgumentError("kind = '" + name + "': must be one of " + all);
}

using Patches = std::variant<std::string, std::vector<TerrainPatch>>;

std::vector<TerrainPatch> parse_patches(const Patches& given) {
  if (const auto* list = std::get_if<std::vector<TerrainPatch>>(&given)) {
    if (list->empty()) throw ArgumentError("patches: must not be empty");
    return *list;
  }
  const auto& name = std::get<std::string>(given);
  if (name == "legged_gym") return legged_gym_patches();
  if (name == "mjlab") return mjlab_patches();
  throw ArgumentError("patches = '" + name + "': must be 'legged_gym', 'mjlab' or a list");
}

void bind_patch(nb::module_& m) {
  nb::class_<TerrainPatch> c(m, "TerrainPatch",
                             "A kind of ground. What has two numbers takes the first where it "
                             "is easiest and the second at "
                             "difficulty 1; level l of n has the difficulty l / n.");
  c.def(
      "__init__",
      [](TerrainPatch* self, const std::string& name, double share,
         const std::array<double, 2>& height, const std::array<double, 2>& noise,
         const std::array<double, 2>& width, double platform) {
        new (self) TerrainPatch{parse_kind(name), share, height, noise, width, platform};
      },
      nb::arg("kind"), nb::kw_only(), nb::arg("share") = 1.0,
      nb::arg("height") = std::array<double, 2>{0, 0},
      nb::arg("noise") = std::array<double, 2>{0, 0},
      nb::arg("width") = std::array<double, 2>{0.3, 0.3}, nb::arg("platform") = 3.0,
      "kind: 'flat', 'slope' (a pyramid), 'stairs', 'obstacles', 'stepping_stones', 'rough' (noise "
      "alone) "
      "or 'waves'.\n"
      "share: of the columns, relative to the others.\n"
      "height: rise of a slope; height of a step, an obstacle or a crest, depth between stones, m. "
      "Negative: the middle of a slope or of stairs is the lowest part.\n"
      "noise: ± m, on a grid of 0.2 m. width: of steps and stones, m. platform: side of the flat "
      "middle, m.");
  c.def_prop_ro("kind", [](const TerrainPatch& p) { return name_of(p.kind); });
  c.def_ro("share", &TerrainPatch::share).def_ro("platform", &TerrainPatch::platform);
  c.def_ro("height", &TerrainPatch::height).def_ro("noise", &TerrainPatch::noise);
  c.def_ro("width", &TerrainPatch::width);
}

void bind_ground(nb::module_& m) {
  nb::class_<Terrain> c(m, "Terrain",
                        "A height field of square patches, levels of rising difficulty along x, "
                        "columns of one kind along y.");
  c.def_ro("levels", &Terrain::levels).def_ro("columns", &Terrain::columns);
  c.def_ro("patch", &Terrain::patch, "side of a patch, m");
  c.def_ro("size", &Terrain::size, "half sizes in x and y, m; the middle is the world's origin");
  c.def_ro("lowest", &Terrain::lowest, "of the elevations, m: where the geom belongs");
  c.def_ro("height", &Terrain::height, "from the lowest to the highest, m; 1 where all is flat");
  c.def_prop_ro(
      "elevation",
      [](nb::handle self) {
        const auto& t = nb::cast<const Terrain&>(self);
        return matrix_view(t.elevation.data(), static_cast<std::size_t>(t.nrow),
                           static_cast<std::size_t>(t.ncol), self);
      },
      nb::sig("def elevation(self) -> numpy.ndarray"),
      "(nrow, ncol) m; rows along y, columns along x");
  c.def_prop_ro(
      "origins",
      [](nb::handle self) {
        const auto& t = nb::cast<const Terrain&>(self);
        const auto size = [](int n) { return static_cast<std::size_t>(n); };
        return nb::ndarray<const double, nb::numpy>(t.origins.data(),
                                                    {size(t.levels), size(t.columns), 3}, self);
      },
      nb::sig("def origins(self) -> numpy.ndarray"),
      "(levels, columns, 3) where robots start: the middle of the patch, at the highest of its 2 x "
      "2 m, m");
  c.def_prop_ro(
      "kinds",
      [](const Terrain& t) {
        std::vector<std::string> names;
        for (const PatchKind k : t.kinds) names.emplace_back(name_of(k));
        return names;
      },
      "(columns) kinds of patches");
  c.def(
      "hfield_file",
      [](const Terrain& t) {
        const std::string file = t.hfield_file();
        return nb::bytes(file.data(), file.size());
      },
      "The elevations in MuJoCo's binary format, for `assets`.");
  c.def("hfield_element", &Terrain::hfield_element, nb::arg("name") = "terrain",
        nb::arg("file") = "terrain.bin",
        "The <hfield> of <asset>. Its geom: type=\"hfield\" hfield=NAME pos=\"0 0 LOWEST\".");
}

}  // namespace

void bind_terrain(nb::module_& m) {
  bind_patch(m);
  bind_ground(m);
  m.def(
      "terrain",
      [](const Patches& patches, int levels, int columns, double patch, double border, double cell,
         double unit, std::uint64_t seed) {
        return make_terrain({.levels = levels,
                             .columns = columns,
                             .patch = patch,
                             .border = border,
                             .cell = cell,
                             .unit = unit,
                             .patches = parse_patches(patches),
                             .seed = seed});
      },
      nb::arg("patches") = "legged_gym", nb::kw_only(), nb::arg("levels") = 10,
      nb::arg("columns") = 20, nb::arg("patch") = 8.0, nb::arg("border") = 25.0,
      nb::arg("cell") = 0.1, nb::arg("unit") = 0.005, nb::arg("seed") = 0,
      "Ground for robots on feet, as legged_gym lays it out.\n\n"
      "patches: 'legged_gym', 'mjlab' or a list of TerrainPatch; columns are dealt out by their "
      "shares.\n"
      "levels, columns: how many patches along x and y. patch, border, cell: m; a patch and the "
      "border "
      "are whole numbers of cells.\n"
      "unit: elevations are whole multiples of it, m. seed: of obstacles and noise.\n"
      "Raises ArgumentError on a number out of range.");
}

}  // namespace stiction::python
