// Bodies, frames, defaults, orientations, joints, geoms: MJCF's meaning by hand.
#include <numbers>

#include "model/mjcf.h"

namespace stiction::test {
namespace {

using std::numbers::pi;
using testing::ElementsAre;
using testing::HasSubstr;

Quat about(const Vec3& axis, double degrees) {
  return Quat(Eigen::AngleAxisd(degrees * pi / 180, axis.normalized()));
}

TEST(MjcfTree, OrderIsDepthFirst) {
  const auto m = mjcf(R"(<worldbody>
    <body name="a"><geom name="a1" size="1"/><body name="b"><geom name="b1" size="1"/></body>
      <frame><body name="c"/></frame><geom name="a2" size="1"/><site name="s"/></body>
    <body name="d"/><geom name="w" size="1"/></worldbody>)");
  EXPECT_THAT(m->body_names, ElementsAre("world", "a", "b", "c", "d"));
  EXPECT_THAT(m->body_parentid, ElementsAre(0, 0, 1, 1, 0));
  EXPECT_THAT(m->geom_names, ElementsAre("w", "a1", "a2", "b1"));
  EXPECT_THAT(m->geom_bodyid, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(m->site_bodyid, ElementsAre(1));
}

TEST(MjcfTree, FiveWaysToWriteARotation) {
  const auto m = mjcf(R"(<worldbody>
    <site quat="2 0 0 2"/> <site axisangle="0 0 3 90"/> <site euler="0 0 90"/>
    <site xyaxes="0 2 0 -1 1 0"/> <site zaxis="1 0 0"/> <site euler="90 90 0"/></worldbody>)");
  for (int i = 0; i < 4; ++i) expect_rotation(m->site_quat, i, about({0, 0, 1}, 90));
  expect_rotation(m->site_quat, 4, about({0, 1, 0}, 90));
  expect_rotation(m->site_quat, 5, about({1, 0, 0}, 90) * about({0, 1, 0}, 90));
}

TEST(MjcfTree, EulerSequenceSmallLettersTurnWithTheBody) {
  const std::string sites = "<worldbody><site euler='0.1 0.2 0.3'/></worldbody>";
  const Quat x = exp_quat({0.1, 0, 0}), y = exp_quat({0, 0.2, 0}), z = exp_quat({0, 0, 0.3});
  const auto turned = [&](const char* seq) {
    return mjcf("<compiler angle='radian' eulerseq='" + std::string(seq) + "'/>" + sites);
  };
  expect_rotation(turned("xyz")->site_quat, 0, x * y * z);
  expect_rotation(turned("XYZ")->site_quat, 0, z * y * x);
  // angles follow the letters: 0.1 about z, 0.2 about y, 0.3 about x
  expect_rotation(turned("zyx")->site_quat, 0, exp_quat({0, 0, 0.1}) * y * exp_quat({0.3, 0, 0}));
}

TEST(MjcfTree, FramesMoveTheirContent) {
  const auto m = mjcf(R"(<worldbody><body name="b">
    <frame pos="1 0 0" euler="0 0 90"><joint axis="1 0 0" pos="0 1 0"/>
      <frame pos="0 0 5"><geom size="1" pos="1 0 0"/></frame>
      <body name="c" pos="2 0 0"/></frame></body></worldbody>)");
  expect_near(m->jnt_axis, 0, {0, 1, 0});
  expect_near(m->jnt_pos, 0, {0, 0, 0});
  expect_near(m->geom_pos, 0, {1, 1, 5});
  expect_near(m->body_pos, 6, {1, 2, 0});
  expect_rotation(m->body_quat, 2, about({0, 0, 1}, 90));
  expect_near(m->body_pos, 3, {0, 0, 0});
}

TEST(MjcfTree, FromtoGivesCentreAxisAndHalfLength) {
  const auto m = mjcf(R"(<worldbody>
    <geom type="capsule" size="0.1" fromto="0 0 0 2 0 0"/>
    <geom type="box" size="0.1 7" fromto="0 0 1 0 0 4"/></worldbody>)");
  expect_near(m->geom_pos, 0, {1, 0, 0, 0, 0, 2.5});
  expect_near(m->geom_size, 0, {0.1, 1});
  expect_near(m->geom_size, 3, {0.1, 0.1, 1.5});
  const Vec3 axis = row4(m->geom_quat, 0) * Vec3::UnitZ();
  EXPECT_NEAR(std::abs(axis.x()), 1, kHand);
}

TEST(MjcfDefaults, ClassesInheritAndChildclassReachesDown) {
  const auto m = mjcf(R"(<default><joint damping="1"/><geom size="1"/>
      <default class="c"><joint armature="2" damping="3"/>
        <default class="d"><joint frictionloss="4" armature="5"/></default></default></default>
    <worldbody><body childclass="c"><joint/><geom/>
      <body><joint class="d"/><geom/><frame childclass="d"><body><joint/><geom/></body></frame>
        <body><joint class="main"/><geom/></body></body></body></worldbody>)");
  EXPECT_THAT(m->dof_damping, ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(m->dof_armature, ElementsAre(2, 5, 5, 0));
  EXPECT_THAT(m->dof_frictionloss, ElementsAre(0, 4, 4, 0));
}

TEST(MjcfDefaults, PartialVectorsKeepTheRest) {
  const auto m = mjcf(R"(<default><geom type="capsule" size="0.1 0.2" friction="1 2 3"/></default>
    <worldbody><geom size="0.4" friction="9"/></worldbody>)");
  expect_near(m->geom_size, 0, {0.4, 0.2});
  expect_near(m->geom_friction, 0, {9, 2, 3});
}

TEST(MjcfDefaults, AnyOrientationReplacesTheDefaultOne) {
  const auto m = mjcf(R"(<default><site axisangle="0 0 1 90"/></default>
    <worldbody><site/><site quat="0 1 0 0"/></worldbody>)");
  expect_rotation(m->site_quat, 0, about({0, 0, 1}, 90));
  expect_rotation(m->site_quat, 1, Quat(0, 1, 0, 0));
}

TEST(MjcfJoints, DegreesAreConvertedForRotationsOnly) {
  const auto m = mjcf(R"(<default><joint range="0 90" ref="30" springref="60"/></default>
    <worldbody><body><joint type="slide"/><joint axis="1 0 0"/><geom size="1"/></body></worldbody>)");
  expect_near(m->jnt_range, 0, {0, 90, 0, pi / 2});
  expect_near(m->qpos0, 0, {30, pi / 6});
  expect_near(m->qpos_spring, 0, {60, pi / 3});
  EXPECT_THAT(m->jnt_limited, ElementsAre(1, 1));
}

TEST(MjcfJoints, SolreflimitOfElementAndClass) {
  LoadReport r;
  const auto m = mjcf(R"(<default><joint range="0 1" solreflimit="0.05"/>
    <default class="direct"><joint solreflimit="-400 -16"/></default></default>
    <worldbody><body><geom size="1"/><joint/><joint class="direct" axis="1 0 0"/>
    <joint axis="0 1 0" solreflimit="0.01 0.7"/></body>
    <body><joint solreflimit="0.03 -1"/><geom size="1"/></body></worldbody>)",
                      &r);
  // the last one mixes the two formats: MuJoCo's default
  EXPECT_THAT(m->jnt_solref, ElementsAre(0.05, 1, -400, -16, 0.01, 0.7, 0.02, 1));
  EXPECT_THAT(mjcf("<worldbody><body><joint/><geom size='1'/></body></worldbody>")->jnt_solref,
              ElementsAre(0.02, 1));
  const ReportEntry* e = entry(r, "joint", "solreflimit");
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->use, Use::mapped);
  EXPECT_THAT(e->note, testing::HasSubstr("time constant"));
}

TEST(MjcfJoints, FreeAndBallStartAtTheBody) {
  const auto m = mjcf(R"(<default><joint armature="1" limited="true"/></default><worldbody>
    <body pos="1 2 3" quat="0 2 0 0"><freejoint/><geom size="1"/>
      <body><joint type="ball" limited="false"/><geom size="1"/></body></body></worldbody>)");
  expect_near(m->qpos0, 0, {1, 2, 3, 0, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(m->nq, 11);
  EXPECT_EQ(m->nv, 9);
  EXPECT_THAT(m->jnt_limited, ElementsAre(0, 0));
  EXPECT_THAT(m->dof_armature, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1));  // freejoint: no defaults
}

TEST(MjcfJoints, FreeJointsTakeDefaultsButHaveNoLimit) {
  const auto m = mjcf(R"(<default><joint armature="1" limited="true" range="0 1"/></default>
    <worldbody><body><joint type="free"/><geom size="1"/></body></worldbody>)");
  EXPECT_THAT(m->jnt_limited, ElementsAre(0));
  EXPECT_EQ(m->dof_armature[5], 1);
}

TEST(MjcfJoints, RangeSwitchesTheLimitOn) {
  const auto limited = [](const char* attributes) {
    return mjcf("<worldbody><body><joint " + std::string(attributes) +
                "/><geom size='1'/></body></worldbody>")
        ->jnt_limited[0];
  };
  EXPECT_EQ(limited("range='0 1'"), 1);
  EXPECT_EQ(limited("range='0 1' limited='false'"), 0);
  EXPECT_EQ(limited(""), 0);
}

TEST(MjcfJoints, SpringdamperIsAnOscillatorOfTheInertiaAtQpos0) {
  const auto m = mjcf(R"(<worldbody><body><joint type="slide" springdamper="0.5 0.25"/>
    <geom size="1" mass="3"/></body></worldbody>)");
  // k = m / (t ζ)², d = 2 m / t
  expect_near(m->jnt_stiffness, 0, {3 / (0.125 * 0.125)});
  expect_near(m->dof_damping, 0, {12});
}

TEST(MjcfInertia, GeomsWeighUnlessInertialIsGiven) {
  const std::string geom = "<geom size='1' mass='5'/>";
  const std::string inertial = "<inertial pos='1 0 0' mass='2' diaginertia='1 2 3'/>";
  const auto mass = [&](const char* from, const std::string& content) {
    return mjcf("<compiler inertiafromgeom='" + std::string(from) + "'/><worldbody><body><joint/>" +
                content + "</body></worldbody>")
        ->body_mass[1];
  };
  EXPECT_EQ(mass("auto", geom), 5);
  EXPECT_EQ(mass("auto", geom + inertial), 2);
  EXPECT_EQ(mass("true", geom + inertial), 5);
  EXPECT_EQ(mass("true", inertial), 2);
  EXPECT_EQ(mass("false", geom + inertial), 2);
}

TEST(MjcfInertia, TwoSpheresByTheParallelAxisTheorem) {
  const auto m = mjcf(R"(<worldbody><body><freejoint/>
    <geom size="0.5" mass="2" pos="1 0 0"/><geom size="0.5" mass="2" pos="-1 0 0"/>
    <geom size="9" mass="0"/></body></worldbody>)");
  const double i = 2 * 0.4 * 2 * 0.25;  // two solid spheres about their own centres
  EXPECT_NEAR(m->body_mass[1], 4, kHand);
  expect_near(m->body_ipos, 3, {0, 0, 0});
  expect_near(m->body_inertia, 3, {i + 4, i + 4, i});
}

TEST(MjcfInertia, FullinertiaIsDiagonalised) {
  const auto m = hinged("<inertial pos='0 0 0' mass='1' fullinertia='3 3 5 1 0 0'/>");
  expect_near(m->body_inertia, 3, {5, 4, 2});
  const Mat3 r = row4(m->body_iquat, 1).toRotationMatrix();
  const Mat3 back = r * row3(m->body_inertia, 1).asDiagonal() * r.transpose();
  EXPECT_NEAR(back(0, 1), 1, kHand);
  EXPECT_NEAR(back(0, 0), 3, kHand);
}

TEST(MjcfInertia, CompilerCorrections) {
  const std::string odd = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 4'/>";
  expect_near(hinged(odd, "<compiler balanceinertia='true'/>")->body_inertia, 3, {2, 2, 2});
  const std::string tiny = "<inertial pos='0 0 0' mass='0' diaginertia='0 0 0'/>";
  const auto m = hinged(tiny, "<compiler boundmass='0.5' boundinertia='0.25'/>");
  EXPECT_EQ(m->body_mass[1], 0.5);
  expect_near(m->body_inertia, 3, {0.25, 0.25, 0.25});
  const auto scaled = hinged("", "<compiler settotalmass='14'/>");
  EXPECT_NEAR(scaled->body_mass[1], 14, kHand);
  expect_near(scaled->body_inertia, 3, {0.4 * 14, 0.4 * 14, 0.4 * 14});
}

TEST(MjcfInertia, GroupsOutsideTheRangeWeighNothing) {
  const auto m = mjcf(R"(<compiler inertiagrouprange="1 2"/><worldbody><body><joint/>
    <geom size="1" mass="5"/><geom size="1" mass="3" group="2"/></body></worldbody>)");
  EXPECT_EQ(m->body_mass[1], 3);
}

TEST(MjcfTree, KeyframesFillInWhatIsMissing) {
  const auto m =
      mjcf(R"(<worldbody><body pos="0 0 1"><freejoint/><geom size="1"/></body></worldbody>
    <keyframe><key name="k" time="3" qpos="1 2 3 2 0 0 0"/><key qvel="1 2 3 4 5 6"/></keyframe>)");
  EXPECT_THAT(m->key_names, ElementsAre("k", ""));
  EXPECT_THAT(m->key_time, ElementsAre(3, 0));
  expect_near(m->key_qpos, 0, {1, 2, 3, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0});
  expect_near(m->key_qvel, 0, {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6});
}

TEST(MjcfTree, ContactMaterialsOfCustomNumerics) {
  const auto m = mjcf(R"(<custom><numeric name="stiction_contact/g" data="5e4 7"/>
      <numeric name="stiction_contact" data="1e5 10"/><numeric name="other" data="1"/></custom>
    <worldbody><geom size="1"/><geom name="g" size="1"/></worldbody>)");
  EXPECT_THAT(m->geom_native, ElementsAre(1, 1));
  EXPECT_THAT(m->geom_stiffness, ElementsAre(1e5, 5e4));
  EXPECT_THAT(m->geom_dissipation, ElementsAre(10, 7));
}

TEST(MjcfTree, FlagsChangeTheModel) {
  const std::string tree = R"(<worldbody><geom type="plane" size="0 0 1"/><body>
    <joint range="0 1" stiffness="1" damping="2" frictionloss="3"/><geom size="1"/>
    <body><joint/><geom size="1"/></body></body></worldbody>)";
  const auto with = [&](const std::string& flags) {
    return mjcf("<option><flag " + flags + "/></option>" + tree);
  };
  EXPECT_EQ(mjcf(tree)->npair, 2);
  EXPECT_EQ(with("filterparent='disable'")->npair, 3);
  EXPECT_EQ(with("contact='disable'")->npair, 0);
  EXPECT_EQ(with("limit='disable'")->jnt_limited[0], 0);
  EXPECT_EQ(with("spring='disable'")->jnt_stiffness[0], 0);
  EXPECT_EQ(with("damper='disable'")->dof_damping[0], 0);
  EXPECT_EQ(with("frictionloss='disable'")->dof_frictionloss[0], 0);
  EXPECT_EQ(with("gravity='disable'")->gravity[2], 0);
}

}  // namespace
}  // namespace stiction::test
