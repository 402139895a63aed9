// Terrain for legged robots: square patches, `levels` of rising difficulty along x, `columns` of one kind each along y,
// within a flat border, as in legged_gym (Rudin et al., "Learning to Walk in Minutes Using Massively Parallel Deep
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
  stairs,           // a pyramid with steps
  obstacles,        // rectangles of four heights
  stepping_stones,  // squares, separated by one cell
  rough,            // noise only
  waves,
};

// A kind of terrain. Of a pair of numbers the first applies where it is easiest, at difficulty 0, the second at
// difficulty 1; level l of n has the difficulty l / n.
struct TerrainPatch {
  PatchKind kind = PatchKind::flat;
  double share = 1;  // fraction of the columns, relative to the other kinds
  // Height gain of a slope; height of a step, an obstacle or a wave's crest, depth between stones, m. Negative: the
  // centre of a slope or of stairs is the lowest part.
  std::array<double, 2> height{0, 0};
  std::array<double, 2> noise{0, 0};      // ± m, on a grid of 0.2 m
  std::array<double, 2> width{0.3, 0.3};  // of steps and stones, m
  double platform = 3;                    // side of the flat centre, m
};

struct TerrainOptions {
  int levels = 10, columns = 20;
  double patch = 8, border = 25, cell = 0.1;  // m
  double unit = 0.005;                        // m; elevations are integer multiples, truncated
  std::vector<TerrainPatch> patches;          // empty: those of legged_gym
  std::uint64_t seed = 0;
};

// The mixtures of these two sources.
std::vector<TerrainPatch> legged_gym_patches();
std::vector<TerrainPatch> mjlab_patches();

struct Terrain {
  int levels = 0, columns = 0;
  double patch = 0;
  int nrow = 0, ncol = 0;         // nodes along y and x
  std::array<double, 2> size{};   // half sizes in x and y, m; the centre is the world's origin
  double lowest = 0, height = 0;  // the lowest elevation; the difference to the highest, never 0; m
  Reals elevation;                // (nrow,ncol)  m
  Reals
      origins;  // (levels,columns,3)  start positions of robots: the centre of the patch, at its highest elevation, m
  std::vector<PatchKind> kinds;  // (columns)

  // MuJoCo's binary format, for `file`, and the element for <asset>; place its geom at z = lowest.
  std::string hfield_file() const;
  std::string hfield_element(const std::string& name, const std::string& file) const;
};

// Throws ArgumentError on a number out of range, or if the terrain would need more nodes than a model may have.
Terrain make_terrain(const TerrainOptions& options);

const char* name_of(PatchKind kind);

}  // namespace stiction
