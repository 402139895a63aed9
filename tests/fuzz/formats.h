// The formats that files come in. tests/fuzz has a fuzzer for each; formats_test.cpp damages their seeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stiction::test {

struct Format {
  const char* name;  // of its fuzzer
  // Reads a file of these bytes in all ways in which it can be read. What Error refuses is collected;
  // anything else that is thrown is a bug: std::logic_error is a model that breaks a promise of
  // model.h, or a message that names no file.
  std::vector<std::string> (*refusals)(const std::string& bytes);
  std::vector<std::string> seeds;  // small files that are read without a refusal
  std::vector<std::string> words;  // for the fuzzer's dictionary
};

// Of models: parsed and built. In formats_model.cpp.
const std::vector<Format>& model_formats();
// Saved state, under a right checksum. In formats_state.cpp; tests/batch/file_fuzz_test.cpp and
// tests/env/snapshot_test.cpp damage it where no fuzzer is.
const std::vector<Format>& state_formats();

// seeds.cpp
extern const char* const
    kMjcf;  // includes "part.xml", attaches it, has "shape.obj" and "ground.hf"
extern const char* const kMjcfRelations;
extern const char* const kMjcfPart;
extern const char* const kUrdf;  // has "shape.obj"
extern const char* const kObj;
extern const char* const kObjGroups;  // polygons, negative indices, groups, lines that are left out
extern const char* const kTextStl;
std::string binary_stl();
std::string msh(bool faces);
std::string binary_hfield();
// Of colour type 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA; depth 1 to 16 bits, no compression.
std::string png(int colour, int depth, bool gamma);
// The same with right checksums of its chunks, as far as they are whole.
std::string with_checksums(std::string png);

}  // namespace stiction::test
