// Files that are cut off, damaged at random or promise more than they hold: read, or refused by an Error that
// names them; never another exception, never without end. The fuzzers of this folder look further.
#include "fuzz/formats.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

namespace stiction::test {
namespace {

class DamagedModelFile : public testing::TestWithParam<std::size_t> {
 protected:
  const Format& format() const { return model_formats()[GetParam()]; }

  // Whether all that can be made of the file was.
  bool reads(const std::string& bytes, const std::string& what) const {
    const std::clock_t start = std::clock();
    bool read = false;
    EXPECT_NO_THROW(read = format().refusals(bytes).empty()) << what;
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(took, 10) << what;  // s; some 1e-3 for these small files
    return read;
  }
};

TEST_P(DamagedModelFile, TheSeedsAreRead) {
  for (std::size_t i = 0; i < format().seeds.size(); ++i)
    EXPECT_EQ(format().refusals(format().seeds[i]), std::vector<std::string>()) << "seed " << i;
}

TEST_P(DamagedModelFile, CutOffAtEveryByte) {
  for (const std::string& seed : format().seeds)
    for (std::size_t n = 0; n < seed.size(); ++n)
      reads(seed.substr(0, n), "the first " + std::to_string(n) + " bytes");
}

// Bytes that are dear to those who count, parts of the file elsewhere, words of the format.
TEST_P(DamagedModelFile, AnyBytes) {
  std::mt19937 rng(5);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng);
  };
  int read = 0, refused = 0;
  for (const std::string& seed : format().seeds) {
    for (int k = 0; k < 400; ++k) {
      std::string bytes = seed;
      for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
        const std::size_t at = below(bytes.size()),
                          length = std::min(bytes.size() - at, std::size_t{1} << below(5));
        switch (below(6)) {
          case 0: bytes.replace(at, length, length, '\xff'); break;
          case 1: bytes.replace(at, length, length, '\0'); break;
          case 2: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
          case 3: bytes[at] = static_cast<char>(below(256)); break;
          case 4: bytes.insert(below(bytes.size()), bytes.substr(at, length)); break;
          default:
            if (!format().words.empty())
              bytes.replace(at, length, format().words[below(format().words.size())]);
        }
      }
      ++(reads(bytes, "damage " + std::to_string(k)) ? read : refused);
    }
  }
  EXPECT_GT(read, 5) << refused;
  EXPECT_GT(refused, 5) << read;
}

INSTANTIATE_TEST_SUITE_P(All, DamagedModelFile,
                         testing::Range(std::size_t{0}, model_formats().size()),
                         [](const auto& given) {
                           return std::string(model_formats()[given.param].name);
                         });

}  // namespace
}  // namespace stiction::test
