// Bad input gives an error that names file, line, element, attribute and value; soon, never a crash.
#include <clocale>
#include <locale>

#include "model/quick.h"
#include "stiction/load.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

struct Bad {
  const char* content;                 // inside <mujoco>
  std::vector<const char*> mentioned;  // parts of the message
};

std::string body(const std::string& content) {
  return "<worldbody><body>" + content + "</body></worldbody>";
}

void expect_error(const std::string& content, const std::vector<const char*>& mentioned) {
  const std::string e = error_of(content);
  EXPECT_NE(e, "") << "loaded: " << content;
  EXPECT_THAT(e, HasSubstr("<string>:")) << content;
  for (const char* part : mentioned) EXPECT_THAT(e, HasSubstr(part)) << content;
}

TEST(BadInput, Geoms) {
  const Bad cases[] = {
      {"size='1 a'", {":1: <geom>", "size=\"1 a\"", "not a number"}},
      {"size='nan'", {"size=\"nan\"", "finite"}},
      {"size='inf'", {"size=\"inf\"", "finite"}},
      {"size='1e999'", {"1e999", "range of a double"}},
      {"size='1,5'", {"1,5", "decimal point"}},
      {"size='1 2 3 4'", {"1 to 3 numbers, found 4"}},
      {"size=''", {"found 0"}},
      {"size='0'", {"size=\"0\"", "positive"}},
      {"size='-1'", {"size=\"-1\"", "positive"}},
      {"type='capsule' size='1'", {"number 2 is 0"}},
      {"type='plane' size='1 1 0'", {"plane"}},
      {"size='1' pos='1 2'", {"pos=\"1 2\"", "expected 3 numbers, found 2"}},
      {"size='1' quat='0 0 0 0'", {"quat", "length zero"}},
      {"size='1' zaxis='0 0 0'", {"zaxis", "no direction"}},
      {"size='1' xyaxes='1 0 0 2 0 0'", {"xyaxes", "no direction"}},
      {"size='1' axisangle='0 0 0 1'", {"axisangle", "no direction"}},
      {"size='1' quat='1 0 0 0' euler='0 0 0'", {"euler", "quat"}},
      {"size='1' mass='-1'", {"mass=\"-1\"", "negative"}},
      {"size='1' density='-1'", {"density", "negative"}},
      {"size='1' friction='-0.1'", {"friction=\"-0.1\"", "negative"}},
      {"size='1' friction='1 nan'", {"friction", "finite"}},
      {"size='1' condim='2'", {"condim=\"2\"", "1, 3, 4 or 6"}},
      {"size='1' contype='0.5'", {"contype", "whole number"}},
      {"size='1' type='Box'", {"type=\"Box\"", "box"}},
      {"size='1' colour='1'", {"colour", "unknown attribute"}},
      {"size='1' frictoin='1'", {"did you mean \"friction\""}},
      {"size='1' class='no'", {"class=\"no\"", "no default class"}},
      {"size='1' size='2'", {"not well-formed", "XML_ERROR_PARSING_ATTRIBUTE"}},
      {"type='mesh'", {"mesh"}},
      {"type='mesh' mesh='no'", {"mesh=\"no\"", "no mesh"}},
      {"type='capsule' size='1' fromto='0 0 0 0 0 0'", {"coincide"}},
      {"type='sphere' size='1' fromto='0 0 0 1 0 0'", {"fromto"}},
      {"type='capsule' size='1' fromto='0 0 0 1 0 0' pos='0 0 1'", {"pos", "fromto"}},
  };
  for (const auto& c : cases) {
    expect_error("<worldbody><geom " + std::string(c.content) + "/></worldbody>", c.mentioned);
  }
}

TEST(BadInput, Joints) {
  const Bad cases[] = {
      {"name='knee' range='a b'", {"<joint name=\"knee\"> range=\"a b\""}},
      {"axis='0 0 0'", {"axis", "no direction"}},
      {"range='1 0'", {"range=\"1 0\"", "below"}},
      {"limited='true'", {"range", "below"}},
      {"limited='yes'", {"limited=\"yes\"", "auto"}},
      {"type='ball' range='-1 1'", {"range=\"-1 1\"", "ball"}},
      {"type='screw'", {"type=\"screw\"", "hinge"}},
      {"damping='-1'", {"damping", "negative"}},
      {"stiffness='-1'", {"stiffness", "negative"}},
      {"armature='-1'", {"armature", "negative"}},
      {"frictionloss='-1'", {"frictionloss", "negative"}},
      {"actuatorfrcrange='1 1'", {"actuatorfrcrange", "below"}},
      {"springdamper='1 0'", {"springdamper", "positive"}},
      {"margin='x'", {"margin=\"x\""}},
  };
  for (const auto& c : cases) {
    expect_error(body("<joint " + std::string(c.content) + "/><geom size='1'/>"), c.mentioned);
  }
}

