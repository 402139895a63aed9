// Ground for robots on feet: square patches, `levels` along x of rising difficulty, `columns` along y of one kind each, in a
// flat border, as legged_gym lays it out (Rudin et al., "Learning to Walk in Minutes Using Massively Parallel Deep
// Reinforcement Learning", 2022).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stiction/model.h"

namespace stiction {

enum class PatchKind : std::uint8_t {
  flat,
  slope,            // a pyramid with a flat top
  stairs,           // the same in steps
  obstacles,        // rectangles of four heights
  stepping_stones,  // squares, one cell apart from each other
  rough,            // noise alone
  waves,
};

// A kind of ground. What has two numbers takes the first where it is easiest, at difficulty 0, and the second at 1; level l of
// n has the difficulty l / n.
struct TerrainPatch {
  PatchKind kind = PatchKind::flat;
  double share = 1;  // of the columns, relative to the others
  // Rise of the slope; height of a step, an obstacle or a wave's crest, depth between stones, m. Negative: the middle of a
  // slope or of stairs is the lowest part.
  std::array<double, 2> height{0, 0};
  std::array<double, 2> noise{0, 0};      // ± m, on a grid of 0.2 m
  std::array<double, 2> width{0.3, 0.3};  // of steps and stones, m
  double platform = 3;                    // side of the flat middle, m
};

struct TerrainOptions {
  int levels = 10, columns = 20;
  double patch = 8, border = 25, cell = 0.1;  // m
  double unit = 0.005;                        // m; elevations are whole multiples, towards 0
  std::vector<TerrainPatch> patches;          // empty: those of legged_gym
  std::uint64_t seed = 0;
};

// The mixtures of the two sources.
std::vector<TerrainPatch> legged_gym_patches();
std::vector<TerrainPatch> mjlab_patches();

struct Terrain {
  int levels = 0, columns = 0;
  double patch = 0;
  int nrow = 0, ncol = 0;         // nodes along y and x
  std::array<double, 2> size{};   // half sizes in x and y, m; the middle is the world's origin
  double lowest = 0, height = 0;  // of the elevations; from there to the highest, not 0; m
  Reals elevation;                // (nrow,ncol)  m
  Reals
      origins;  // (levels,columns,3)  where robots start: the middle of the patch, at its highest, m
  std::vector<PatchKind> kinds;  // (columns)

  // MuJoCo's binary format, for `file`, and the element of <asset>; its geom belongs at z = lowest.
  std::string hfield_file() const;
  std::string hfield_element(const std::string& name, const std::string& file) const;
};

// Throws ArgumentError on a number out of range, or where it would take more nodes than a model may have.
Terrain make_terrain(const TerrainOptions& options);

const char* name_of(PatchKind kind);

}  // namespace stiction
