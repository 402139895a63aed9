// A fuzzer of one format (libFuzzer), named by STICTION_FORMAT. With --seeds=FOLDER --dictionary=FILE it writes
// these and ends.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/formats.h"

namespace stiction::test {
namespace {

const Format& own_format() {
  for (const Format& f : STICTION_FORMATS())
    if (std::string_view(f.name) == STICTION_FORMAT) return f;
  std::fprintf(stderr, "no format %s\n", STICTION_FORMAT);
  std::abort();
}

void write(const std::string& path, const std::string& bytes) {
  if (!std::ofstream(path, std::ios::binary)
           .write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    std::fprintf(stderr, "can't write %s\n", path.c_str());
    std::exit(1);
  }
}

void write_dictionary(const Format& format, const std::string& path) {
  std::string text;
  for (const std::string& word : format.words) {
    text += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\"\n";
  }
  write(path, text);
}

}  // namespace
}  // namespace stiction::test

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace stiction::test;
  bool wrote = false;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    constexpr std::string_view kSeeds = "--seeds=", kDictionary = "--dictionary=";
    if (argument.starts_with(kSeeds)) {
      const std::string folder(argument.substr(kSeeds.size()));
      int n = 0;
      for (const std::string& seed : own_format().seeds)
        write(folder + "/seed-" + std::to_string(n++), seed);
      wrote = true;
    } else if (argument.starts_with(kDictionary)) {
      write_dictionary(own_format(), std::string(argument.substr(kDictionary.size())));
      wrote = true;
    }
  }
  if (wrote) std::exit(0);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction::test;
  static const Format& format = own_format();
  format.refusals({reinterpret_cast<const char*>(data), size});
  return 0;
}