TEST(BadInput, BodiesAndInertia) {
  const Bad cases[] = {
      {"<joint/>", {"<body>", "no mass"}},
      {"<joint/><geom size='1' mass='0'/>", {"no mass"}},
      {"<joint/><inertial pos='0 0 0' mass='1'/>", {"inertia"}},
      {"<joint/><inertial mass='1' diaginertia='1 1 1'/>", {"<inertial>", "pos is required"}},
      {"<joint/><inertial pos='0 0 0' diaginertia='1 1 1'/>", {"mass is required"}},
      {"<joint/><inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>", {"mass=\"-1\""}},
      {"<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>",
       {"<inertial>", "A + B >= C", "balanceinertia"}},
      {"<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 -1'/>", {"diaginertia"}},
      {"<joint/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 0 0'/>",
       {"fullinertia", "not all positive"}},
      {"<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/>",
       {"fullinertia"}},
      {"<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
       "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>",
       {"second <inertial>"}},
      {"<joint name='a'/><joint name='a'/><geom size='1'/>", {"name=\"a\"", "taken"}},
      {"<freejoint/><freejoint/><geom size='1'/>", {"<freejoint>", "only joint"}},
      {"<body><freejoint/><geom size='1'/></body>", {"child of the world"}},
      {"<joint type='ball'/><joint/><geom size='1'/>", {"followed by another rotation"}},
      {"<joint type='ball'/><joint type='slide'/><joint type='slide'/><joint type='slide'/>"
       "<joint type='slide'/><geom size='1'/>",
       {"6 degrees of freedom"}},
      {"<body mocap='true'/>", {"mocap=\"true\"", "child of the world"}},
      {"<body childclass='no'/>", {"childclass=\"no\"", "no default class"}},
      {"<body name='world'/>", {"name=\"world\"", "taken"}},
      {"<geom name='g' size='1'/><geom name='g' size='1'/>", {"name=\"g\"", "taken"}},
      {"<site size='0'/>", {"<site>", "size=\"0\""}},
      {"<bodi/>", {"<bodi>", "did you mean \"body\""}},
  };
  for (const auto& c : cases) expect_error(body(c.content), c.mentioned);
  expect_error("<worldbody><joint/></worldbody>", {"<joint>", "world"});
  expect_error("<worldbody><inertial pos='0 0 0' mass='1'/></worldbody>", {"<inertial>", "world"});
}

