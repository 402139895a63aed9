// A model with every sensor: several trees, fixed and mocap bodies, all kinds of joints and zones, meshes that have a frame
// and nothing else: a prism, whose principal axes MuJoCo finds by one rotation; the last of several ends at 1e-6 rad.
#pragma once

namespace stiction::test {

inline constexpr const char* kSensorZoo = R"(
<mujoco>
  <option gravity="0.5 -1 -9" timestep="0.005" magnetic="0.3 -0.4 0.2"/>
  <asset><mesh name="wedge" vertex="0 0 0 0.3 0 0 0 0 0.2 0 0.1 0 0.3 0.1 0 0 0.1 0.2"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <camera name="eye" pos="0.1 -4 1" euler="80 0 10" resolution="64 48"/>
    <site name="fixed" pos="0.1 0.2 0.3" euler="10 20 30"/>
    <body name="post" pos="1 0 0.5" euler="0 0 40">
      <geom name="post" size="0.1" mass="3"/>
      <body name="flag" pos="0 0 0.2">
        <joint name="flag" axis="0 1 1" actuatorfrcrange="-2 1.5"/>
        <geom type="capsule" size="0.03 0.1" pos="0.1 0 0"/>
      </body>
    </body>
    <body name="hand" mocap="true" pos="0 -1 1" quat="0.6 0 0.8 0">
      <site name="grip" pos="0 0 0.1"/>
    </body>
    <body name="torso" pos="0 0 0.3" euler="20 -30 40">
      <freejoint name="root"/>
      <geom name="torso" type="box" size="0.2 0.15 0.1" pos="0.02 0.01 0" euler="5 0 9"/>
      <site name="imu" pos="0.05 -0.03 0.1" euler="40 -20 70"/>
      <site name="sphere" size="0.25" pos="0.1 0 -0.1"/>
      <site name="capsule" type="capsule" size="0.1 0.2" euler="30 40 0"/>
      <site name="ellipsoid" type="ellipsoid" size="0.3 0.1 0.2" pos="0 0.1 0"/>
      <site name="cylinder" type="cylinder" size="0.2 0.1" euler="0 50 10"/>
      <site name="box" type="box" size="0.3 0.2 0.15" euler="20 0 0"/>
      <body name="leg" pos="0.1 0.1 -0.15">
        <joint name="hip" axis="0.2 1 0.1" pos="0 0 0.05" armature="0.02"/>
        <geom name="leg" type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.04"/>
        <geom name="shell" type="mesh" mesh="wedge" pos="-0.1 -0.08 0.03" euler="10 20 30" mass="0"
         contype="0" conaffinity="0" rgba="1 1 1 0"/>
        <body name="foot" pos="0.05 0 -0.2">
          <joint name="slide" type="slide" axis="0.1 0 1" stiffness="200" damping="3"/>
          <geom name="foot" size="0.06"/>
          <site name="foot" size="0.03" pos="0 0 -0.05" euler="0 70 10"/>
        </body>
      </body>
      <body name="arm" pos="-0.2 0.2 0">
        <joint name="shoulder" type="ball" pos="0.02 -0.03 0.1" damping="0.1"/>
        <geom name="arm" type="capsule" size="0.03 0.15" pos="0.05 0 -0.1"/>
        <body name="welded" pos="0 0.1 0" euler="30 0 0">
          <geom name="welded" type="sphere" size="0.05"/>
          <geom name="fitted" type="box" mesh="wedge" pos="0 0.1 0" euler="0 20 50" mass="0" contype="0"
           conaffinity="0" rgba="1 1 1 0"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.15 0.1 0.1"><freejoint/><geom name="ball" size="0.12"/></body>
  </worldbody>
  <tendon>
    <fixed name="t"><joint joint="hip" coef="0.5"/><joint joint="slide" coef="-1.5"/></fixed>
  </tendon>
  <actuator>
    <motor name="motor" joint="hip" gear="2" ctrlrange="-2 2" forcerange="-1 1"/>
    <position name="servo" joint="slide" kp="50" kv="3" forcerange="-20 30"/>
    <position name="ball servo" joint="shoulder" gear="0.4 0.5 -0.6" kp="20" kv="3"/>
    <motor name="push" joint="root" gear="1 -2 3 0.4 -0.5 0.6"/>
    <velocity name="tendon" tendon="t" kv="5" gear="1.5"/>
    <general name="against" joint="flag" gainprm="2" biastype="affine" biasprm="1 3 0.5"/>
  </actuator>
  <sensor>
    <jointpos name="jointpos" joint="hip" cutoff="0.2"/>
    <jointvel name="jointvel" joint="slide"/>
    <ballquat name="ballquat" joint="shoulder"/>
    <ballangvel name="ballangvel" joint="shoulder"/>
    <actuatorpos name="pos motor" actuator="motor"/>
    <actuatorpos name="pos ball" actuator="ball servo"/>
    <actuatorpos name="pos tendon" actuator="tendon"/>
    <actuatorvel name="vel servo" actuator="servo"/>
    <actuatorvel name="vel ball" actuator="ball servo"/>
    <actuatorvel name="vel push" actuator="push"/>
    <actuatorvel name="vel tendon" actuator="tendon"/>
    <actuatorfrc name="frc motor" actuator="motor"/>
    <actuatorfrc name="frc servo" actuator="servo"/>
    <actuatorfrc name="frc ball" actuator="ball servo"/>
    <actuatorfrc name="frc tendon" actuator="tendon"/>
    <actuatorfrc name="frc against" actuator="against"/>
    <jointactuatorfrc name="jointactuatorfrc" joint="hip"/>
    <jointactuatorfrc name="jointactuatorfrc clamped" joint="flag"/>
    <rangefinder name="range" site="imu"/>
    <rangefinder name="range down" site="foot" cutoff="0.3"/>
    <rangefinder name="range up" site="grip"/>
    <gyro name="gyro" site="imu" cutoff="0.7"/>
    <velocimeter name="velocimeter" site="imu"/>
    <accelerometer name="accelerometer" site="imu"/>
    <accelerometer name="at rest" site="fixed"/>
    <framepos name="pos body" objtype="body" objname="leg"/>
    <framepos name="pos xbody" objtype="xbody" objname="leg" reftype="site" refname="grip"/>
    <framepos name="pos geom" objtype="geom" objname="torso" reftype="body" refname="ball"/>
    <framepos name="pos site" objtype="site" objname="foot" reftype="xbody" refname="torso"/>
    <framequat name="quat body" objtype="body" objname="torso"/>
    <framequat name="quat geom" objtype="geom" objname="torso" reftype="geom" refname="arm"/>
    <framexaxis name="x" objtype="site" objname="imu"/>
    <frameyaxis name="y" objtype="geom" objname="leg" reftype="site" refname="foot"/>
    <framezaxis name="z" objtype="body" objname="world" reftype="site" refname="imu"/>
    <framelinvel name="linvel" objtype="geom" objname="foot"/>
    <framelinvel name="linvel body" objtype="body" objname="arm" reftype="site" refname="foot"/>
    <framelinvel name="linvel ball" objtype="xbody" objname="ball" reftype="geom" refname="torso"/>
    <frameangvel name="angvel" objtype="xbody" objname="foot"/>
    <frameangvel name="angvel ref" objtype="site" objname="foot" reftype="body" refname="arm"/>
    <framepos name="pos mesh" objtype="geom" objname="shell" reftype="geom" refname="fitted"/>
    <framequat name="quat mesh" objtype="geom" objname="shell"/>
    <framexaxis name="x mesh" objtype="geom" objname="shell" reftype="site" refname="imu"/>
    <framelinvel name="linvel mesh" objtype="geom" objname="shell"/>
    <framelinvel name="linvel fitted" objtype="geom" objname="fitted" reftype="geom" refname="shell"/>
    <framelinacc name="linacc mesh" objtype="geom" objname="shell"/>
    <framelinacc name="linacc" objtype="geom" objname="foot"/>
    <framelinacc name="linacc body" objtype="body" objname="arm"/>
    <framelinacc name="linacc flag" objtype="xbody" objname="flag"/>
    <frameangacc name="angacc" objtype="site" objname="foot"/>
    <subtreecom name="com torso" body="torso"/>
    <subtreecom name="com world" body="world"/>
    <subtreelinvel name="linvel subtree" body="torso"/>
    <subtreelinvel name="linvel leg" body="leg"/>
    <subtreeangmom name="angmom" body="torso"/>
    <subtreeangmom name="angmom arm" body="arm"/>
    <force name="force" site="foot"/>
    <force name="force torso" site="imu" cutoff="50"/>
    <torque name="torque" site="foot"/>
    <torque name="torque world" site="fixed"/>
    <touch name="touch sphere" site="sphere"/>
    <touch name="touch capsule" site="capsule"/>
    <touch name="touch ellipsoid" site="ellipsoid"/>
    <touch name="touch cylinder" site="cylinder"/>
    <touch name="touch box" site="box" cutoff="40"/>
    <touch name="touch foot" site="foot"/>
    <contact name="found" geom1="foot" geom2="floor"/>
    <contact name="found reversed" body1="world" subtree2="torso" data="found force" reduce="netforce"/>
    <contact name="force on torso" subtree1="torso" data="force" reduce="netforce"/>
    <contact name="force from ball" body2="ball" data="force" reduce="netforce" cutoff="1"/>
    <contact name="all" data="found force" reduce="netforce"/>
    <clock name="clock"/>
    <magnetometer name="magnetometer" site="imu"/>
    <magnetometer name="magnetometer foot" site="foot" cutoff="0.2"/>
    <insidesite name="in sphere" site="sphere" objtype="site" objname="fixed"/>
    <insidesite name="in capsule" site="capsule" objtype="body" objname="arm"/>
    <insidesite name="in ellipsoid" site="ellipsoid" objtype="xbody" objname="arm"/>
    <insidesite name="in cylinder" site="cylinder" objtype="xbody" objname="leg"/>
    <insidesite name="in box" site="box" objtype="geom" objname="foot"/>
    <insidesite name="mesh in box" site="box" objtype="geom" objname="shell"/>
    <distance name="distance" geom1="torso" geom2="post" cutoff="3"/>
    <distance name="distance plane" geom1="ball" geom2="floor" cutoff="3"/>
    <normal name="normal" body1="arm" body2="ball" cutoff="3"/>
    <fromto name="fromto" body1="flag" body2="foot" cutoff="3"/>
    <camprojection name="pixels" site="imu" camera="eye"/>
    <framequat name="quat camera" objtype="camera" objname="eye" reftype="site" refname="grip"/>
    <e_potential name="potential"/>
    <e_kinetic name="kinetic" cutoff="300"/>
  </sensor>
</mujoco>)";

}  // namespace stiction::test
