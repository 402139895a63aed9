// What the report says, what is refused, and includes with their lines.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/mjcf.h"
#include "stiction/load.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kBall = "<worldbody><body><freejoint/><geom size='1'/></body></worldbody>";

TEST(MjcfReport, EveryAttributeHasALine) {
  LoadReport r;
  mjcf(
      "\n<option timestep='0.01' integrator='RK4' solver='PGS' density='0'/>"
      "\n<visual><map force='1'/></visual>"
      "\n<worldbody><geom size='1' rgba='1 0 0 1' solref='0.01' condim='6'/><site rgba='1 0 0 "
      "1'/><body><freejoint/>"
      "<geom size='1'/></body></worldbody>",
      &r);
  const auto check = [&](const char* element, const char* attribute, Use use, bool physics) {
    const ReportEntry* e = entry(r, element, attribute);
    ASSERT_NE(e, nullptr) << element << " " << attribute;
    EXPECT_EQ(e->use, use) << element << " " << attribute;
    EXPECT_EQ(e->physics, physics) << element << " " << attribute;
  };
  check("option", "timestep", Use::used, false);
  check("option", "integrator", Use::mapped, false);
  check("option", "solver", Use::ignored, false);
  check("option", "density", Use::used, false);
  check("visual", "", Use::ignored, false);
  check("geom", "rgba", Use::used, false);
  check("site", "rgba", Use::ignored, false);
  check("geom", "solref", Use::mapped, false);
  check("geom", "condim", Use::used, false);
  EXPECT_EQ(entry(r, "option", "timestep")->line, 2);
  EXPECT_EQ(entry(r, "geom", "size")->line, 4);
  EXPECT_EQ(entry(r, "geom", "size")->value, "1");
  EXPECT_TRUE(r.complete());
  EXPECT_THAT(r.table(true), HasSubstr("condim=\"6\""));
  EXPECT_THAT(r.table(), Not(HasSubstr("timestep")));
  EXPECT_THAT(r.table(true), HasSubstr("timestep=\"0.01\""));
}

// Each of these loads with a line that says what is missing, and is refused in strict mode.
TEST(MjcfReport, PhysicsThatIsNotComputedIsNamed) {
  const std::string ball(kBall);
  const auto robot = [](const std::string& joint, const std::string& after = "") {
    return "<worldbody><body><joint name='j' " + joint + "/><geom size='1'/></body></worldbody>" +
           after;
  };
  const std::string tendon =
      "<tendon><fixed stiffness='3 1'><joint joint='j' coef='1'/></fixed></tendon>";
  const std::string pair = "<contact><pair geom1='a' geom2='b' friction='1 2'/></contact>";
  const struct {
    std::string mjcf, element, attribute;
  } cases[] = {
      {robot("stiffness='1' springyield='3'"), "joint", "springyield"},
      {robot("", tendon), "fixed", "stiffness"},
      {"<worldbody><geom name='a' size='1'/><body><freejoint/><geom name='b' size='1'/></body>"
       "</worldbody>" +
           pair,
       "pair", "friction"},
      {"<option density='1'/><asset><mesh name='m' file='m.stl'/></asset><worldbody><body>"
       "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
       "<geom type='mesh' mesh='m' fluidshape='ellipsoid'/></body></worldbody>",
       "geom", "fluidshape"},
      {"<worldbody><geom name='a' size='1' adhesion='1'/><body><freejoint/><geom name='b' "
       "size='1'/></body></worldbody>",
       "geom", "adhesion"},
      {robot("",
             "<worldbody><site name='s'/><site name='u'/></worldbody><tendon><spatial "
             "stiffness='1' springyield='3'><site site='s'/><site site='u'/></spatial></tendon>"),
       "spatial", "springyield"},
      {robot("", "<tendon><fixed damping='1 0 -1'><joint joint='j' coef='1'/></fixed></tendon>"),
       "fixed", "damping"},
      {"<worldbody><geom name='a' size='1'/><body><freejoint/><geom name='b' size='1'/></body>"
       "</worldbody><contact><pair geom1='a' geom2='b' solreffriction='.1 1'/></contact>",
       "pair", "solreffriction"},
      {robot("",
             "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"
             "<actuator><motor tendon='t' damping='1 0 -1'/></actuator>"),
       "motor", "damping"},
  };
  for (const auto& c : cases) {
    LoadReport r;
    ASSERT_NO_THROW(mjcf(c.mjcf, &r)) << c.mjcf;
    bool found = false;
    for (const auto& e : r.entries) {
      found = found || (e.element == c.element && e.attribute == c.attribute && e.physics &&
                        e.use == Use::ignored && !e.note.empty());
    }
    EXPECT_TRUE(found) << c.mjcf << "\n" << r.table(true);
    EXPECT_FALSE(r.complete()) << c.mjcf;
    EXPECT_THAT(error_of(c.mjcf, true), HasSubstr("strict")) << c.mjcf;
  }
}