TEST(BadInput, SectionsAndReferences) {
  const std::string robot = body("<joint name='j'/><geom name='g' size='1'/>") +
                            body("<joint name='b' type='ball'/><geom size='1'/>");
  const Bad cases[] = {
      {"<option timestep='0'/>", {"<option>", "timestep=\"0\"", "positive"}},
      {"<option timestep='-0.1'/>", {"timestep=\"-0.1\""}},
      {"<option gravity='0 0'/>", {"gravity", "3 numbers"}},
      {"<option density='-1'/>", {"density", "negative"}},
      {"<option viscosity='2e6'/>", {"viscosity", "2e+06"}},
      {"<option wind='0 1'/>", {"wind", "3 numbers"}},
      {"<worldbody><geom size='1' fluidshape='box'/></worldbody>", {"fluidshape", "ellipsoid"}},
      {"<option integrator='verlet'/>", {"verlet", "RK4"}},
      {"<compiler coordinate='global'/>", {"coordinate=\"global\""}},
      {"<compiler eulerseq='xyw'/>", {"eulerseq=\"xyw\""}},
      {"<compiler autolimits='maybe'/>", {"autolimits=\"maybe\""}},
      {"<default><default/></default>", {"class is required"}},
      {"<default class='x'/>", {"main"}},
      {"<default><default class='a'/><default class='a'/></default>", {"class=\"a\"", "twice"}},
      {"<contact><exclude body1='world' body2='no'/></contact>", {"body2=\"no\"", "no body"}},
      {"<contact><pair geom1='g' geom2='no'/></contact>", {"geom2=\"no\"", "no geom"}},
      {"<contact><pair geom1='g' geom2='g'/></contact>", {"geom2=\"g\"", "itself"}},
      {"<tendon><fixed name='t'/></tendon>", {"<fixed name=\"t\">", "at least one"}},
      {"<tendon><fixed><joint joint='no' coef='1'/></fixed></tendon>", {"joint=\"no\""}},
      {"<tendon><fixed><joint joint='j'/></fixed></tendon>", {"coef is required"}},
      {"<actuator><motor/></actuator>", {"<motor>", "no target"}},
      {"<actuator><motor joint='no'/></actuator>", {"joint=\"no\"", "no joint"}},
      {"<actuator><motor joint='j' gear='1 2 3 4 5 6 7'/></actuator>", {"gear", "found 7"}},
      {"<actuator><motor joint='j' ctrllimited='true'/></actuator>", {"ctrlrange", "below"}},
      {"<actuator><position joint='j' kv='-1'/></actuator>", {"kv=\"-1\"", "negative"}},
      {"<actuator><position joint='j' kp='-1' dampratio='1'/></actuator>",
       {"dampratio=\"1\"", "kp is -1"}},
      {"<option integrator='EulerCoriolis'/>", {"EulerCoriolis", "discrete"}},
      {"<actuator><position joint='j' kv='1' dampratio='1'/></actuator>", {"dampratio", "kv"}},
      {"<actuator><damper joint='j' kv='1' ctrlrange='-1 1'/></actuator>", {"ctrlrange=\"-1 1\""}},
      {"<actuator><motor name='m' joint='j'/><motor name='m' joint='j'/></actuator>", {"taken"}},
      {"<sensor><gyro site='no'/></sensor>", {"<gyro>", "site=\"no\""}},
      {"<sensor><gyroo/></sensor>", {"did you mean \"gyro\""}},
      {"<equality><joint joint1='no'/></equality>", {"joint1=\"no\""}},
      {"<keyframe><key qpos='1 0 0 0 1 2'/></keyframe>", {"at most 5 numbers, found 6"}},
      {"<keyframe><key ctrl='1'/></keyframe>", {"ctrl=\"1\"", "at most 0"}},
      {"<keyframe><key mpos='1 2 3'/></keyframe>", {"mpos"}},
      {"<keyframe><key act='1'/></keyframe>", {"act=\"1\""}},
      {"<custom><numeric name='stiction_contact' data='1'/></custom>", {"data=\"1\"", "2 numbers"}},
      {"<custom><numeric name='stiction_contact' data='0 1'/></custom>", {"data", "positive"}},
      {"<custom><numeric name='stiction_contact/no' data='1 1'/></custom>", {"no geom"}},
      {"<opton/>", {"<opton>", "did you mean \"option\""}},
  };
  for (const auto& c : cases) expect_error(robot + c.content, c.mentioned);
  expect_error("<compiler autolimits='false'/>" + body("<joint range='0 1'/><geom size='1'/>"),
               {"range=\"0 1\"", "autolimits"});
}

TEST(BadInput, LinesAreCounted) {
  EXPECT_THAT(error_of("\n\n<worldbody>\n<geom size='x'/></worldbody>"), HasSubstr("<string>:4:"));
}

