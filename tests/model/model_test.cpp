#include "stiction/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/error.h"

namespace stiction {
namespace {

Model named() {
  Model m;
  m.body_names = {"world", "torso", "", "left_foot", "right_foot"};
  m.jnt_names = {"hip", "knee"};
  m.geom_names = {"", "sole"};
  m.site_names = {"imu"};
  m.actuator_names = {"motor"};
  return m;
}

TEST(ModelNames, AreIndices) {
  const Model m = named();
  EXPECT_EQ(m.body("world"), 0);
  EXPECT_EQ(m.body("right_foot"), 4);
  EXPECT_EQ(m.joint("knee"), 1);
  EXPECT_EQ(m.geom("sole"), 1);
  EXPECT_EQ(m.site("imu"), 0);
  EXPECT_EQ(m.actuator("motor"), 0);
}

template <typename Lookup>
std::string message(const Lookup& lookup) {
  try {
    lookup();
  } catch (const ArgumentError& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(ModelNames, UnknownOnesAreAnsweredWithTheNearest) {
  const Model m = named();
  EXPECT_EQ(message([&] { m.body("rigth_foot"); }),
            "no body named 'rigth_foot'; nearest: 'right_foot', 'left_foot', 'torso'");
  EXPECT_EQ(message([&] { m.joint("Knee"); }), "no joint named 'Knee'; nearest: 'knee', 'hip'");
  EXPECT_EQ(message([&] { m.key("home"); }), "no key named 'home'; the model names none");
}

TEST(ModelNames, UnnamedThingsAreNotFound) {
  const Model m = named();
  EXPECT_THROW(m.body(""), ArgumentError);
  EXPECT_THROW(m.geom(""), ArgumentError);
}

}  // namespace
}  // namespace stiction
