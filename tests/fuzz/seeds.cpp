// Small files of every format, each with as many features as fit.
#include <array>
#include <cstdint>
#include <cstring>

#include "fuzz/formats.h"

namespace stiction::test {

const char* const kMjcf = R"(<?xml version="1.0"?>
<mujoco model="tree">
  <compiler angle="radian" autolimits="true" boundmass="0.01" inertiafromgeom="auto"/>
  <option timestep="0.004" gravity="0 0 -9.8" density="1.2" wind="1 0 0"><flag filterparent="enable"/></option>
  <default><geom friction="0.8 0.01 0.001" condim="4" solref="0.01 1"/>
    <default class="leg"><joint damping="0.5" armature="0.01" range="-1 1"/><mesh scale="0.5 0.5 0.5"/></default></default>
  <custom><numeric name="stiction_contact" data="1e5 10"/></custom>
  <asset>
    <mesh name="shape" file="shape.obj" inertia="shell" maxhullvert="8" refpos="0 0 0.1" refquat="1 0 0.2 0"/>
    <mesh name="own" class="leg" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 1 2 3 0 3 2"/>
    <hfield name="ground" file="ground.hf" size="2 2 0.5 0.1"/>
    <hfield name="steps" nrow="2" ncol="3" elevation="0 1 2 3 4 9" size="1 1 1 1"/>
    <model name="other" file="part.xml"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="ground"/><geom type="plane" size="1 1 0.1" pos="0 0 -1"/>
    <camera name="eye" pos="0 0 2" fovy="60"/><light pos="0 0 3"/>
    <body name="trunk" pos="0 0 1" euler="0 0 0.3"><freejoint name="root"/>
      <geom name="box" type="box" size="0.1 0.2 0.3" mass="2"/><geom type="mesh" mesh="shape" density="500"/>
      <frame pos="0 0 -0.1"><site name="foot" size="0.01" zaxis="0 1 1"/></frame>
      <body name="thigh" childclass="leg"><joint name="hip" axis="0 1 0" ref="0.1" stiffness="3" springref="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/><geom type="box" mesh="own" fitscale="0.9"/>
        <body pos="0 0 -0.3" gravcomp="1"><joint type="slide" axis="0 0 1" frictionloss="0.1" actuatorfrcrange="-9 9"/>
          <inertial pos="0 0 0" mass="1" fullinertia="2 2 2 0.1 0 0"/><geom type="ellipsoid" size=".1 .2 .1" fluidshape="ellipsoid"/>
        </body></body></body>
    <replicate count="3" offset="0.5 0 0" euler="0 0 0.2" sep="-">
      <body name="ball" pos="2 0 1"><joint type="ball" range="0 1"/><geom type="cylinder" size="0.1 0.2"/></body></replicate>
    <body name="mouse" mocap="true"><geom size="0.05" contype="0" conaffinity="0"/></body>
    <frame pos="0 3 1"><attach model="other" prefix="a-"/></frame>
  </worldbody>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.5"/></keyframe>
</mujoco>
)";

