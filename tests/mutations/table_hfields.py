"""Deliberate breaks of height fields."""

from breaks import Break

PAGE = "python/test_hfields.py::"
SURFACE, FEATURES, POINTS = "src/physics/hfield.h", "src/physics/hfield_features.h", "src/physics/hfield_points.h"

HFIELDS = [
    Break("hfield: rows as they are written", "src/model/hfields.cpp",
          "std::swap_ranges(", "if (false) std::swap_ranges(",
          pytests=(PAGE + "test_elevations_are_mujocos",)),
    Break("hfield: 16 bits of an image are 8", "src/model/hfield_files.cpp",
          "const bool wide = (image.state.format & PNG_FORMAT_FLAG_LINEAR) != 0;", "const bool wide = false;",
          pytests=(PAGE + "test_sixteen_bits_of_an_image_count",)),
    Break("hfield: an image is light", "src/model/hfield_files.cpp",
          "const std::string plain = without_colours(content);", "const std::string& plain = content;",
          pytests=(PAGE + "test_images_are_numbers",)),
    Break("hfield: the other diagonal", SURFACE,
          "return u >= v ? a", "return u < v ? a",
          gtests=("Hfield.ABallIsAsFarAsTheNearestTriangle",)),
    Break("hfield: ridges push anywhere", SURFACE,
          "return dot(n, way) <= 1e-6 * norm(way);", "return dot(n, way) <= norm(way);",
          gtests=("Hfield.AgreesWithTheReference",)),
    Break("hfield: a way out along a ridge", FEATURES,
          "bar.size.y = half + 2 * points.extent;", "bar.size.y = half;",
          gtests=("Hfield.DistanceIsContinuous",)),
    Break("hfield: what is beyond a ridge is below it", FEATURES,
          "(away < 0) != (core.z < h.height(core.x, core.y))", "false",
          gtests=("Hfield.ABallIsAsFarAsTheNearestTriangle",)),
    Break("hfield: any way out of the ground", FEATURES,
          "if (away < 0 && is_near_surface(h, core, -away / kLongWay)) return;", "",
          gtests=("Hfield.AStepIsNoWayUp",)),
    Break("hfield: the first face has the point", POINTS,
          "const bool nearer = vabs(away(p)) < vabs(away(slot[k]));", "const bool nearer = false;",
          gtests=("Hfield.AgreesWithTheReference",)),
    Break("hfield: points that find no slot are not said", POINTS,
          "points.overflow || (!chosen[i] && points.more[i].at.distance < 0);", "points.overflow;",
          gtests=("Hfield.MorePointsThanSlotsAreReported",)),
    Break("hfield: culled at its mean height", "src/physics/cull.h",
          "? m.hfield_top[m.geom_dataid[g]]", "? 0.0 * m.hfield_top[m.geom_dataid[g]]",
          pytests=(PAGE + "test_nothing_falls_through",)),
]
