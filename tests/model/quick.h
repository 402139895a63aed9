// Files that are refused soon.
#pragma once

#include <ctime>

#include "model/mjcf.h"
#include "stiction/load.h"

namespace stiction::test {

// Processor time, which a busy machine stretches by a few times through its memory. Whatever is linear takes
// 0.4 s at most; the inputs are so large that quadratic behaviour takes far longer than the bound.
template <class F>
void expect_quick(const F& load, const char* what, double seconds = 5) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
  constexpr double kSlower = 10;
#else
  constexpr double kSlower = 1;
#endif
  const std::clock_t start = std::clock();
  load();
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(took, seconds * kSlower) << what;
}

// Refused by an Error that says `mentioned`; any other exception fails the test.
inline void expect_quick_error(const std::string& xml, const char* mentioned,
                               const Assets& assets = {}, double seconds = 5) {
  const auto load = [&] {
    try {
      load_model_from_string(xml, assets);
      FAIL() << "loaded " << xml.substr(0, 80);
    } catch (const ModelError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(mentioned));
      EXPECT_THAT(e.what(), testing::HasSubstr("<string>"));
      EXPECT_LT(std::string_view(e.what()).size(), 2000u);
    }
  };
  expect_quick(load, mentioned, seconds);
}

inline std::string repeated(const std::string& s, int n) {
  std::string out;
  out.reserve(s.size() * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace stiction::test
