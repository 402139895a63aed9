#include "stiction/terrain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

#include "envs/philox.h"
#include "index.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using envs::Draw;
using envs::Purpose;

constexpr double kNoiseGrid = 0.2;  // m
constexpr double kSpawn = 1;  // m, half side of the central square whose top is the start height
constexpr double kMostNodes = 1e8;

// One patch of n x n cells; its nodes (i, j) have 0 <= i, j < n, those at n belong to the next patch.
class Patch {
 public:
  Patch(const TerrainOptions& o, const TerrainPatch& p, int level, int column)
      : o_(o),
        p_(p),
        n_(static_cast<int>(std::lround(o.patch / o.cell))),
        difficulty_(static_cast<double>(level) / o.levels),
        draw_(o.seed, static_cast<std::uint32_t>(column), Purpose::param,
              static_cast<std::uint32_t>(level)),
        height_(share(p.height)),
        noise_(share(p.noise)),
        width_(share(p.width)) {
    if (p.kind == PatchKind::obstacles) place_obstacles();
    if (noise_ > 0) draw_noise();
  }

  double elevation(int i, int j) const {
    const double x = form(i, j) + (noise_ > 0 ? noise(i, j) : 0.0);
    return o_.unit * std::trunc(x / o_.unit + std::copysign(1e-9, x));
  }

 private:
  double share(const std::array<double, 2>& range) const {
    return range[0] + difficulty_ * (range[1] - range[0]);
  }
  double form(int i, int j) const {
    const int edge = std::min({i, j, n_ - i, n_ - j});  // cells to the nearest side
    const bool middle =
        std::max(std::abs(2 * i - n_), std::abs(2 * j - n_)) * o_.cell <= p_.platform;
    switch (p_.kind) {
      case PatchKind::slope: {
        const auto rise = [&](int a, int b) {
          const double u = 1 - std::abs(2.0 * a / n_ - 1), v = 1 - std::abs(2.0 * b / n_ - 1);
          return 0.5 * o_.patch * u * v;
        };
        const int corner = static_cast<int>(std::lround(0.5 * (o_.patch - p_.platform) / o_.cell));
        return height_ * std::min(rise(i, j), rise(corner, corner));
      }
      case PatchKind::stairs: {
        const int tread = std::max(1, static_cast<int>(width_ / o_.cell + 1e-9));
        const double room = n_ - p_.platform / o_.cell;
        const int most = static_cast<int>(std::ceil(room / (2 * tread) - 1e-9));
        return std::min(edge / tread, most) * height_;
      }
      case PatchKind::obstacles: return middle ? 0.0 : obstacles_[at(j * n_ + i)];
      case PatchKind::stepping_stones: {
        const int stone = std::max(1, static_cast<int>(width_ / o_.cell + 1e-9)), pitch = stone + 1;
        return middle || (i % pitch < stone && j % pitch < stone) ? 0.0 : -height_;
      }
      case PatchKind::waves: {
        const double turn = 2 * envs::kPi * 4 / n_;  // four waves
        return 0.5 * height_ * (physics::sincos(turn * j).cos + physics::sincos(turn * i).sin);
      }
      default: return 0;
    }
  }

  // Places twenty blocks, later ones over earlier ones, with sides of 1, 1.4 or 1.8 m and of height h, h/2, -h/2 or -h.
  void place_obstacles() {
    obstacles_.assign(at(n_ * n_), 0.0);
    const int grid = std::max(1, static_cast<int>(std::lround(0.4 / o_.cell)));
    for (int k = 0; k < 20; ++k) {
      const auto side = [&] {
        return std::min(n_, static_cast<int>(std::lround((1 + 0.4 * choice(3)) / o_.cell)));
      };
      const int a = side(), b = side();
      const int i0 = grid * choice((n_ - a) / grid + 1), j0 = grid * choice((n_ - b) / grid + 1);
      constexpr double kHeights[] = {-1, -0.5, 0.5, 1};
      const double h = kHeights[choice(4)] * height_;
      for (int j = j0; j < std::min(j0 + b, n_); ++j)
        for (int i = i0; i < std::min(i0 + a, n_); ++i) obstacles_[at(j * n_ + i)] = h;
    }
  }