const char* const kMjcfRelations = R"(<mujoco model="relations">
  <include file="part.xml"/>
  <worldbody>
    <body name="b" pos="1 0 0"><joint name="j"/><joint name="k" type="slide" range="0 1"/><geom name="g" size="0.1"/><site name="s"/>
      <body name="c" pos="0 0 0.3"><joint name="l" axis="1 0 0"/><geom name="h" size="0.1 0.2" type="cylinder"/><site name="t" pos="0 0 0.4"/></body></body>
    <site name="fixed" pos="0 1 0"/>
  </worldbody>
  <contact><pair geom1="g" geom2="part" condim="6" friction="1 1 0.1 0.1 0.1"/><exclude body1="b" body2="c"/></contact>
  <tendon>
    <fixed name="f" range="-1 1" stiffness="2" springlength="0 0.1"><joint joint="j" coef="2"/><joint joint="k" coef="-1"/></fixed>
    <spatial name="p" frictionloss="0.1" damping="1"><site site="fixed"/><geom geom="h" sidesite="t"/><site site="s"/>
      <pulley divisor="2"/><site site="s"/><site site="t"/></spatial>
  </tendon>
  <equality>
    <connect body1="c" body2="base" anchor="0 0 0.1"/><weld site1="s" site2="fixed" active="false"/>
    <joint joint1="j" joint2="l" polycoef="0 1 0.5 0 0"/><tendon tendon1="f" solref="0.02 1"/>
  </equality>
  <actuator>
    <motor joint="j" gear="3" ctrlrange="-1 1"/><position joint="k" kp="10" dampratio="1" inheritrange="1" timeconst="0.1"/>
    <velocity tendon="p" kv="2" forcerange="-5 5"/><muscle joint="k" lengthrange="0.1 1"/>
    <general site="t" refsite="fixed" gear="0 0 1 0 0 0" gaintype="affine" gainprm="1 2 3" biastype="affine" dyntype="filter" dynprm="0.1"/>
    <adhesion body="c" ctrlrange="0 1" gain="3"/><cylinder cranksite="s" slidersite="t" cranklength="0.5"/>
    <damper jointinparent="l" kv="1" ctrlrange="0 1"/>
  </actuator>
  <sensor><gyro site="s"/><jointpos joint="j"/><framepos objtype="body" objname="c" reftype="site" refname="s"/><touch site="t"/>
    <rangefinder site="t"/><tendonpos tendon="p"/><subtreecom body="b"/><clock/></sensor>
  <keyframe><key name="one" time="1" qpos="1 0.5" ctrl="1 2" act="0.1"/></keyframe>
</mujoco>
)";

const char* const kMjcfPart = R"(<mujoco model="part">
  <compiler angle="degree"/>
  <default><default class="soft"><geom solimp="0.9 0.95 0.001"/></default></default>
  <asset><mesh name="stone" file="shape.obj" scale="0.1 0.1 -0.1"/></asset>
  <worldbody><body name="base"><joint name="turn" range="-90 90"/><geom name="part" class="soft" type="mesh" mesh="stone"/></body></worldbody>
  <actuator><position joint="turn" kp="5"/></actuator>
  <sensor><jointvel joint="turn"/></sensor>
  <keyframe><key name="up" qpos="1.5"/></keyframe>
</mujoco>
)";

const char* const kUrdf = R"(<?xml version="1.0"?>
<robot name="arm">
  <mujoco><compiler fusestatic="true" strippath="false"/><option timestep="0.001"/></mujoco>
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><sphere radius="1"/></geometry></visual><collision name="foot"><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><origin xyz="0 0 0.2" rpy="0 1.57 0"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision></link>
  <link name="tool"><collision><geometry><mesh filename="package://arm/shape.obj" scale="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="finger"><collision><geometry><capsule radius="0.01" length="0.1"/></geometry></collision></link>
  <link name="sled"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.2" rpy="0.1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="20" velocity="3"/><dynamics damping="0.5" friction="0.1"/></joint>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 0.4"/></joint>
  <joint name="grip" type="prismatic"><parent link="tool"/><child link="finger"/><limit lower="0" upper="0.1" effort="5" velocity="1"/>
    <mimic joint="shoulder" multiplier="0.1" offset="0.02"/></joint>
  <joint name="slide" type="planar"><parent link="base"/><child link="sled"/><axis xyz="0 0 1"/></joint>
</robot>
)";

const char* const kObj = R"(# a wedge
mtllib none.mtl
o wedge
v 0 0 0
v 0.3 0 0
v 0.3 0.2 0
v 0 0.2 0
v 0 0 1e-1
v 0.3 0 0.25
vn 0 0 1
vt 0 1
usemtl grey
s off
f 1//1 4//1 3//1 2//1
f 1/1/1 2/1/1 6/1/1
f 1 6 5
f 2 3 6
f 4 1 5
f 3 4 6
f 4 5 6
)";

const char* const kObjGroups =
    "v -1 -1 -1 0.5 0.5 0.5\r\nv 1 -1 -1\r\nv 2 0 -1\r\nv 1 1 -1\r\nv -1 1 -1\r\nv 0 0 1\r\n"
    "g bottom first\r\nf 5 4 3 2 1\r\nf -1 -6 -5\r\nf 2 3 6\r\nf 3 4 6\r\nf 4 5 6\r\nf 5 1 6\r\n"
    "vw 0 0 0.25 1 0.25\r\nl 1 2 3\r\np 4\r\nt crease 2/1/0 1 2 4.5\r\ng second\r\nf 1 2 6\r\n";

