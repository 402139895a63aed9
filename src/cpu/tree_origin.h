// Chooses the origin O of a tree: the body whose frame's origin is O.
#pragma once

#include "stiction/model.h"

namespace stiction::cpu {

// For the tree of bodies root ... end - 1. float is exact to 1e-7 of the distance from O, squared in
// moments of inertia, so O must be near everything that rotates about a near axis. Starting at the root, follow the
// only child below which anything rotates; of several the one with more than half of their mass, if there is
// one. O moves on to a body on that path which may get far from its predecessor: by a slide joint without
// limits, or by 8 times the size of what the body carries, over fixed offsets and slides between two rotating
// bodies. Otherwise O stays at the root, as in robots with similar links.
//
// A part that is left behind, about a far axis, keeps its digits if it carries the rest, whose lever is as long;
// a lighter branch that is left behind loses them.
int tree_origin(const Model& m, int root, int end);

}  // namespace stiction::cpu
