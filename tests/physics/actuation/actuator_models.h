// A model with actuators that have a state, and the stages up to the forces of actuators.
#pragma once

#include "physics/actuation/actuation.h"
#include "physics/actuation/tendons.h"
#include "physics/tree/kinematics.h"

namespace stiction::test {

inline constexpr auto kActuate = [](const auto& team, const physics::ModelView& m, auto& e) {
  using S = std::remove_reference_t<decltype(e.flags[0])>;
  team.for_each(m.nstatus, [&](int i) { e.flags[i] = S(0.0); });
  physics::mocap(team, m, e, 1);
  physics::kinematics(team, m, e);
  physics::tendons(team, m, e);
  physics::inertia(team, m, e);
  physics::bias(team, m, e);
  physics::activation_dynamics(team, m, e);
  physics::actuation(team, m, e);
};

// Actuators with a state, of every kind, on hinges, slides and a string; a ball lies beside the arm.
inline constexpr const char* kMuscles = R"(<mujoco model="muscles">
<option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0.6 0 0.1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
 <body pos="0 0 1.2"><joint name="lift" type="slide" axis="0 0 1" range="-.2 .2" damping="5"/>
  <geom type="box" size=".1 .1 .05" mass="2"/><site name="chest" pos="0 .1 0"/>
  <body pos="0 0 -.05"><joint name="shoulder" axis="0 1 0" range="-60 80" damping=".3"/>
   <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".04" mass=".8"/>
   <site name="upper" pos=".05 0 -.1"/>
   <body pos="0 0 -.3"><joint name="elbow" axis="0 1 0" range="-100 10" damping=".2"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".03" mass=".5"/>
    <site name="fore" pos=".03 0 -.06"/>
    <body pos="0 0 -.25"><joint name="wrist" axis="1 0 0" damping=".05" armature=".002"/>
     <joint name="turn" axis="0 0 1" damping=".05" armature=".002"/>
     <geom type="box" size=".02 .04 .05" pos="0 0 -.05" mass=".2"/></body></body></body></body>
</worldbody>
<tendon>
 <spatial name="biceps"><site site="chest"/><site site="upper"/><site site="fore"/></spatial>
 <fixed name="hand"><joint joint="wrist" coef="1"/><joint joint="turn" coef="-.5"/></fixed>
</tendon>
<actuator>
 <muscle name="biceps" tendon="biceps" lengthrange=".2 .5" force="60"/>
 <muscle name="flexor" joint="shoulder" gear="-.05" force="200" tausmooth=".3" range=".7 1.2"/>
 <general name="extensor" joint="shoulder" gear=".05" dyntype="muscle" dynprm=".02 .06 .5"
   gaintype="muscle" gainprm=".75 1.05 150 200 .5 1.6 1.5 1.3 1.2" actrange=".1 .9" actearly="true"
   biastype="affine" biasprm="-1 -2 -.3"/>
 <general name="stiff" joint="elbow" lengthrange="-2 .5" biastype="muscle"
   biasprm=".75 1.05 2 200 .5 1.6 1.5 1.3 1.2" gainprm=".4"/>
 <intvelocity name="lift" joint="lift" kp="200" kv="10" actrange="-.1 .1"/>
 <cylinder name="pump" joint="lift" area="3" timeconst=".05" bias=".2 -4 -.5"/>
 <position name="wrist" joint="wrist" kp="3" kv=".05" timeconst=".03"/>
 <general name="early" tendon="hand" dyntype="filterexact" dynprm=".02" actearly="true"
   gainprm="2" biastype="affine" biasprm="0 -2 -.1" forcerange="-.3 .3" ctrlrange="-1 1"/>
 <general name="slow" joint="turn" dyntype="filter" dynprm=".2" gaintype="affine" gainprm=".3 .1 .02"/>
 <general name="sum" joint="turn" dyntype="integrator" actrange="-.4 .5" gainprm=".2"/>
 <motor name="direct" joint="elbow" gear=".2"/>
</actuator>
<sensor><actuatorpos actuator="biceps"/><actuatorvel actuator="biceps"/>
 <actuatorfrc actuator="biceps"/><actuatorfrc actuator="extensor"/><actuatorfrc actuator="pump"/>
 <actuatorfrc actuator="slow"/><jointactuatorfrc joint="shoulder"/></sensor>
<keyframe><key qpos=".6 0 .1 1 0 0 0 0 .2 -.4 0 0" act=".2 .3 .4 .05 .6 -.1 .2 .3 -.2"/></keyframe>
</mujoco>)";

// A free body with a thruster and an arm, servos between sites, a wheel that moves a slider by a rod; a sticky foot;
// lifts whose actuators compensate gravity.
inline constexpr const char* kSites = R"(<mujoco model="sites">
<option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/><site name="fixed" pos=".1 .2 .3" euler="10 20 30"/>
 <body name="foot" pos="0 0 .099"><freejoint name="free"/><geom type="sphere" size=".1" mass="2"/>
  <site name="thruster" pos=".1 .05 0" euler="0 30 10"/>
  <body pos="0 .2 .1"><joint name="arm" axis="0 1 .2" damping=".05"/>
   <geom type="capsule" fromto="0 0 0 .2 0 .1" size=".03" mass=".3" contype="0" conaffinity="0"/>
   <body pos=".2 0 .1"><joint name="ball" type="ball" damping=".02"/>
    <geom type="box" size=".05 .03 .1" pos="0 0 .1" mass=".3" contype="0" conaffinity="0"/>
    <site name="hand" pos=".02 .01 .2" euler="40 20 0"/></body></body></body>
 <body pos="1 0 1"><joint name="wheel" axis="0 1 0" damping=".1"/>
  <geom type="cylinder" size=".1 .02" euler="90 0 0" mass=".5" contype="0" conaffinity="0"/>
  <site name="crank" pos="0 0 .08"/></body>
 <body pos="1.4 0 1"><joint name="piston" type="slide" axis="1 0 0" damping="2"/>
  <geom type="box" size=".05 .05 .05" mass=".4" contype="0" conaffinity="0"/>
  <site name="slider" euler="5 -90 0" pos="0 .01 0"/></body>
 <body pos="-1 0 1" gravcomp="1"><joint name="lift" type="slide" axis="0 0 1" actuatorgravcomp="true" actuatorfrcrange="-4 6"/>
  <geom size=".1" mass=".5" contype="0" conaffinity="0"/>
  <body pos=".2 0 0" gravcomp=".7"><joint name="tilt" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-.3 .3"/>
   <geom size=".05" pos=".1 0 0" mass=".4" contype="0" conaffinity="0"/></body></body></worldbody>
<actuator>
 <motor site="thruster" gear="1 -2 .5 .1 .2 -.3"/>
 <position name="between" site="hand" refsite="thruster" gear="1 .3 -.5 0 .2 .1" kp="8" kv=".3"/>
 <velocity site="hand" refsite="fixed" gear="0 0 .5 .1 0 .2" kv=".5"/>
 <position name="rod" cranksite="crank" slidersite="slider" cranklength=".5" gear="2" kp="5" kv=".1"/>
 <position jointinparent="ball" gear="1 .5 .2" kp="1"/><motor jointinparent="free" gear="1 0 1 .1 0 .2"/>
 <adhesion body="foot" ctrlrange="1 3" gain="2"/><position joint="lift" kp="20" kv="2" gear="-1"/><motor joint="tilt"/>
</actuator>
<sensor><actuatorpos actuator="between"/><actuatorvel actuator="rod"/><actuatorfrc actuator="between"/>
</sensor></mujoco>)";

}  // namespace stiction::test