const char* const kTextStl = R"(solid tetrahedron
facet normal 0 0 -1 outer loop vertex 0 0 0 vertex 0 0.2 0 vertex 0.1 0 0 endloop endfacet
facet normal 0 -1 0
  outer loop
    vertex 0.00e+00 0 0
    vertex 1.00e-01 0 0
    vertex 0 0 3E-1
  endloop
endfacet
facet normal -1 0 0 outer loop vertex 0 0 0 vertex 0 0 .3 vertex 0 0.2 0 endloop endfacet
facet normal 1 1 1 outer loop vertex 0.1 0 0 vertex 0 0.2 0 vertex 0 0 0.3 endloop endfacet
endsolid tetrahedron
)";

namespace {

constexpr std::array<std::array<float, 3>, 4> kCorners{
    {{0, 0, 0}, {0.1F, 0, 0}, {0, 0.2F, 0}, {0, 0, 0.3F}}};
constexpr std::array<std::array<int, 3>, 4> kFaces{{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}
std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::uint32_t crc32(std::string_view bytes) {  // ISO 3309, of PNG
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc & 1) != 0 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

std::string chunk(const std::string& name, const std::string& content) {
  std::string c;
  put_big_endian(c, static_cast<std::uint32_t>(content.size()));
  c += name + content;
  put_big_endian(c, crc32(name + content));
  return c;
}

// RFC 1950 with one block that is not compressed.
std::string stored(const std::string& content) {
  std::string z{0x78, 0x01, 0x01};
  const auto length = static_cast<std::uint16_t>(content.size());
  put(z, length), put(z, static_cast<std::uint16_t>(~length));
  std::uint32_t a = 1, b = 0;
  for (const char c : content) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
  z += content;
  put_big_endian(z, b << 16 | a);
  return z;
}

}  // namespace

std::string binary_stl() {
  std::string bytes(80, ' ');
  put(bytes, static_cast<std::uint32_t>(kFaces.size()));
  for (const auto& face : kFaces) {
    bytes.append(12, '\0');  // its normal, which nobody reads
    for (const int corner : face) put(bytes, kCorners[static_cast<std::size_t>(corner)]);
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string msh(bool faces) {
  std::string bytes;
  const int count = static_cast<int>(kCorners.size());
  put(bytes, std::array<int, 4>{count, 2, 1, faces ? count : 0});
  put(bytes, kCorners);
  bytes.append(2 * 12 + 8, '\0');
  if (faces) put(bytes, kFaces);
  return bytes;
}

std::string binary_hfield() {
  std::string bytes;
  put(bytes, std::array<int, 2>{2, 3});
  put(bytes, std::array<float, 6>{0, 1, 2, 3, -4, 5.5F});
  return bytes;
}

std::string png(int colour, int depth, bool gamma) {
  constexpr std::uint32_t kRows = 3, kColumns = 5;
  constexpr std::array<int, 7> kChannels{1, 0, 3, 1, 2, 0, 4};
  std::string header, lines;
  put_big_endian(header, kColumns), put_big_endian(header, kRows);
  header += {static_cast<char>(depth), static_cast<char>(colour), 0, 0, 0};
  const int bits = static_cast<int>(kColumns) * depth * kChannels[static_cast<std::size_t>(colour)];
  for (std::uint32_t row = 0; row < kRows; ++row) {
    lines += '\0';  // no filter
    for (int i = 0; i < (bits + 7) / 8; ++i)
      lines += static_cast<char>(17 * i + 40 * static_cast<int>(row));
  }
  std::string file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header);
  if (gamma) file += chunk("gAMA", {0, 1, '\x86', '\xa0'});
  if (colour == 3) file += chunk("PLTE", std::string(std::size_t{3} << depth, 'x'));
  return file + chunk("IDAT", stored(lines)) + chunk("IEND", "");
}

std::string with_checksums(std::string png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t length = big_endian(std::string_view(png).substr(at));
    if (length > png.size() - at - 12) break;
    std::string sum;
    put_big_endian(sum, crc32(std::string_view(png).substr(at + 4, 4 + length)));
    png.replace(at + 8 + length, 4, sum);
    at += 12 + length;
  }
  return png;
}

}  // namespace stiction::test
