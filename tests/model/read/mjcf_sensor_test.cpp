// <sensor>: names into indices, addresses, what is refused.
#include "model/mjcf.h"

namespace stiction::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTree = R"(<worldbody>
  <body name="a"><joint name="x" type="slide"/><geom name="g" size="1"/><site name="s"/>
    <body name="b"><joint name="r" type="ball"/><geom size="1"/><site name="t" type="box" size="1 2 3"/>
    </body></body></worldbody>
  <actuator><motor name="m" joint="x"/></actuator>)";

ModelPtr sensing(const std::string& sensors, LoadReport* report = nullptr) {
  return mjcf(kTree + ("<sensor>" + sensors + "</sensor>"), report);
}
std::string refusal(const std::string& sensor) {
  return error_of(kTree + ("<sensor>" + sensor + "</sensor>"));
}

TEST(MjcfSensor, NamesBecomeIndices) {
  const auto m = sensing(R"(<ballquat name="q" joint="r"/><gyro name="w" site="t" cutoff="3"/>
    <framepos objtype="xbody" objname="b" reftype="site" refname="s"/>
    <contact geom2="g" subtree1="b" data="found force" reduce="netforce"/><clock name="c"/>
    <actuatorfrc actuator="m"/>)");
  EXPECT_EQ(m->nsensor, 6);
  EXPECT_EQ(m->nsensordata, 4 + 3 + 3 + 4 + 1 + 1);
  EXPECT_EQ(m->sensor("c"), 4);
  EXPECT_THAT(m->sensor_adr, ElementsAre(0, 4, 7, 10, 14, 15));
  EXPECT_THAT(m->sensor_dim, ElementsAre(4, 3, 3, 4, 1, 1));
  EXPECT_THAT(m->sensor_cutoff, ElementsAre(0, 3, 0, 0, 0, 0));
  EXPECT_THAT(m->sensor_objid, ElementsAre(1, 1, 2, 2, -1, 0));
  EXPECT_THAT(m->sensor_refid, ElementsAre(-1, -1, 0, 0, -1, -1));
  using O = ObjectType;
  EXPECT_THAT(m->sensor_objtype,
              ElementsAre(O::joint, O::site, O::xbody, O::xbody, O::none, O::actuator));
  EXPECT_THAT(m->sensor_reftype, ElementsAre(O::none, O::none, O::site, O::geom, O::none, O::none));
  EXPECT_EQ(m->sensor_type[3], SensorType::contact);
}

TEST(MjcfSensor, SitesKeepTheirShape) {
  const auto m = sensing("");
  EXPECT_THAT(m->site_type, ElementsAre(GeomType::sphere, GeomType::box));
  expect_near(m->site_size, 0, {0.005, 0.005, 0.005, 1, 2, 3});
}

TEST(MjcfSensor, OthersAreKeptAndReported) {
  LoadReport r;
  const auto m = sensing(R"(<user name="far" dim="1"/><gyro name="w" site="s" noise="1"/>
    <e_kinetic name="e"/>)",
                         &r);
  EXPECT_THAT(m->sensor_names, ElementsAre("w", "e"));
  ASSERT_EQ(m->sensors.size(), 3u);
  EXPECT_EQ(m->sensors[0].dim, 0);
  EXPECT_THAT(entry(r, "user", "name")->note, HasSubstr("not evaluated"));
  EXPECT_EQ(entry(r, "gyro", "site")->use, Use::used);
  EXPECT_EQ(entry(r, "gyro", "noise")->use, Use::ignored);
  EXPECT_TRUE(r.complete());
}

TEST(MjcfSensor, FramesOfMeshesAreNotKnown) {
  const auto m = mjcf(R"(<asset><mesh name="m" file="m.obj"/></asset><worldbody>
    <geom name="g" type="mesh" mesh="m"/></worldbody>
    <sensor><framepos objtype="geom" objname="g"/></sensor>)");
  EXPECT_EQ(m->nsensor, 0);
}

TEST(MjcfSensor, WhatIsNotComputedIsRefused) {
  EXPECT_THAT(refusal("<contact geom1='g' data='dist'/>"), HasSubstr("must be found, force"));
  EXPECT_THAT(refusal("<contact geom1='g' data='force'/>"), HasSubstr("netforce"));
  EXPECT_THAT(refusal("<contact geom1='g' data='force' reduce='mindist'/>"),
              HasSubstr("reduce=\"mindist\""));
  EXPECT_THAT(refusal("<contact geom1='g' num='3'/>"), HasSubstr("must be 1"));
  EXPECT_THAT(refusal("<contact site='s'/>"), HasSubstr("geom, body or subtree"));
  EXPECT_THAT(refusal("<gyro name='w'/>"), HasSubstr("must name what it is attached to"));
  EXPECT_THAT(refusal("<jointpos joint='r'/>"), HasSubstr("must be a hinge or a slide"));
  EXPECT_THAT(refusal("<ballangvel joint='x'/>"), HasSubstr("must be a ball"));
  EXPECT_THAT(refusal("<jointlimitpos joint='x'/>"), HasSubstr("has no limits"));
  EXPECT_THAT(refusal("<insidesite objtype='body' objname='b'/>"), HasSubstr("must name a site"));
  EXPECT_THAT(refusal("<insidesite site='s'/>"), HasSubstr("must name a site"));
  EXPECT_THAT(refusal("<magnetometer/>"), HasSubstr("must name what it is attached to"));
  EXPECT_THAT(refusal("<gyro site='s' cutoff='-1'/>"), HasSubstr("cutoff"));
  EXPECT_THAT(refusal("<framexaxis objtype='site' objname='s' cutoff='1'/>"),
              HasSubstr("axes and quaternions"));
  EXPECT_EQ(refusal("<contact geom1='g' reduce='mindist' num='1'/>"), "");
}

}  // namespace
}  // namespace stiction::test
