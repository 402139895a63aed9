"""Breaks of the readers of files, which damaged and hostile ones must notice."""

from breaks import Break

DAMAGED = "DamagedModelFile."

FORMATS = [
    Break("msh: the header is believed", "src/model/mesh/mesh_files.cpp",
          "if (static_cast<std::int64_t>(content.size()) != static_cast<std::int64_t>(kHeader) + 4 * numbers)",
          "if (false)",
          gtests=(DAMAGED + "CutOffAtEveryByte", "HostileFiles.TenMillionTrianglesThatAreNotThere")),
    Break("obj: lines of subdivision are read", "src/model/mesh/mesh_files.cpp",
          'if (key == "t" || key == "vw") continue;', "",
          gtests=("HostileFiles.WhatTinyobjWouldAllocate",)),
    Break("obj: polygons of any size", "src/model/mesh/mesh_files.cpp",
          "if (work > kMaxEarWork)", "if (false)",
          gtests=("HostileFiles.PolygonsThatTakeLong",)),
    Break("faces may name any vertex", "src/model/mesh/mesh_files.cpp",
          "if (i < 0 || i >= n)", "if (i > 1'000'000)",
          gtests=(DAMAGED + "AnyBytes",)),
    Break("stl: numbers of the user's country", "src/model/mesh/mesh_files.cpp",
          "  in.imbue(std::locale::classic());\n", "",
          gtests=("HostileInput.LocaleWithDecimalComma",)),
    Break("png: memory for what the header promises", "src/model/mesh/hfield_files.cpp",
          "if (pixels / kBits / kRatio > bytes)", "if (false)",
          gtests=("HostileFiles.ElevationsThatAreNotThere",)),
    Break("hfield: any number is an elevation", "src/model/mesh/hfield_files.cpp",
          "if (!std::isfinite(x)) refuse", "if (false) refuse",
          gtests=(DAMAGED + "AnyBytes",)),
    Break("bytes that are given have no limit", "src/model/load.cpp",
          "if (bytes > model::kMaxFileBytes)", "if (false)",
          gtests=("HostileFiles.TooManyTriangles",)),
]
