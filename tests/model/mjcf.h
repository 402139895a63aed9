// Models from short MJCF strings.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "math.h"
#include "stiction/error.h"
#include "stiction/model.h"
#include "stiction/report.h"

namespace stiction::test {

inline ModelPtr mjcf(const std::string& content, LoadReport* report = nullptr) {
  return load_model_from_string("<mujoco>" + content + "</mujoco>", report);
}
// One hinged body with the given content and a unit sphere for its mass.
inline ModelPtr hinged(const std::string& content, const std::string& before = "") {
  return mjcf(before + "<worldbody><body name='b'><joint name='j'/>" + content +
              "<geom size='1'/></body></worldbody>");
}
// The message of the ModelError that loading throws; "" if it doesn't.
inline std::string error_of(const std::string& content, bool strict = false) {
  try {
    load_model_from_string("<mujoco>" + content + "</mujoco>", nullptr, {strict});
  } catch (const ModelError& e) {
    return e.what();
  }
  return "";
}
inline const ReportEntry* entry(const LoadReport& r, const std::string& element,
                                const std::string& attribute) {
  for (const auto& e : r.entries) {
    if (e.element == element && e.attribute == attribute) return &e;
  }
  return nullptr;
}

// Expectations are written by hand to 12 digits; a few roundings away from exact.
inline constexpr double kHand = 1e-12;

inline void expect_near(const Reals& actual, std::size_t from, const Reals& expected) {
  ASSERT_GE(actual.size(), from + expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[from + i], expected[i], kHand) << "entry " << i;
  }
}
inline void expect_rotation(const Reals& quats, int i, const Quat& expected) {
  EXPECT_LT(row4(quats, i).angularDistance(expected), 1e-7)  // acos near 1 halves the digits
      << row4(quats, i).coeffs().transpose();
}

}  // namespace stiction::test
