// A box as scalar text of one lane has it.
#pragma once

#include "physics/colliders.h"

STICTION_PHYSICS_BEGIN

// A placed box of one lane, by components that can be indexed.
struct LaneBox {
  Vec3<double> centre, axis[3];
  double half[3];

  // Half the extent along m.
  STICTION_FN double reach(const Vec3<double>& m) const {
    return half[0] * vabs(dot(axis[0], m)) + half[1] * vabs(dot(axis[1], m)) +
           half[2] * vabs(dot(axis[2], m));
  }
  // From the nearest point of the box to p.
  STICTION_FN Vec3<double> onto(const Vec3<double>& p) const {
    Vec3<double> away = zero3<double>();
    for (int k = 0; k < 3; ++k) {
      const double x = dot(axis[k], p - centre);
      away = away + (x - clamp(x, -half[k], half[k])) * axis[k];
    }
    return away;
  }
  STICTION_FN Vec3<double> vertex(int i) const {
    Vec3<double> p = centre;
    for (int k = 0; k < 3; ++k) p = p + (i >> k & 1 ? half[k] : -half[k]) * axis[k];
    return p;
  }
  // Middle of edge i of the four along axis k.
  STICTION_FN Vec3<double> edge(int k, int i) const {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    return centre + (i & 1 ? half[u] : -half[u]) * axis[u] + (i & 2 ? half[v] : -half[v]) * axis[v];
  }
};

STICTION_PHYSICS_END
