// Models of the tests of the solve.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data.h"
#include "stiction/model.h"
#include "stiction/options.h"

namespace stiction::test {

// Free bodies on each other, on a plane and on an arm.
inline const char* const kPile = R"(
<mujoco><option timestep="0.005"/><default><geom friction="0.8"/></default>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
 <body pos=".05 0 .3"><freejoint/><geom type="capsule" size=".08 .2" euler="80 0 0" mass="2"/></body>
 <body pos="0 .05 .5"><freejoint/><geom type="capsule" size=".07 .15" euler="80 0 80" mass=".5"/></body>
 <body pos=".3 0 .4"><joint axis="0 1 0" frictionloss=".1"/>
  <geom type="capsule" fromto="0 0 0 -.3 0 .1" size=".04" mass="1"/>
  <body pos="-.3 0 .1"><joint type="ball" damping=".01"/>
   <geom type="sphere" size=".06" mass=".5"/></body></body>
</worldbody></mujoco>)";

// A hand that a mocap body leads by a weld, its fingers closed to a loop by a connect; on the floor two loose
// bodies that a weld makes one; a site that nothing holds yet; two joints that a polynomial couples, and a length.
inline const char* const kLoops = R"(
<mujoco><option timestep="0.004"/><default><geom friction="0.8"/></default>
<worldbody><geom type="plane" size="5 5 1"/><site name="hook" pos="0 0 .6"/>
 <body name="lead" mocap="true" pos="0 0 .5"/>
 <body name="palm" pos="0 0 .5"><freejoint/><geom type="box" size=".1 .1 .02" mass="1"/><site name="back"/>
  <body name="left" pos=".1 0 0"><joint name="left" axis="0 1 0" damping=".1"/>
   <geom type="capsule" fromto="0 0 -.05 0 0 -.25" size=".02" mass=".3"/>
   <body name="tip" pos="0 0 -.3"><joint name="tip" axis="0 1 0"/>
    <geom type="capsule" fromto="-.05 0 0 -.15 0 0" size=".02" mass=".2"/></body></body>
  <body name="right" pos="-.1 0 0"><joint name="right" axis="0 1 0" damping=".1"/>
   <geom type="capsule" fromto="0 0 -.05 0 0 -.25" size=".02" mass=".3"/></body></body>
 <body name="ball" pos=".4 0 .098"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
 <body name="block" pos=".6 0 .048"><freejoint/><geom type="sphere" size=".05" mass=".5"/></body>
</worldbody>
<tendon><fixed name="sum"><joint joint="left" coef="1"/><joint joint="right" coef=".7"/></fixed>
 <spatial name="string"><site site="back"/><site site="hook"/></spatial></tendon>
<equality>
 <joint joint1="tip" joint2="left" polycoef=".02 .3 .1 0 .5" solref=".04 1"/><tendon tendon1="sum" solref=".1 1"/>
 <tendon tendon1="string" tendon2="sum" active="false"/>
 <weld body1="lead" body2="palm" torquescale=".5"/>
 <connect body1="tip" body2="right" anchor="-.2 0 0"/>
 <weld body1="ball" body2="block" solref="0.05 1"/>
 <connect site1="hook" site2="back" active="false"/>
</equality></mujoco>)";

// Without pairs: a four-bar linkage.
inline const char* const kLinkage = R"(
<mujoco><option timestep="0.004"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody>
 <body name="crank"><joint name="crank" axis="0 1 0" frictionloss=".5" range="-20 20"/>
  <geom type="capsule" fromto="0 0 0 0 0 .2" size=".02" mass=".3"/>
  <body name="rod" pos="0 0 .2"><joint axis="0 1 0"/>
   <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass=".4"/></body></body>
 <body name="rocker" pos=".4 0 0"><joint axis="0 1 0" damping=".05"/>
  <geom type="capsule" fromto="0 0 0 0 0 .2" size=".02" mass=".3"/></body>
</worldbody>
<equality><connect body1="rod" body2="rocker" anchor=".4 0 0"/></equality>
<actuator><motor joint="crank"/></actuator></mujoco>)";

