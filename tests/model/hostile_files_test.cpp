// Files that promise more than they hold, and files whose few elements ask for much: refused in seconds by an
// Error, without the memory that they ask for.
#include <cmath>
#include <cstring>

#include "fuzz/formats.h"
#include "model/quick.h"

namespace stiction::test {
namespace {

template <class... T>
std::string bytes_of(const T&... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

std::string with_mesh(const std::string& file) {
  return "<mujoco><asset>\n<mesh name='m' file='" + file +
         "'/></asset><worldbody><body><freejoint/><geom type='mesh' "
         "mesh='m'/></body></worldbody></mujoco>";
}
std::string with_hfield(const std::string& file) {
  return "<mujoco><asset>\n<hfield name='h' file='" + file +
         "' size='1 1 1 1'/></asset><worldbody><geom type='hfield' "
         "hfield='h'/></worldbody></mujoco>";
}

void expect_refused(const std::string& xml, const std::string& file, const std::string& content,
                    const char* mentioned) {
  expect_quick_error(xml, mentioned, {{file, content}});
  expect_quick_error(xml, ("file=\"" + file + "\"").c_str(), {{file, content}});
}

TEST(HostileFiles, TenMillionTrianglesThatAreNotThere) {
  const std::uint32_t many = 10'000'000;
  expect_refused(with_mesh("m.stl"), "m.stl",
                 std::string(80, ' ') + bytes_of(many) + std::string(50, '\0'),
                 "promises 10000000 triangles, which take 500000084 bytes, and has 134");
  expect_refused(with_mesh("m.msh"), "m.msh", bytes_of(4, 0, 0, many) + std::string(48, '\0'),
                 "has 64 bytes, its header promises 120000064");
  expect_refused(with_mesh("m.msh"), "m.msh", bytes_of(-1, 0, 0, 0), "negative");
  expect_refused(with_mesh("m.msh"), "m.msh",
                 bytes_of(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff), "promises");
}

// More than a file may have bytes, or a mesh triangles.
TEST(HostileFiles, TooManyTriangles) {
  expect_refused(with_mesh("m.stl"), "m.stl", std::string(84 + 50 * 800'000, ' '),
                 "40000084 bytes; the limit is 33554432");
  std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  obj += repeated("f 1 2 3\n", 1'000'001);
  expect_refused(with_mesh("m.obj"), "m.obj", obj, "more than 1000000 triangles");
  obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf" + repeated(" 1", 1'000'003) + "\n";
  expect_refused(with_mesh("m.obj"), "m.obj", obj, "more than 1000000 triangles");
}

TEST(HostileFiles, PolygonsThatTakeLong) {
  // n corners are cut off one by one, each compared with all others
  std::string obj = "v 0 0 1\n", face = "f";
  for (int i = 0; i < 20'000; ++i) {
    obj += "v " + std::to_string(std::cos(3e-4 * i)) + " " + std::to_string(std::sin(3e-4 * i)) +
           " 0\n";
    face += " " + std::to_string(i + 2);
  }
  expect_refused(with_mesh("m.obj"), "m.obj", obj + face + "\n",
                 "line 20002: its polygons, this one of 20000 corners, take too long");
}

// Lines that tinyobj understands and OBJ does not have. Each of the first kind takes it 3e5 bytes.
TEST(HostileFiles, WhatTinyobjWouldAllocate) {
  const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  for (const char* line :
       {"t a 8192/8192/8192\n", "\t t a 8192/8192/8192\r", "vw 1e30 1e30 1e30 1\n"}) {
    const Assets assets{{"m.obj", corners + repeated(line, 5000) + "f 1 2 3\n"}};
    const auto load = [&] { load_model_from_string(with_mesh("m.obj"), assets); };
    expect_quick([&] { EXPECT_THROW(load(), ModelError); }, line,
                 0.2);  // one triangle has no volume
  }
}

TEST(HostileFiles, ElevationsThatAreNotThere) {
  expect_refused(with_hfield("h.hf"), "h.hf", bytes_of(10'000, 10'000) + std::string(64, '\0'),
                 "has 72 bytes; 10000 rows of 10000 numbers, as its header says, take 400000008");
  expect_refused(with_hfield("h.hf"), "h.hf", bytes_of(0x7fffffff, 0x7fffffff), "the limit");
  expect_refused(with_hfield("h.hf"), "h.hf", bytes_of(-2, -3), "at least");
  std::string image = png(0, 8, false);  // a signature, length and name, then columns and rows
  image.replace(16, 8, std::string("\0\0\x27\x10\0\0\x27\x10", 8));
  expect_refused(with_hfield("h.png"), "h.png", with_checksums(image),
                 "promises 10000 x 10000 pixels, the file has");
}

// A round stone of many corners, each of them on its hull.
TEST(HostileFiles, HullsOfManyFaces) {
  const int n = 30'000;
  std::string msh = bytes_of(n, 0, 0, 0);
  for (int i = 0; i < n; ++i) {  // Fibonacci's sphere
    const double z = 1 - (2.0 * i + 1) / n, r = std::sqrt(1 - z * z), turn = 2.399963229728653 * i;
    msh += bytes_of(static_cast<float>(r * std::cos(turn)), static_cast<float>(r * std::sin(turn)),
                    static_cast<float>(z));
  }
  expect_quick(
      [&] {
        EXPECT_EQ(load_model_from_string(with_mesh("m.msh"), {{"m.msh", msh}})->mesh_vertnum[0], n);
      },
      "hull", 5);
}

constexpr const char* kJoint = "<body><joint name='j'/><geom name='g' size='1'/></body>";

TEST(HostileInput, NumbersOfKeyframes) {
  expect_quick_error("<mujoco><worldbody>" + std::string(kJoint) + "</worldbody><actuator>" +
                         repeated("<motor joint='j'/>", 10'000) + "</actuator>\n<keyframe>" +
                         repeated("<key/>", 50'000) + "</keyframe></mujoco>",
                     "500100000 numbers in the keyframes");
}

TEST(HostileInput, PairsOfTwoBodies) {
  const std::string geoms = repeated("<geom size='1'/>", 8000);
  expect_quick_error(
      "<mujoco><worldbody>" + geoms + "<body><freejoint/>" + geoms + "</body></worldbody></mujoco>",
      "more than 500000 candidate geom pairs");
}

TEST(HostileInput, BodiesInATreeOfManyDofs) {
  const std::string joints = "<joint type='slide'/><joint axis='1 0 0'/><joint/><geom size='1'/>";
  std::string open, close;
  for (int i = 0; i < 90; ++i) open += "<body>" + joints, close += "</body>";
  expect_quick_error(
      "<mujoco><worldbody>" + open + repeated("<body/>", 100'000) + close + "</worldbody></mujoco>",
      "100090 bodies in a tree of 270 degrees of freedom");
}

TEST(HostileInput, TendonsOfManyTrees) {
  const std::string xml =
      "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body>" +
      repeated("<body><joint/><geom size='1' contype='0' conaffinity='0'/></body>", 1500) +
      "</worldbody><tendon>" + repeated("<fixed><joint joint='j' coef='1'/></fixed>", 20'000) +
      "</tendon></mujoco>";
  expect_quick([&] { EXPECT_EQ(load_model_from_string(xml)->ntendon, 20'000); }, "tendons", 5);
}

TEST(HostileInput, Replicates) {
  const std::string sites = repeated("<site/>", 16'000);
  expect_quick_error("<mujoco><worldbody>" + sites + repeated("\n<replicate count='0'/>", 50'000) +
                         "</worldbody></mujoco>",
                     "repeats too much", {}, 5);
  expect_quick_error(
      "<mujoco><worldbody>\n<replicate count='50000'><site/></replicate><body "
      "name='a'/></worldbody><contact>" +
          repeated("<exclude body1='a' body2='world'/>", 40'000) + "</contact></mujoco>",
      "repeats too much", {}, 20);
}

// Each model attaches the next one by two names: 2^20 in all.
TEST(HostileInput, ModelsThatAttachEachOther) {
  const auto model = [](int next) {
    std::string assets, attach;
    for (const char* name : {"a", "b"}) {
      assets +=
          "<model name='" + std::string(name) + "' file='m" + std::to_string(next) + ".xml'/>";
      attach += "<attach model='" + std::string(name) + "' prefix='" + name + "'/>";
    }
    return "<mujoco><asset>" + assets + "</asset><worldbody>" + attach + "</worldbody></mujoco>";
  };
  Assets files{{"m20.xml", "<mujoco/>"}};
  for (int i = 0; i < 20; ++i) files["m" + std::to_string(i) + ".xml"] = model(i + 1);
  try {
    load_model_from_string(model(0), files);
    FAIL() << "loaded";
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("more than 1000 models are opened"));
  }
}

// An error in the midst of what is put into a matrix.
TEST(HostileInput, AnInertiaThatIsNoNumber) {
  for (const char* name : {"ixx", "iyy", "izz"}) {
    std::string inertia = "<inertia ixx='1' iyy='1' izz='1'/>";
    inertia.replace(inertia.find(name) + 5, 1, "x");
    expect_quick_error("<robot name='r'>\n<link name='l'><inertial><mass value='1'/>" + inertia +
                           "</inertial></link></robot>",
                       (std::string("<inertia> ") + name + "=\"x\"").c_str());
  }
}

}  // namespace
}  // namespace stiction::test
