// save_model: a text without includes, files by bare names, and what became of a model.
#include "model/mjcf.h"
#include "stiction/load.h"

namespace stiction {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTriangle =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
constexpr const char* kMesh =
    "<mujoco><compiler meshdir='m' strippath='false'/><asset><mesh file='{}'/></asset><worldbody>"
    "<body><freejoint/><geom type='mesh' mesh='t'/></body></worldbody></mujoco>";

std::string with(std::string text, const std::string& what) {
  return text.replace(text.find("{}"), 2, what);
}
ModelSource source(const std::string& xml, const Assets& assets) {
  return {"", xml, "", assets, {}, {}, {}};
}

TEST(Save, PathsBecomeBareNames) {
  for (const char* path : {"sub/t.obj", "sub\\t.obj"}) {
    ModelSource s = source(with(kMesh, path), {{"m/sub/t.obj", kTriangle}});
    const ModelPtr m = load_model(s);
    const SavedModel saved = save_model(s);
    ASSERT_EQ(saved.files.size(), 1u);
    EXPECT_EQ(saved.files.at("t.obj"), kTriangle);
    EXPECT_THAT(saved.xml, Not(HasSubstr("meshdir")));
    ModelSource again = source(saved.xml, saved.files);
    EXPECT_EQ(load_model(again)->mesh_vert, m->mesh_vert);
  }
}

TEST(Save, AMeshBesideAnIncludedFile) {
  ModelSource s =
      source("<mujoco><include file='sub/part.xml'/></mujoco>",
             {{"sub/part.xml", "<mujoco><include file='deep/inner.xml'/></mujoco>"},
              {"sub/deep/inner.xml",
               "<mujoco><asset><mesh file='t.obj'/></asset><worldbody><body><freejoint/>"
               "<geom type='mesh' mesh='t'/></body></worldbody></mujoco>"},
              {"sub/deep/t.obj", kTriangle}});
  EXPECT_EQ(load_model(s)->mesh_vertnum, Ints{4});
  EXPECT_EQ(save_model(s).files.count("t.obj"), 1u);
}

TEST(Save, MissingFilesAreNamedOrStoodFor) {
  ModelSource s = source(with(kMesh, "t.obj"), {{"m/t.obj", kTriangle}});
  load_model(s);
  s.assets.clear();
  try {
    save_model(s);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("<string>:1: <mesh> file=\"t.obj\": file not found: /"),
                                HasSubstr("/m/t.obj")));
  }
  const SavedModel drawn = save_model(s, {}, true);
  EXPECT_TRUE(drawn.files.empty());
  EXPECT_THAT(drawn.xml, HasSubstr("vertex=\"0 0 0"));
}

TEST(Save, Edits) {
  ModelSource s = source(
      "<mujoco><option timestep='0.1'/><worldbody><geom name='g' size='1' friction='0.5 "
      "0.1'/></worldbody></mujoco>",
      {});
  ModelEdits edits;
  edits.timestep = 0.25;
  edits.materials["g"] = {1e4, 2, 0.75};
  ModelSource again = source(save_model(s, edits).xml, {});
  const ModelPtr m = load_model(again);
  EXPECT_EQ(m->timestep, 0.25);
  EXPECT_EQ(m->geom_stiffness, Reals{1e4});
  EXPECT_EQ(m->geom_dissipation, Reals{2});
  EXPECT_EQ(m->geom_friction[0], 0.75);
  EXPECT_EQ(m->geom_friction[1], 0.1);
  edits.materials["g"].relaxation_time = 1;
  EXPECT_THROW(save_model(s, edits), ArgumentError);
  edits = {};
  edits.meshes["none"] = "m";
  EXPECT_THROW(save_model(s, edits), ArgumentError);
}

}  // namespace
}  // namespace stiction