// Physics that no element of the model can feel is not missing: each of these passes strict mode.
TEST(MjcfReport, WhatHasNoEffectIsNoAlarm) {
  const std::string asset = "<asset><mesh name='m' file='m.stl'/></asset>";
  const std::string inertial = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>";
  const std::string slide =
      "<worldbody><body><joint name='j' type='slide'/><geom size='1'/></body>"
      "<site name='s'/><site name='u'/></worldbody>";
  const auto defaults = [](const std::string& content) {
    return "<default>" + content + "</default>";
  };
  const std::vector<std::string> cases{
      // defaults of elements that do not occur
      defaults("<geom condim='6' surfacevel='1' adhesion='1'/><joint springyield='1'/>"),
      defaults("<default class='x'><joint springyield='1'/></default>") + slide,
      defaults("<tendon stiffness='1' range='0 1'/><pair condim='4' friction='1 2'/>") + slide,
      defaults("<general dyntype='filter' damping='1' delay='0.1'/>") + slide,
      defaults("<muscle/>") + slide + "<actuator><motor joint='j'/></actuator>",
      defaults("<position timeconst='0.1'/>") + slide + "<actuator><motor joint='j'/></actuator>",
      defaults("<geom condim='6'/>") +
          "<worldbody><geom size='1' condim='3'/><body><freejoint/><geom size='1' condim='1'/>"
          "</body></worldbody>",
      // geoms that nothing can touch
      asset + "<worldbody><body><freejoint/>" + inertial +
          "<geom type='mesh' mesh='m'/></body></worldbody>",
      std::string("<worldbody><geom size='1' condim='6' surfacevel='1'/></worldbody>"),
      asset +
          "<worldbody><geom type='mesh' mesh='m'/><body><freejoint/>"
          "<geom size='1' contype='2' conaffinity='2'/></body></worldbody>",
      // a spatial tendon
      slide +
          "<tendon><spatial stiffness='2' range='0 1'><site site='s'/><site "
          "site='u'/></spatial></tendon>",
  };
  for (const std::string& quiet : cases) EXPECT_EQ(error_of(quiet, true), "") << quiet;
}

// The same attributes alarm where an element takes them, and the line is that of the default.
TEST(MjcfReport, ADefaultIsToldWhereAnElementTakesIt) {
  LoadReport r;
  mjcf(
      "<default>\n<geom adhesion='1'/></default><worldbody><geom size='1'/><body><freejoint/>"
      "<geom size='1'/></body></worldbody>",
      &r);
  const ReportEntry* e = entry(r, "geom", "adhesion");
  ASSERT_NE(e, nullptr);
  EXPECT_TRUE(e->physics);
  EXPECT_EQ(e->line, 2);
  EXPECT_THAT(error_of("<default><position delay='0.1'/></default>"
                       "<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
                       "<actuator><position joint='j'/></actuator>"),
              HasSubstr("delay=\"0.1\""));
}

// Three lines, pairs without a collider first; nothing of a complete model.
TEST(MjcfReport, SummaryNamesTheGravestThree) {
  LoadReport r;
  mjcf(kBall, &r);
  EXPECT_EQ(summary(r), "");
  mjcf(
      "<asset><hfield name='h' file='h.png' size='1 1 1 1'/></asset>"
      "<worldbody><geom type='hfield' hfield='h' adhesion='1'/><body>"
      "<joint name='j' stiffness='1' springyield='3'/>"
      "<geom type='cylinder' size='1 1'/></body>"
      "</worldbody>",
      &r);
  const std::string s = summary(r);
  EXPECT_EQ(std::count(s.begin(), s.end(), '\n'), 3) << s;
  EXPECT_LT(s.find("no collider: 1 pair hfield-cylinder"), s.find("adhesion")) << s;
  EXPECT_THAT(s, HasSubstr("and 1 more"));
}

TEST(MjcfReport, CompleteModelsPassStrict) {
  LoadReport r;
  mjcf(kBall, &r);
  EXPECT_TRUE(r.complete());
  EXPECT_EQ(error_of(kBall, true), "");
}

TEST(MjcfReport, PairsWithoutColliderAreNamedAndTheirShapesRefusedInStrictMode) {
  const std::string drums = R"(<asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>
    <worldbody><geom name="a" type="hfield" hfield="h"/>
    <body><freejoint/><geom name="b" type="cylinder" size="1 1"/></body></worldbody>)";
  LoadReport r;
  EXPECT_EQ(mjcf(drums, &r)->npair, 0);
  ASSERT_EQ(r.pairs_without_collider.size(), 1u);
  EXPECT_FALSE(r.complete());
  EXPECT_THAT(error_of(drums, true), HasSubstr("its file is not there: nothing touches it"));
}

