// What a walking robot stands on: a plane, or patches of terrain that get harder as the robot does better.
#pragma once

#include "envs/locomotion.h"
#include "physics/rays/height_scan.h"

namespace stiction::envs {

// The plane z = 0.
struct FlatGround {
  static constexpr int num_heights = 0, num_terms = 0, num_memory = 0, num_kept = 0;

  template <class S>
  STICTION_FN Vec3<double> begin(const ModelView&, TaskEnv<S>&, S*) const {
    return {0, 0, 0};
  }
  STICTION_FN double height(const ModelView&, double, double) const { return 0; }
};

// stiction::Terrain as the model's first height field, its middle at the world's origin. A robot that walked farther than half
// a patch goes up a level, one that stayed behind half of what was asked down; who masters the last draws any.
struct PatchedGround {
  static constexpr int num_heights = 187, num_terms = 1;
  // Places in its memory, of which the last three live on: distance from the origin and planar command at the end of the
  // episode, the level + 1.
  static constexpr int kOrigin = 0, kWalked = 2, kAsked = 3, kLevel = 4, num_memory = 5,
                       num_kept = 3;

  int levels, columns, start_levels;  // robots begin on one of the first
  double patch, lowest;               // of the field; z of its geom
  double seconds;                     // of an episode
  int level, column;                  // where all robots are; -1: by merit, and drawn
  HeightScan scan;

  template <class S>
  STICTION_FN Vec3<double> begin(const ModelView& m, TaskEnv<S>& env, S* memory) const {
    Draw own(env.seed, 0, Purpose::ground), draw(env.seed, env.episode, Purpose::ground);
    const double kind = own.uniform(), first = own.uniform(), later = draw.uniform();
    const int c = column >= 0 ? column : any_of(columns, kind);
    int l = level;
    if (l < 0 && memory[kLevel] == S(0)) {
      l = any_of(start_levels, first);
    } else if (l < 0) {
      const double asked = static_cast<double>(memory[kAsked]) * seconds;
      const double walked = static_cast<double>(memory[kWalked]);
      l = static_cast<int>(memory[kLevel]) - 1;
      if (walked > 0.5 * patch)
        ++l;
      else if (walked < 0.5 * asked && l > 0)
        --l;
      if (l >= levels) l = any_of(levels, later);
    }
    memory[kLevel] = S(l + 1), memory[kWalked] = memory[kAsked] = S(0);
    const double x = (l + 0.5 - 0.5 * levels) * patch, y = (c + 0.5 - 0.5 * columns) * patch;
    memory[kOrigin] = S(x), memory[kOrigin + 1] = S(y);
    return {x, y, highest(m, x, y)};
  }
  STICTION_FN double height(const ModelView& m, double x, double y) const {
    return lowest + physics::hfield_of({&m, 0}).height(x, y);
  }

 private:
  STICTION_FN static int any_of(int n, double uniform) { return static_cast<int>(uniform * n); }
  // Over the middle of a patch, as far as robots are set down.
  STICTION_FN double highest(const ModelView& m, double x, double y) const {
    constexpr double kSpawn = 1;
    const physics::Hfield h = physics::hfield_of({&m, 0});
    double most = h.height(x, y);
    for (int j = h.row(y - kSpawn); j <= h.row(y + kSpawn) + 1; ++j)
      for (int i = h.column(x - kSpawn); i <= h.column(x + kSpawn) + 1; ++i) {
        const Vec3<double> p = h.node(i, j);
        const bool near = physics::vmax(std::fabs(p.x - x), std::fabs(p.y - y)) < kSpawn + 1e-6;
        if (near) most = physics::vmax(most, p.z);
      }
    return lowest + most;
  }
};

}  // namespace stiction::envs
