// Scenes of laws that act along lengths and through a medium: strings around geoms, limits of tendons and of ball joints,
// springs and dampers that are polynomials, drag, and the sensors of limits and distances.
#pragma once

namespace stiction::test {

// A buoy in water, on the ground, that strings tie to a boom and to a mast: around a drum, around and within the knee, by a
// pulley. The tip of the boom, on a limited ball joint, touches nothing at first.
inline constexpr const char* kRigging = R"(<mujoco model="rigging">
<option timestep="0.004" density="300" viscosity=".02" wind=".5 .2 0"/>
<worldbody><geom name="floor" type="plane" size="5 5 1"/><site name="mast" pos=".1 0 1.4"/>
 <geom name="drum" type="cylinder" size=".1 .3" pos=".25 .02 .75" euler="85 5 0" contype="0" conaffinity="0"/>
 <site name="over" pos=".25 .02 .95"/><site name="cleat" pos="-.3 .1 .9"/>
 <body name="buoy" pos=".6 0 .098"><freejoint/><geom name="buoy" type="ellipsoid" size=".15 .12 .1" mass="2" fluidshape="ellipsoid"/>
  <site name="ring" pos="0 0 .1"/></body>
 <body name="boom" pos="0 0 1"><joint name="a" axis="0 1 0" range="-70 0" stiffness="8 3 4" damping=".1 .2 .3" springref="20"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="1" contype="0" conaffinity="0" fluidshape="ellipsoid" fluidcoef=".6 .3 1.4 .9 .8"/>
  <geom name="knee" type="sphere" size=".07" pos="0 0 -.4" mass=".2" contype="0" conaffinity="0"/>
  <site name="high" pos=".03 0 -.1"/><site name="front" pos=".15 0 -.4"/><site name="within" pos=".01 0 -.4"/><site name="above" pos=".1 0 -.15"/>
  <body pos="0 0 -.4"><joint name="ball" type="ball" range="0 14" damping=".02" stiffness=".5 0 1"/>
   <geom type="box" size=".04 .03 .17" pos="0 0 -.2" mass=".6" contype="0" conaffinity="0"/>
   <site name="low" pos=".03 .02 -.2"/><site name="below" pos=".1 0 -.25"/>
   <geom name="tip" size=".1" pos="0 0 -.502" mass=".1"/></body></body>
</worldbody>
<tendon>
 <spatial name="around" range=".05 .495" margin=".005"><site site="high"/><geom geom="knee" sidesite="front"/><site site="low"/></spatial>
 <spatial name="inside" stiffness="10 5 20" springlength=".05 .2" damping=".3"><site site="above"/><geom geom="knee" sidesite="within"/><site site="below"/></spatial>
 <spatial name="rope" stiffness="15" springlength="0 1.2" damping=".5 .1" frictionloss=".2"><site site="low"/><geom geom="drum" sidesite="over"/><site site="ring"/></spatial>
 <spatial name="tackle" range="0 1.59" solreflimit=".04 1" armature=".05"><site site="mast"/><site site="ring"/><pulley divisor="2"/><site site="cleat"/><site site="low"/></spatial>
</tendon>
<actuator><position name="winch" tendon="rope" kp="4" kv="1"/><motor tendon="around" gear="-.5"/></actuator>
<sensor><tendonpos name="rope" tendon="rope"/><tendonpos name="around" tendon="around"/><tendonpos name="inside" tendon="inside"/><tendonvel tendon="inside"/><tendonlimitpos tendon="tackle"/><tendonlimitvel tendon="around"/>
 <tendonlimitfrc tendon="tackle"/><tendonlimitfrc tendon="around"/><jointlimitpos joint="ball"/><jointlimitvel joint="a"/><jointlimitfrc joint="ball"/>
 <jointlimitfrc joint="a"/><distance geom1="buoy" geom2="tip" cutoff="2"/><normal body1="buoy" body2="boom" cutoff="2"/><fromto geom1="drum" geom2="buoy" cutoff="2"/></sensor>
<keyframe><key qpos=".6 0 .098 1 0 0 0 0 .996 .08 .02 .02"/></keyframe>
</mujoco>)";

// Balls and a box that come back: of a rigid pair, of a soft one, of each other.
inline constexpr const char* kBounces = R"(<mujoco model="bounces"><option timestep="0.002"/>
<custom><numeric name="stiction_contact" data="1e6 20 0.7"/><numeric name="stiction_contact/soft" data="2e3 10 0.6"/></custom>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 .1002"><freejoint/><geom size=".1" mass="1"/></body>
 <body pos="0 .4 .1002"><freejoint/><geom name="soft" size=".1" mass="1"/></body>
 <body pos=".4 0 .06" euler="10 0 0"><freejoint/><geom type="box" size=".06 .05 .05" mass=".5"/></body>
 <body pos="0 .02 .279"><freejoint/><geom size=".08" mass=".4"/></body>
</worldbody></mujoco>)";

// Without pairs, and small enough for a thread: limits of a slide, a ball, a hinge and a tendon over joints.
inline constexpr const char* kStops = R"(<mujoco model="stops">
<option timestep="0.005"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody><geom name="wall" type="box" size=".05 .3 .3" pos=".5 0 0"/>
 <body><joint name="x" type="slide" axis="1 0 0" stiffness="40 10 5" damping="1 .5 .2" springref="-.02" range="0 .1"/>
 <geom type="box" size=".1 .1 .05" mass="1"/>
 <body pos=".1 0 0"><joint name="ball" type="ball" damping=".02 .01 .01" stiffness=".1 .5" range="0 5"/>
  <geom name="rod" type="capsule" fromto="0 0 0 .05 0 -.3" size=".03" mass=".3"/>
  <body pos=".05 0 -.3"><joint name="a" axis="0 1 0" stiffness=".3 0 .5" springref="20"/>
   <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".1"/></body></body>
 <body name="arm" pos="-.1 0 0"><joint name="b" axis="0 1 0" range="-60 0" stiffness=".5 .1" springref="20"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".2"/>
  <body pos="0 0 -.2"><joint name="c" axis="1 0 0"/>
   <geom name="hand" type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".1"/></body></body></body></worldbody>
<tendon><fixed name="t" range="-.2 .01" margin=".005" damping=".05 .02" frictionloss=".02" armature=".01"><joint joint="b" coef="1"/><joint joint="c" coef="-.5"/></fixed>
 <fixed name="s" stiffness="3 1 2" springlength="-.02 .03"><joint joint="a" coef="1"/><joint joint="c" coef=".5"/></fixed></tendon>
<actuator><motor joint="x" gear="3"/><position tendon="t" kp="2" kv=".1"/></actuator>
<sensor><jointlimitpos joint="x"/><jointlimitvel joint="ball"/><jointlimitfrc joint="ball"/><jointlimitfrc joint="b"/>
 <tendonlimitpos tendon="t"/><tendonlimitvel tendon="t"/><tendonlimitfrc tendon="t"/><distance geom1="wall" geom2="hand" cutoff="2"/>
 <normal geom1="hand" geom2="rod" cutoff="2"/><e_potential/></sensor>
<keyframe><key qpos="0 .996 .08 .02 .02 0 0 0"/></keyframe>
</mujoco>)";

}  // namespace stiction::test