TEST(MjcfReport, MeshesMayBeSeenButNotWeighed) {
  const std::string asset = "<asset><mesh name='m' file='m.stl'/></asset><worldbody><body><joint/>";
  const std::string inertial = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>";
  const std::string end = "</body></worldbody>";
  EXPECT_THAT(error_of(asset + "<geom type='mesh' mesh='m'/>" + end), HasSubstr("<inertial>"));
  LoadReport r;
  const auto m =
      mjcf(asset + inertial + "<geom type='mesh' mesh='m' contype='0' conaffinity='0'/>" + end, &r);
  EXPECT_EQ(m->geom_dataid[0], 0);
  EXPECT_EQ(m->meshes[0].file, "m.stl");
  EXPECT_TRUE(r.complete()) << r.table();
  mjcf("<worldbody><geom size='1'/></worldbody>" + asset + inertial +
           "<geom type='mesh' mesh='m'/>" + end,
       &r);
  EXPECT_FALSE(r.complete());
}

TEST(MjcfReport, RefusalsFillTheReportAndThrow) {
  LoadReport r;
  try {
    mjcf(
        "<worldbody><composite type='cable' count='4 1 1' size='1'/><body>"
        "<flexcomp name='f' type='grid'/></body></worldbody>",
        &r);
    FAIL() << "loaded";
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), HasSubstr("2 refusals"));
    EXPECT_THAT(e.what(), HasSubstr("<composite>"));
    EXPECT_THAT(e.what(), HasSubstr("<flexcomp"));
  }
  EXPECT_EQ(r.count(Use::refused), 2);
}

