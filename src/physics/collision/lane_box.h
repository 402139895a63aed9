// A box as seen by scalar code that runs in one lane.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// A placed box of one lane, with components that can be indexed.
struct LaneBox {
  Vec3<double> centre, axis[3];
  double half[3];

  // Returns the middle of edge i of the four edges along axis k.
  STICTION_FN Vec3<double> edge(int k, int i) const {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    return centre + (i & 1 ? half[u] : -half[u]) * axis[u] + (i & 2 ? half[v] : -half[v]) * axis[v];
  }
};

STICTION_PHYSICS_END
