// Actuators: force = gain . (1, length, velocity) ctrl + bias . (1, length, velocity).
#include "model/mjcf.h"

namespace stiction::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string robot(const std::string& actuators, const std::string& defaults = "",
                  const std::string& joint = "range='-1 3'") {
  return "<compiler angle='radian'/><default>" + defaults +
         "</default><worldbody><body><joint name='j' type='slide' " + joint +
         "/><geom size='1' mass='4'/></body></worldbody><tendon><fixed name='t'><joint joint='j' "
         "coef='2'/></fixed></tendon><actuator>" +
         actuators + "</actuator>";
}

TEST(MjcfActuators, Kinds) {
  const auto m = mjcf(robot(R"(<motor joint="j" gear="3"/><position joint="j" kp="5" kv="2"/>
    <velocity joint="j" kv="7"/><damper tendon="t" kv="2" ctrlrange="0 1"/>
    <general joint="j" gainprm="4" biastype="affine" biasprm="1 -4 -6"/>
    <general joint="j" biasprm="1 2 3"/>)"));
  EXPECT_THAT(m->actuator_gain, ElementsAre(1, 0, 0, 5, 0, 0, 7, 0, 0, 0, 0, -2, 4, 0, 0, 1, 0, 0));
  EXPECT_THAT(m->actuator_bias,
              ElementsAre(0, 0, 0, 0, -5, -2, 0, 0, -7, 0, 0, 0, 1, -4, -6, 0, 0, 0));
  EXPECT_EQ(m->actuator_gear[0], 3);
  EXPECT_EQ(m->actuator_trntype[3], Transmission::tendon);
  EXPECT_THAT(m->wrap_coef, ElementsAre(2));
  EXPECT_THAT(m->actuator_ctrllimited, ElementsAre(0, 0, 0, 1, 0, 0));
}

TEST(MjcfActuators, DefaultsOfAllKindsShareOneState) {
  const auto m = mjcf(robot(R"(<position joint="j" kp="5"/><motor joint="j"/><general joint="j"/>)",
                            R"(<position kp="50" kv="3"/><motor ctrlrange="-2 2"/>)"));
  // <motor> in the defaults resets gain and bias, and its ctrlrange reaches every kind
  EXPECT_THAT(m->actuator_gain, ElementsAre(5, 0, 0, 1, 0, 0, 1, 0, 0));
  EXPECT_THAT(m->actuator_bias, ElementsAre(0, -5, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(m->actuator_ctrlrange, ElementsAre(-2, 2, -2, 2, -2, 2));
}

TEST(MjcfActuators, GainOfAServoKeepsTheDampingOfItsDefault) {
  const auto m = mjcf(robot(R"(<position joint="j" kp="5"/>)", R"(<position kp="50" kv="3"/>)"));
  EXPECT_THAT(m->actuator_bias, ElementsAre(0, -5, -3));
}

TEST(MjcfActuators, InheritrangeScalesAboutTheMiddle) {
  const auto m = mjcf(robot("<position joint='j' inheritrange='0.5'/>"));
  EXPECT_THAT(m->actuator_ctrlrange, ElementsAre(0, 2));
  EXPECT_THAT(m->actuator_ctrllimited, ElementsAre(1));
  EXPECT_THAT(error_of(robot("<position joint='j' inheritrange='1'/>", "", "")),
              HasSubstr("has no range"));
}

TEST(MjcfActuators, DampratioFromTheInertiaSeenThroughTheGear) {
  const auto m = mjcf(robot("<position joint='j' kp='9' dampratio='0.5' gear='2'/>"));
  // m = 4 kg / gear²; kv = 2 ζ sqrt(kp m) = 3
  EXPECT_NEAR(m->actuator_bias[2], -3, kHand);
}

TEST(MjcfActuators, RangesSwitchTheirLimitsOn) {
  const auto m = mjcf(robot(R"(<motor joint="j" ctrlrange="0 1" forcerange="-2 2"/>
    <motor joint="j" ctrlrange="0 1" ctrllimited="false"/>)",
                            "", "actuatorfrcrange='-3 4'"));
  EXPECT_THAT(m->actuator_ctrllimited, ElementsAre(1, 0));
  EXPECT_THAT(m->actuator_forcelimited, ElementsAre(1, 0));
  EXPECT_THAT(m->jnt_actfrclimited, ElementsAre(1));
  EXPECT_THAT(m->jnt_actfrcrange, ElementsAre(-3, 4));
}

TEST(MjcfActuators, StatesAndTheirNumbers) {
  const auto m = mjcf(robot(R"(<muscle joint="j" lengthrange="0 1" force="3" tausmooth=".2"/>
    <motor joint="j"/><cylinder joint="j" diameter="2" timeconst=".5"/>
    <intvelocity joint="j" kp="4" inheritrange=".5"/>
    <general joint="j" dyntype="filter" dynprm=".3" actearly="true" actrange="-1 2"/>)"));
  EXPECT_EQ(m->na, 4);
  EXPECT_THAT(m->actuator_actadr, ElementsAre(0, -1, 1, 2, 3));
  EXPECT_THAT(m->actuator_dynprm,
              ElementsAre(0.01, 0.04, 0.2, 1, 0, 0, 0.5, 0, 0, 1, 0, 0, 0.3, 0, 0));
  EXPECT_THAT(m->actuator_actlimited, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(m->actuator_actrange[7], 2);
  EXPECT_THAT(m->actuator_actearly, ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(m->actuator_gainmuscle, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_EQ(m->actuator_muscle[2], 3);
  EXPECT_EQ(m->actuator_gain[0], 0);
}

TEST(MjcfActuators, OtherMachinesAreRefusedAllAtOnce) {
  const std::string e = error_of(robot(R"(<pid joint="j"/><general joint="j" dyntype="user"/>
    <general joint="j" dyntype="filter" actdim="2"/><dcmotor joint="j"/><motor joint="j" delay="0.1"/>)"));
  for (const char* part :
       {"5 refusals", "<pid>", "dyntype=\"user\"", "actdim=\"2\"", "<dcmotor>", "delay=\"0.1\""}) {
    EXPECT_THAT(e, HasSubstr(part));
  }
}

}  // namespace
}  // namespace stiction::test
