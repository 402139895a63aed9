// Which body's origin the numbers of a tree are relative to.
#include "cpu/tree_origin.h"

#include <gtest/gtest.h>

#include <string>

#include "data.h"
#include "stiction/model.h"

namespace stiction::test {
namespace {

const std::string kGeom = "<geom size='.1' mass='1'/>";
const std::string kArm = "<body name='arm' pos='0 0 .1'><joint axis='0 1 0'/>" + kGeom +
                         "<body name='hand' pos='0 0 .3'><joint axis='1 0 0'/>" + kGeom +
                         "</body></body>";

std::string body(const std::string& name, const std::string& joint, const std::string& inside,
                 const std::string& pos = "0 0 0") {
  return "<body name='" + name + "' pos='" + pos + "'>" + joint + kGeom + inside + "</body>";
}
const std::string kSlide = "<joint type='slide' axis='1 0 0'/>";
std::string slide(double range) {
  return "<joint type='slide' axis='0 1 0' limited='true' range='0 " + std::to_string(range) +
         "'/>";
}

std::string origin_of(const std::string& bodies) {
  const ModelPtr m =
      load_model_from_string("<mujoco><worldbody>" + bodies + "</worldbody></mujoco>");
  return m->body_names[static_cast<std::size_t>(cpu::tree_origin(*m, 1, m->nbody))];
}

TEST(TreeOrigin, StaysWithTheRootOfOrdinaryRobots) {
  for (const char* name : {"anymal_c", "go1", "go2", "h1", "g1", "panda"}) {
    const ModelPtr m = load_model(test_robots() + "/" + name + ".xml");
    int root = 1;
    while (m->body_dofnum[static_cast<std::size_t>(root)] == 0) ++root;
    EXPECT_EQ(cpu::tree_origin(*m, root, m->nbody), root) << name;
  }
  EXPECT_EQ(origin_of(body("base", "<freejoint/>", kArm)), "base");
  EXPECT_EQ(origin_of(body("cart", kSlide, kArm)), "cart");
}

TEST(TreeOrigin, FollowsSlidesWithoutLimits) {
  EXPECT_EQ(origin_of(body("x", kSlide, body("y", kSlide, kArm))), "y");
  EXPECT_EQ(origin_of(body("x", kSlide, body("y", kSlide, body("z", slide(.5), kArm)))), "y");
  EXPECT_EQ(origin_of(body("base", "<freejoint/>", body("x", kSlide, kArm))), "x");
}

TEST(TreeOrigin, FollowsWhatIsLongAgainstWhatItCarries) {
  EXPECT_EQ(origin_of(body("x", kSlide, body("y", slide(100), kArm))), "y");
  EXPECT_EQ(origin_of(body("x", kSlide, body("y", slide(1), kArm))), "x");
  const std::string boom = "<joint axis='0 0 1'/>";
  EXPECT_EQ(origin_of(body("pivot", boom, body("cart", slide(1), kArm, "100 0 0"))), "cart");
  EXPECT_EQ(origin_of(body("pivot", boom, body("cart", slide(1), kArm, "1 0 0"))), "pivot");
  // three steps of 2 m between bodies that don't turn
  const std::string s = slide(2);
  EXPECT_EQ(origin_of(body("a", s, body("b", s, body("c", s, body("d", s, kArm))))), "d");
}

TEST(TreeOrigin, OfSeveralFollowsTheHeavier) {
  const std::string light =
      "<body name='bell' pos='0 0 -.1'><joint axis='1 0 0'/><geom size='.02' mass='.1'/></body>";
  EXPECT_EQ(origin_of(body("x", kSlide, light + body("y", kSlide, kArm))), "y");
  // twins: neither has more than half
  const std::string twin = "<body pos='1 0 0'>" + kSlide + kGeom + "<body><joint axis='0 1 0'/>" +
                           kGeom + "</body></body>";
  EXPECT_EQ(origin_of(body("x", kSlide, twin + twin)), "x");
}

// Nothing turns: any origin is exact.
TEST(TreeOrigin, StaysWhereNothingTurns) {
  EXPECT_EQ(origin_of(body("x", kSlide, body("y", kSlide, body("z", kSlide, "")))), "x");
}

}  // namespace
}  // namespace stiction::test