  void draw_noise() {
    coarse_ = static_cast<int>(std::ceil(o_.patch / kNoiseGrid)) + 1;
    for (int k = 0; k < coarse_ * coarse_; ++k) values_.push_back(draw_.uniform(-noise_, noise_));
  }
  double noise(int i, int j) const {
    const double x = i * o_.cell / kNoiseGrid, y = j * o_.cell / kNoiseGrid;
    const int a = std::min(static_cast<int>(x), coarse_ - 2),
              b = std::min(static_cast<int>(y), coarse_ - 2);
    const auto value = [&](int di, int dj) { return values_[at((b + dj) * coarse_ + a + di)]; };
    const double u = x - a, v = y - b;
    return (1 - v) * ((1 - u) * value(0, 0) + u * value(1, 0)) +
           v * ((1 - u) * value(0, 1) + u * value(1, 1));
  }

  int choice(int n) { return static_cast<int>(draw_.uniform() * n); }

  const TerrainOptions& o_;
  const TerrainPatch& p_;
  int n_;
  double difficulty_;
  Draw draw_;
  double height_, noise_, width_;
  std::vector<double> obstacles_, values_;
  int coarse_ = 0;
};

void check(bool good, const char* name, double value, const char* must) {
  if (good) return;
  std::ostringstream s;
  s << "terrain: " << name << " = " << value << ": must be " << must;
  throw ArgumentError(s.str());
}
bool whole(double a, double b) {
  return std::abs(a / b - std::round(a / b)) < 1e-6;
}

void check(const TerrainOptions& o, const std::vector<TerrainPatch>& patches) {
  constexpr double kFar = 1e4;  // m
  const auto length = [&](const char* name, double x, double least) {
    check(x >= least && x <= kFar, name, x, least > 0 ? "in (0, 10000] m" : "in [0, 10000] m");
  };
  check(o.levels >= 1, "levels", o.levels, ">= 1"),
      check(o.columns >= 1, "columns", o.columns, ">= 1");
  length("cell", o.cell, 1e-3), length("patch", o.patch, 1e-3), length("border", o.border, 0);
  length("unit", o.unit, 1e-9);
  check(whole(o.patch, o.cell) && o.patch >= 2 * o.cell, "patch", o.patch,
        "two cells or more, a whole number");
  check(whole(o.border, o.cell), "border", o.border, "a whole number of cells");
  double shares = 0;
  for (const TerrainPatch& p : patches) {
    check(p.share >= 0 && p.share <= 1e6, "share", p.share, "in [0, 1e6]");
    shares += p.share;
    for (const auto* range : {&p.height, &p.noise, &p.width})
      for (const double x : *range)
        check(std::abs(x) <= 100, "height, noise or width", x, "at most 100 m");
    for (const double x : p.noise) check(x >= 0, "noise", x, ">= 0");
    for (const double x : p.width) check(x >= 0, "width", x, ">= 0");
    check(p.platform >= 0 && p.platform <= o.patch, "platform", p.platform, "in [0, patch]");
  }
  check(shares > 0, "the sum of the shares", shares, "> 0");
  const double nodes = ((o.levels * o.patch + 2 * o.border) / o.cell + 1) *
                       ((o.columns * o.patch + 2 * o.border) / o.cell + 1);
  check(nodes <= kMostNodes, "its number of nodes", nodes, "at most 1e8: take larger cells");
}

// Assigns patches to columns in proportion to their shares, in order, as legged_gym does.
const TerrainPatch& patch_of(const std::vector<TerrainPatch>& patches, int column, int columns) {
  double all = 0, until = 0;
  for (const TerrainPatch& p : patches) all += p.share;
  const double selector = (static_cast<double>(column) / columns + 0.001) * all;
  for (const TerrainPatch& p : patches)
    if (selector < (until += p.share)) return p;
  return patches.back();
}

}  // namespace