TEST(HostileInput, IsRefusedQuickly) {
  const std::string open = "<mujoco><worldbody>", close = "</worldbody></mujoco>";
  expect_quick_error("", "no XML element");
  expect_quick_error("<?xml version='1.0'?><!-- nothing -->", "no XML element");
  expect_quick_error("hello", "not well-formed");
  expect_quick_error("<mujoco><worldbody><geom size='1'", "not well-formed");
  expect_quick_error("<mujoco/><mujoco/>", "second top-level");
  expect_quick_error("<sdf/>", "<mujoco>");
  expect_quick_error("<robot/>", "a robot without a <link>");
  expect_quick_error("<mujoco model='caf\xe9'/>", "not UTF-8");
  expect_quick_error(std::string("<mujoco model='a\0b'/>", 21), "not UTF-8");
  expect_quick_error("<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY d '&b;&b;&b;'>]><mujoco model='&d;'/>",
                     "entities are not accepted");
  expect_quick_error(open + repeated("<body>", 10'000) + repeated("</body>", 10'000) + close,
                     "nested too deep");
  expect_quick_error(open + "<geom size='" + repeated("1 ", 500'000) + "'/>" + close, "500000");
  expect_quick_error(open + "<geom name='" + repeated("x", 1'000'000) + "' size='1'/>" + close,
                     "shorten");
  std::string crowd = "<geom";
  for (int i = 0; i < 100'000; ++i) crowd += " a" + std::to_string(i) + "='1'";
  expect_quick_error(open + crowd + "/>" + close, "attributes");
  expect_quick_error(open + repeated("<geom size='1'/>", 1'000'000) + close, "elements");
  expect_quick_error(open + repeated("<geom size='1'/>", 50'000) + close, "geoms; the limit");
  expect_quick_error(open + repeated("<body><freejoint/><geom size='1'/></body>", 1000) + close,
                     "degrees of freedom");
  const std::string hinge = "<body><joint/><geom size='1'/></body>";
  expect_quick_error(open + repeated(hinge, 1100) + close, "candidate geom pairs");
  const std::string harmless = "<body><joint/><geom size='1' contype='0' conaffinity='0'/></body>";
  expect_quick_error(open + "<body>" + repeated(harmless, 600) + "</body>" + close,
                     "in one tree of bodies");
}

// A German C and C++ locale, where it is installed, and one that any system has.
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(HostileInput, LocaleWithDecimalComma) {
  const std::string old_c = std::setlocale(LC_ALL, nullptr);
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new Comma));
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  const auto m = mjcf("<option timestep='0.005'/>");
  const std::string e = error_of("<option timestep='0,005'/>");
  // with numbers in a text STL and an OBJ, read by others
  const std::string corners[] = {"0 0 0", "0.5 0 0", "0 0.5 0", "0 0 0.5"};
  std::string stl = "solid\n", obj;
  for (const std::string& c : corners) obj += "v " + c + "\n";
  for (const auto& f : {std::array{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}})
    for (const int i : f) stl += "vertex " + corners[i] + "\n";
  std::vector<double> masses;
  for (const auto& [name, content] :
       {std::pair<std::string, std::string>{"m.stl", stl}, {"m.obj", obj}}) {
    const auto mesh =
        load_model_from_string("<mujoco><asset><mesh name='m' file='" + name +
                                   "'/></asset><worldbody><body><joint/><geom type='mesh' "
                                   "mesh='m'/></body></worldbody></mujoco>",
                               {{name, content}});
    masses.push_back(mesh->body_mass[1]);
  }
  std::locale::global(old);
  std::setlocale(LC_ALL, old_c.c_str());
  EXPECT_EQ(m->timestep, 0.005);
  EXPECT_THAT(e, HasSubstr("0,005"));
  for (const double mass : masses) EXPECT_NEAR(mass, 1000 * 0.125 / 6, 1e-10);
}

// What MuJoCo accepts, with a line in the report.
TEST(OddInput, LoadsAndIsReported) {
  LoadReport r;
  const auto m = mjcf(
      "text<worldbody>more <!-- text --> text<body><freejoint/><geom size='1'/>"
      "</body></worldbody><keyframe><key qpos='1 2 3 0 0 0 0'/><key qpos='4'/>"
      "</keyframe>",
      &r);
  EXPECT_THAT(m->key_qpos, testing::ElementsAre(1, 2, 3, 1, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0));
  EXPECT_TRUE(r.complete());
  ASSERT_NE(entry(r, "mujoco", ""), nullptr) << r.table();
  EXPECT_EQ(entry(r, "mujoco", "")->value, "text");
  EXPECT_THAT(entry(r, "key", "qpos")->note, HasSubstr("taken as identity"));
}

// The first thing that can't be read is named, not a name that is missing without it.
TEST(BadInput, WhatIsNotReadIsNamedBeforeWhatIsMissing) {
  const std::string rope =
      "<worldbody>\n<composite prefix='p' type='cable' count='4 1 1' size='1'/></worldbody>";
  for (const char* reference :
       {"<contact><exclude body1='world' body2='phand'/></contact>",
        "<actuator><motor joint='pj'/></actuator>", "<sensor><jointpos joint='pj'/></sensor>"}) {
    expect_error(rope + reference, {":2: <composite>", "write its elements out", "Missing", "\"p"});
  }
  // without anything unread the missing name is the error
  expect_error("<actuator><motor joint='pj'/></actuator>", {"no joint of this name"});
}

// A servo beside other actuators of a joint whose actuatorfrcrange bounds their sum.
TEST(BadInput, SharedBoundOfAServo) {
  const std::string robot =
      "<worldbody><body><joint name='j' actuatorfrcrange='-1 1'/><geom "
      "size='1'/></body></worldbody>"
      "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon><actuator>";
  const std::string servo = "<position name='s' joint='j'/>", motor = "<motor joint='j'/>";
  const auto expect_refused = [&](const std::string& actuators, const char* name) {
    expect_error(robot + actuators + "</actuator>", {name, "actuatorfrcrange", "forcerange"});
  };
  expect_refused(servo + motor, "<position name=\"s\">");
  expect_refused(motor + servo, "<position name=\"s\">");
  expect_refused(servo + "<velocity joint='j'/>", "\"j\"");
  expect_refused("<position tendon='t'/>", "<position>");
  EXPECT_NO_THROW(mjcf(robot + servo + "</actuator>"));
  EXPECT_NO_THROW(mjcf(robot + motor + motor + "</actuator>"));
}

TEST(HostileInput, ExtremeMassesStayFinite) {
  for (const char* mass : {"1e-12", "1e12"}) {
    const auto m = mjcf(body("<freejoint/><geom size='1' mass='" + std::string(mass) + "'/>"));
    EXPECT_TRUE(std::isfinite(m->body_invweight0[2])) << mass;
    EXPECT_GT(m->body_invweight0[2], 0) << mass;
  }
}

}  // namespace
}  // namespace stiction::test
