// Where the origin O of a tree is: of which body it is the frame's origin.
#pragma once

#include "stiction/model.h"

namespace stiction::cpu {

// Of the tree of bodies root ... end - 1. float is exact to 1e-7 of the distance from O, squared in
// moments of inertia, so O must be near whatever turns about a near axis. From the root follow the one
// child below which anything turns; of several the one with more than half of their mass, if there is
// one. O moves on to a body on that way which may get far from its predecessor: by a slide joint without
// limits, or by 8 times the size of what it carries, over fixed offsets and slides between two bodies
// that turn. Else it stays with the root, as in robots whose links are alike.
//
// What is left behind about a far axis keeps its digits if it carries the rest, whose lever is as long;
// a lighter branch that is left behind loses them.
int tree_origin(const Model& m, int root, int end);

}  // namespace stiction::cpu