// By the name of the element or attribute, in any mode.
TEST(MjcfReport, WhatCantBeComputedIsRefusedByName) {
  const std::string arm =
      "<worldbody><body name='b'><joint name='j'/><geom name='g' size='1'/><site name='s'/>"
      "</body><site name='t'/></worldbody>";
  const auto actuator = [&](const std::string& text) {
    return arm + "<actuator>" + text + "</actuator>";
  };
  const auto sensor = [&](const std::string& text) {
    return arm + "<sensor>" + text + "</sensor>";
  };
  const struct {
    std::string mjcf, word;
  } cases[] = {
      {"<worldbody><body><freejoint/><geom type='sdf' size='1'/></body></worldbody>",
       "<geom> type=\"sdf\": signed distance fields need a plugin"},
      {"<worldbody><body><freejoint/><geom size='1'><plugin plugin='p'/></geom></body></worldbody>",
       "<plugin>"},
      {"<deformable><flex name='f' dim='1' body='world' vertex='0 0 0' element='0 "
       "1'/></deformable>",
       "<deformable>"},
      {arm + "<equality><flex flex='f'/></equality>", "<flex>"},
      {actuator("<pid joint='j' kp='1'/>"), "<pid>"},
      {actuator("<dcmotor joint='j'/>"), "<dcmotor>"},
      {actuator("<orientation site='s' refsite='t'/>"), "<orientation>"},
      {actuator("<general joint='j' dyntype='user'/>"), "dyntype"},
      {actuator("<general joint='j' gaintype='user'/>"), "gaintype"},
      {actuator("<general joint='j' biastype='dcmotor'/>"), "biastype"},
      {actuator("<general joint='j' dyntype='integrator' actdim='2'/>"), "actdim"},
      {actuator("<general joint='j' velrange='-1 1'/>"), "velrange"},
      {actuator("<general joint='j' ffrange='-1 1'/>"), "ffrange"},
      {actuator("<general joint='j' input='pos vel'/>"), "input"},
      {actuator("<motor joint='j' delay='.1'/>"), "delay"},
      {actuator("<motor joint='j' nsample='2'/>"), "nsample"},
      {"<option actuatorgroupdisable='1'/>" + arm, "actuatorgroupdisable"},
      {"<option><flag override='enable'/></option>" + arm, "override"},
      {sensor("<contact geom1='g' num='2'/>"), "num"},
      {sensor("<contact site='s'/>"), "site"},
      {sensor("<contact geom1='g' data='pos'/>"), "data"},
      {sensor("<contact geom1='g' data='force'/>"), "data"},
      {sensor("<rangefinder site='s' data='point'/>"), "data"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(error_of(c.mjcf), AllOf(HasSubstr("refusal"), HasSubstr(c.word))) << c.mjcf;
}

TEST(MjcfReport, SensorsThatAreNotEvaluatedSayWhy) {
  const std::string body =
      "<asset><mesh name='lost' file='lost.stl'/></asset><worldbody><camera name='c' "
      "mode='trackcom'/><body name='b'><freejoint/>"
      "<geom name='g' size='1'/><geom name='m' type='mesh' mesh='lost' mass='0'/><site "
      "name='s'/></body></worldbody>";
  for (const auto& [sensor, why] : std::vector<std::pair<std::string, std::string>>{
           {"<user dim='1'/>", "not evaluated"},
           {"<tactile geom='g' mesh='lost'/>", "not evaluated"},
           {"<insidesite site='s' objtype='geom' objname='g' enclosed='true'/>", "enclosed"},
           {"<rangefinder camera='c'/>", "depth"},
           {"<framepos objtype='camera' objname='c'/>", "follow"},
           {"<framepos objtype='geom' objname='m'/>",
            "\"m\" follows from mesh \""},
           {"<framequat objtype='site' objname='s' reftype='geom' refname='m'/>",
            "whose file is not there"},
           {"<insidesite site='s' objtype='geom' objname='m'/>", "whose file is not there"}}) {
    LoadReport r;
    const auto m = mjcf(body + "<sensor>" + sensor + "<clock/></sensor>", &r);
    EXPECT_EQ(m->nsensor, 1) << sensor;
    EXPECT_EQ(m->sensors.size(), 2u) << sensor;
    EXPECT_THAT(r.table(true), HasSubstr(why)) << sensor;
  }
}

TEST(MjcfReport, SensorsAndEqualitiesAreKept) {
  const auto m = mjcf(std::string(R"(<worldbody><body name="b"><joint name="j"/><geom size="1"/>
    <site name="s"/></body></worldbody><sensor><gyro name="g" site="s"/>
    <framepos objtype="xbody" objname="b" reftype="site" refname="s"/></sensor>
    <equality><connect body1="b" anchor="1 2 3" active="false"/></equality>)"));
  ASSERT_EQ(m->sensors.size(), 2u);
  EXPECT_EQ(m->sensors[0].object, "s");
  EXPECT_EQ(m->sensors[1].objtype, "xbody");
  EXPECT_EQ(m->sensors[1].reference, "s");
  ASSERT_EQ(m->neq, 1);
  EXPECT_EQ(m->eq_active0[0], 0);
  EXPECT_THAT(m->eq_data, testing::ElementsAre(1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 1));
}

// A folder of files for includes; removed at the end.
class Includes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("stiction_includes_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
         testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_ / "parts");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::string load_error(const std::string& path) {
    try {
      load_model(path);
    } catch (const ModelError& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path folder_;
};

TEST_F(Includes, AreSplicedWithTheirOwnLines) {
  write("parts/geoms.xml",
        "<mujocoinclude>\n\n<geom name='g' size='1' rgba='1 1 1 1'/>"
        "<include file='site.xml'/></mujocoinclude>");
  write("parts/site.xml", "<mujocoinclude><site name='s'/></mujocoinclude>");
  const auto path = write("main.xml",
                          "<mujoco><worldbody><include file='parts/geoms.xml'/>"
                          "</worldbody></mujoco>");
  LoadReport r;
  const auto m = load_model(path, &r);
  EXPECT_EQ(m->file, path);
  EXPECT_EQ(m->geom_names[0], "g");
  EXPECT_EQ(m->site_names[0], "s");
  EXPECT_EQ(entry(r, "geom", "rgba")->line, 3);
  EXPECT_THAT(entry(r, "geom", "rgba")->file, HasSubstr("geoms.xml"));
}

TEST_F(Includes, CyclesMissingFilesAndErrorsInsideAreTracedBack) {
  write("a.xml", "<mujoco><include file='b.xml'/></mujoco>");
  write("b.xml", "<mujoco><include file='a.xml'/></mujoco>");
  EXPECT_THAT(load_error((folder_ / "a.xml").string()), HasSubstr("already included"));
  const auto self = write("self.xml", "<mujoco><include file='self.xml'/></mujoco>");
  EXPECT_THAT(load_error(self), HasSubstr("already included"));
  const auto missing = write("missing.xml", "<mujoco>\n<include file='nowhere.xml'/></mujoco>");
  EXPECT_THAT(load_error(missing), HasSubstr("missing.xml:2: <include> file=\"nowhere.xml\""));
  write("broken.xml", "<mujoco><worldbody>");
  const auto outer = write("outer.xml", "<mujoco>\n\n<include file='broken.xml'/></mujoco>");
  EXPECT_THAT(load_error(outer), HasSubstr("broken.xml:1"));
  EXPECT_THAT(load_error(outer), HasSubstr("included from"));
  EXPECT_THAT(load_error(outer), HasSubstr("outer.xml:3"));
  EXPECT_THAT(load_error(folder_.string()), HasSubstr("not a regular file"));
  EXPECT_THAT(load_error((folder_ / "none.xml").string()), HasSubstr("not found"));
}

}  // namespace
}  // namespace stiction::test
