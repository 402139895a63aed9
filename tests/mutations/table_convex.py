"""Deliberate breaks of cylinders, ellipsoids and the searches behind them."""

from breaks import Break

CONVEX = [
    Break("cylinders are collided by the kernel of boxes", "src/physics/views.h",
          "searched(type1) || searched(type2)", "searched(type1) && searched(type2)",
          gtests=("Colliders.SearchesAgreeWithTheReference",)),
    Break("search: no look beside the found facet", "src/physics/convex_depth.h",
          "if (edged(pair.a) && edged(pair.b))", "if (false)",
          gtests=("Colliders.SearchesAgreeWithTheReference",)),
    Break("search: cores that touch stay where they are", "src/physics/convex_distance.h",
          "if (d.distance >= -kDeep * pair.extent)", "if (false)",
          gtests=("Colliders.SearchesAgreeWithTheReference",)),
    Break("search: the radius of a capsule left out", "src/physics/convex_distance.h",
          "d.distance - a.radius() - b.radius()", "d.distance - b.radius()",
          gtests=("Colliders.SearchesAgreeWithTheReference",)),
    Break("polytope: the last of the triangles that tie", "src/reference/geometry_distance.cpp",
          "if (beside >= least_beside) continue;", "",
          gtests=("ConvexPair.LeastDistanceIsTheSignedDistance",)),
    Break("polytope: shapes that all but touch do not grow", "src/reference/geometry_distance.cpp",
          "abs(found.distance) < kNear * extent || !resolved", "false",
          gtests=("Colliders.SearchesAgreeWithTheReference",)),
    Break("cylinder on a face: the rim beyond the face is as near", "src/reference/geometry_convex.cpp",
          "std::max(other.height(p), pair.least()) + other.away(p)",
          "std::max(other.height(p), pair.least())",
          gtests=("ConvexPoints.OverAnEdgeItStandsOnWhereTheRimCrossesTheEdge",)),
]