std::vector<TerrainPatch> legged_gym_patches() {
  using K = PatchKind;
  return {{.kind = K::slope, .share = 0.05, .height = {0, -0.4}},
          {.kind = K::slope, .share = 0.05, .height = {0, 0.4}},
          {.kind = K::slope, .share = 0.1, .height = {0, 0.4}, .noise = {0.05, 0.05}},
          {.kind = K::stairs, .share = 0.35, .height = {-0.05, -0.23}, .width = {0.31, 0.31}},
          {.kind = K::stairs, .share = 0.25, .height = {0.05, 0.23}, .width = {0.31, 0.31}},
          {.kind = K::obstacles, .share = 0.2, .height = {0.05, 0.25}}};
}

std::vector<TerrainPatch> mjlab_patches() {
  using K = PatchKind;
  return {{.kind = K::flat, .share = 0.2},
          {.kind = K::stairs, .share = 0.2, .height = {0, 0.1}},
          {.kind = K::stairs, .share = 0.2, .height = {0, -0.1}},
          {.kind = K::slope, .share = 0.1, .height = {0, 1}},
          {.kind = K::slope, .share = 0.1, .height = {0, -1}},
          {.kind = K::rough, .share = 0.1, .noise = {0.04, 0.04}},
          {.kind = K::waves, .share = 0.1, .height = {0, 0.2}}};
}

Terrain make_terrain(const TerrainOptions& o) {
  const std::vector<TerrainPatch> patches = o.patches.empty() ? legged_gym_patches() : o.patches;
  check(o, patches);
  const auto cells = [&](double length) { return static_cast<int>(std::lround(length / o.cell)); };
  const int n = cells(o.patch), border = cells(o.border);
  Terrain t;
  t.levels = o.levels, t.columns = o.columns, t.patch = o.patch;
  t.ncol = o.levels * n + 2 * border + 1, t.nrow = o.columns * n + 2 * border + 1;
  t.size = {0.5 * (t.ncol - 1) * o.cell, 0.5 * (t.nrow - 1) * o.cell};
  t.elevation.assign(at(t.nrow) * at(t.ncol), 0.0);
  t.origins.resize(at(o.levels * o.columns * 3));
  const int spawn = std::min(cells(kSpawn), n / 2);
  for (int c = 0; c < o.columns; ++c) {
    const TerrainPatch& kind = patch_of(patches, c, o.columns);
    t.kinds.push_back(kind.kind);
    for (int l = 0; l < o.levels; ++l) {
      const Patch patch(o, kind, l, c);
      double highest = -std::numeric_limits<double>::infinity();
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          const double z = patch.elevation(i, j);
          t.elevation[at(border + c * n + j) * at(t.ncol) + at(border + l * n + i)] = z;
          if (std::abs(2 * i - n) <= 2 * spawn && std::abs(2 * j - n) <= 2 * spawn)
            highest = std::max(highest, z);
        }
      }
      double* origin = t.origins.data() + 3 * at(l * o.columns + c);
      origin[0] = (l + 0.5 - 0.5 * o.levels) * o.patch;
      origin[1] = (c + 0.5 - 0.5 * o.columns) * o.patch;
      origin[2] = highest;
    }
  }
  const auto [low, high] = std::minmax_element(t.elevation.begin(), t.elevation.end());
  t.lowest = *low, t.height = *high > *low ? *high - *low : 1.0;
  return t;
}

std::string Terrain::hfield_file() const {
  const std::array<std::int32_t, 2> shape{nrow, ncol};
  std::string file(sizeof shape + sizeof(float) * elevation.size(), '\0');
  std::memcpy(file.data(), shape.data(), sizeof shape);
  std::size_t place = sizeof shape;
  for (const double z : elevation) {
    const auto x = static_cast<float>((z - lowest) / height);
    std::memcpy(file.data() + place, &x, sizeof x);
    place += sizeof x;
  }
  return file;
}

std::string Terrain::hfield_element(const std::string& name, const std::string& file) const {
  std::ostringstream s;
  s << std::setprecision(12) << "<hfield name=\"" << name << "\" file=\"" << file << "\" size=\""
    << size[0] << ' ' << size[1] << ' ' << height << " 1\"/>";
  return s.str();
}

const char* name_of(PatchKind kind) {
  constexpr const char* kNames[] = {"flat",  "slope", "stairs", "obstacles", "stepping_stones",
                                    "rough", "waves"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace stiction