// Torsional and rolling friction beside neither: balls on each other and on an arm, a disc, pairs of their own.
inline const char* const kBalls = R"(
<mujoco><option timestep="0.004"/><default><geom friction=".7 .02 .005"/></default>
<worldbody><geom name="floor" type="plane" size="5 5 1" condim="1"/>
 <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1" condim="6"/></body>
 <body pos=".03 .02 .29"><freejoint/><geom name="top" type="sphere" size=".09" mass=".4" condim="4"/></body>
 <body pos=".5 0 .06"><freejoint/><geom name="capsule" type="capsule" size=".06 .1" euler="90 0 0" mass="1" condim="3"/></body>
 <body pos=".15 0 .35"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.1 0 -.01" size=".03" mass=".2"/>
  <body pos="-.1 0 -.01"><joint type="ball" damping=".01"/>
   <geom type="sphere" size=".04" mass=".2" condim="6" friction=".5 .05 .01"/></body></body>
</worldbody>
<contact><pair geom1="floor" geom2="capsule" condim="6" friction=".9 .9 .01 .02 .02"/></contact></mujoco>)";

// Limits, dry friction, servos on one dof, on a tendon over two branches and on a ball joint.
inline const char* const kArm = R"(
<mujoco><option timestep="0.004"/><compiler angle="radian"/>
<worldbody><geom type="plane" size="5 5 1" pos="0 0 -.9"/>
 <body pos="0 0 0"><joint name="a" axis="0 1 0" range="-.5 .5" limited="true" frictionloss=".5"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="2"/>
  <body pos="0 .1 -.4"><joint name="b" axis="0 1 0" range="-1 .2" limited="true"/>
   <geom type="capsule" fromto="0 0 0 .1 0 -.4" size=".04" mass="1"/>
   <body pos=".1 0 -.4"><joint name="e" type="ball"/>
    <geom type="capsule" fromto="0 0 0 .1 0 -.1" size=".03" mass=".3"/></body></body>
  <body pos="0 -.1 -.4"><joint name="c" axis="1 0 0" frictionloss=".2"/>
   <geom type="capsule" fromto="0 0 0 0 -.1 -.4" size=".04" mass="1"/>
   <body pos="0 -.1 -.4"><joint name="d" type="slide" axis="0 0 1" range="0 .1" limited="true"/>
    <geom type="sphere" size=".06" mass=".4"/></body></body></body>
</worldbody>
<tendon><fixed name="t"><joint joint="b" coef="1"/><joint joint="c" coef="-.5"/></fixed></tendon>
<actuator><position joint="a" kp="200" kv="5" ctrlrange="-1 1"/>
 <position tendon="t" kp="50" ctrlrange="-1 1" forcerange="-8 8" forcelimited="true"/>
 <velocity joint="e" kv="3" gear="1 .5 -.3"/><motor joint="d" gear="2"/>
 <position joint="d" kp="4e5" kv="10"/></actuator></mujoco>)";

// The same model with sliding friction alone, which is what Similar and SAP have.
inline std::string sliding(std::string mjcf) {
  for (const char* condim : {"condim=\"4\"", "condim=\"6\""})
    for (std::size_t i = 0; (i = mjcf.find(condim)) != std::string::npos;)
      mjcf.replace(i, 10, "condim=\"3\"");
  return mjcf;
}

struct TestModel {
  std::string name, mjcf;
  ModelPtr model;

  ModelPtr for_law(ContactModel law) const {
    if (law == ContactModel::lagged || model->nanchor == model->nslot) return model;
    return load_model_from_string(sliding(mjcf));
  }
};
// A robot on a floor.
inline std::string robot_mjcf(const std::string& name) {
  std::ifstream file(test_robots() + "/" + name + ".xml");
  std::string xml{std::istreambuf_iterator<char>(file), {}};
  const std::string world = "<worldbody>";
  if (name.find("feetonly") == std::string::npos)
    xml.insert(xml.find(world) + world.size(), "<geom type=\"plane\" size=\"5 5 1\"/>");
  return xml;
}
inline ModelPtr robot(const std::string& name) {
  return load_model_from_string(robot_mjcf(name));
}
inline std::vector<TestModel> solve_models() {
  std::vector<TestModel> models = {{"pile", kPile, load_model_from_string(kPile)},
                                   {"arm", kArm, load_model_from_string(kArm)},
                                   {"balls", kBalls, load_model_from_string(kBalls)}};
  for (const char* name : {"go1", "go2", "anymal_c", "h1", "g1", "g1_feetonly", "panda"})
    models.push_back({name, robot_mjcf(name), robot(name)});
  return models;
}

}  // namespace stiction::test
