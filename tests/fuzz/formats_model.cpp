#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "fuzz/formats.h"
#include "stiction/error.h"
#include "stiction/load.h"

namespace stiction::test {
namespace {

using Refusals = std::vector<std::string>;

void promise(bool kept, const std::string& what) {
  if (!kept) throw std::logic_error("a promise is broken: " + what);
}

void finite(const Reals& numbers, const char* name) {
  promise(std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); }),
          std::string(name) + " is not finite");
}
void below(const Ints& ids, int count, const char* name) {
  promise(std::all_of(ids.begin(), ids.end(), [&](int i) { return i >= -1 && i < count; }),
          std::string(name) + " out of range");
}

// What every stage after the reader relies on.
void check(const Model& m) {
  finite(m.qpos0, "qpos0"), finite(m.key_qpos, "key_qpos"), finite(m.body_mass, "body_mass");
  finite(m.body_inertia, "body_inertia"), finite(m.body_invweight0, "body_invweight0");
  finite(m.body_ipos, "body_ipos"), finite(m.body_iquat, "body_iquat");
  finite(m.dof_invweight0, "dof_invweight0"), finite(m.geom_pos, "geom_pos");
  finite(m.geom_quat, "geom_quat"), finite(m.geom_size, "geom_size");
  finite(m.geom_rbound, "geom_rbound"), finite(m.pair_stiffness, "pair_stiffness");
  finite(m.mesh_vert, "mesh_vert"), finite(m.mesh_polynormal, "mesh_polynormal");
  finite(m.hfield_data, "hfield_data"), finite(m.eq_data, "eq_data");
  for (const double x : m.body_mass) promise(x >= 0, "a negative mass");
  for (const double x : m.hfield_data) promise(x >= 0 && x <= 1, "an elevation beyond 0 to 1");
  below(m.body_parentid, m.nbody, "body_parentid"), below(m.jnt_bodyid, m.nbody, "jnt_bodyid");
  below(m.geom_bodyid, m.nbody, "geom_bodyid");
  below(m.geom_dataid, std::max(m.nmesh, m.nhfield), "geom_dataid");
  below(m.geom_mesh, m.nmesh, "geom_mesh");
  below(m.pair_geom1, m.ngeom, "pair_geom1"), below(m.pair_geom2, m.ngeom, "pair_geom2");
  for (std::size_t i = 0; i < m.mesh_vertnum.size(); ++i) {
    const int count = m.mesh_vertnum[i], faces = m.mesh_facenum[i];
    promise(count == 0 || (count >= 4 && faces >= 4), "a hull of less than four corners");
    for (int k = 3 * m.mesh_faceadr[i]; k < 3 * (m.mesh_faceadr[i] + faces); ++k) {
      const int corner = m.mesh_face[static_cast<std::size_t>(k)];
      promise(corner >= 0 && corner < count, "mesh_face out of range");
    }
  }
}

// And line: of the model, or of a file that it includes or attaches.
bool names_a_file(const std::string& message) {
  constexpr const char* kFiles[] = {"model.xml:", "part.xml:", "robot.urdf:"};
  return std::any_of(std::begin(kFiles), std::end(kFiles),
                     [&](const char* file) { return message.find(file) != message.npos; });
}

// The files are those of the source and nothing on the disk.
void read(ModelSource source, Refusals& refused) {
  try {
    check(*load_model_again(source));
  } catch (const Error& e) {
    refused.emplace_back(e.what());
    promise(names_a_file(refused.back()), "its error names no file: " + refused.back());
  }
}

// A model in memory whose files are all there.
ModelSource source_of(const std::string& main, const std::string& content) {
  ModelSource s;
  s.path = main;
  s.files = {{"part.xml", kMjcfPart},
             {"shape.obj", kObj},
             {"ground.hf", binary_hfield()},
             {"arm/shape.obj", kObj}};
  s.files[main] = content;
  return s;
}

Refusals mjcf(const std::string& bytes) {
  Refusals refused;
  read(source_of("model.xml", bytes), refused);
  return refused;
}

// A file that another one includes, and that a third one attaches.
Refusals mjcf_part(const std::string& bytes) {
  Refusals refused;
  for (const char* main :
       {"<mujoco>\n<include file='part.xml'/></mujoco>",
        "<mujoco>\n<asset><model name='m' file='part.xml'/></asset><worldbody><replicate "
        "count='2'><attach model='m' "
        "prefix='p'/></replicate></worldbody></mujoco>"}) {
    ModelSource s = source_of("model.xml", main);
    s.files["part.xml"] = bytes;
    read(std::move(s), refused);
  }
  return refused;
}

Refusals urdf(const std::string& bytes) {
  Refusals refused;
  ModelSource s = source_of("robot.urdf", bytes);
  read(s, refused);
  s.urdf.floor = s.urdf.free_root = true;
  s.urdf.actuators = {{"", "position"}};
  read(std::move(s), refused);
  return refused;
}

// A mesh as a body that touches, with the settings that lead elsewhere.
Refusals mesh(const std::string& file, const std::string& bytes) {
  Refusals refused;
  const auto with = [&](const std::string& settings, const std::string& geom) {
    ModelSource s =
        source_of("model.xml", "<mujoco><asset>\n<mesh name='m' file='" + file + "' " + settings +
                                   "/></asset><worldbody><body><freejoint/><geom mesh='m' " + geom +
                                   "/></body></worldbody></mujoco>");
    s.files[file] = bytes;
    read(std::move(s), refused);
  };
  with("", "type='mesh'");
  if (!refused.empty()) return refused;
  Refusals others;  // where a file is good for one of them, another may refuse it
  std::swap(refused, others);
  with("inertia='convex' maxhullvert='6' scale='-2 1 1e-3'", "type='mesh'");
  with("inertia='exact' refpos='1 2 3' refquat='1 1 0 0'", "type='mesh'");
  with("inertia='shell'", "type='capsule'");
  with("scale='1e4 1 1'", "type='box' fitscale='2'");
  return others;
}
template <char... extension>
Refusals mesh_of(const std::string& bytes) {
  return mesh(std::string("bad.") + std::string{extension...}, bytes);
}

Refusals hfield(const std::string& bytes) {
  Refusals refused;
  ModelSource s = source_of(
      "model.xml",
      "<mujoco><asset>\n<hfield name='h' file='bad.hf' size='2 3 1 0.1'/></asset><worldbody>"
      "<geom type='hfield' hfield='h'/><body pos='0 0 1'><freejoint/><geom size='0.1'/></body>"
      "</worldbody></mujoco>");
  s.files["bad.hf"] = bytes;
  read(std::move(s), refused);
  return refused;
}

// With the checksums that it has, and with right ones, behind which more is read.
Refusals image(const std::string& bytes) {
  Refusals refused = hfield(bytes);
  if (!refused.empty() && with_checksums(bytes) != bytes) refused = hfield(with_checksums(bytes));
  return refused;
}

// Names of elements and attributes, whole tags among them.
std::vector<std::string> words_of(std::initializer_list<const char*> files) {
  std::vector<std::string> words{"nan", "inf",        "1e999", "-1",  "1e36",
                                 "0",   "2147483648", "<!--",  "-->", "<![CDATA["};
  for (const std::string file : files) {
    for (std::size_t i = 0; i < file.size();) {
      const auto inside = [&](std::size_t k) {
        return std::isalnum(static_cast<unsigned char>(file[k])) != 0;
      };
      std::size_t end = i;
      while (end < file.size() && inside(end)) ++end;
      if (end > i + 2) words.push_back(file.substr(i, end - i));
      i = std::max(end, i + 1);
    }
    for (std::size_t i = file.find('<'); i != file.npos; i = file.find('<', i + 1))
      if (const std::size_t end = file.find('>', i); end != file.npos && end - i < 60)
        words.push_back(file.substr(i, end + 1 - i));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

const std::vector<Format>& model_formats() {
  static const std::vector<Format> all{
      {"mjcf", &mjcf, {kMjcf, kMjcfRelations}, words_of({kMjcf, kMjcfRelations, kMjcfPart})},
      {"mjcf_part", &mjcf_part, {kMjcfPart}, words_of({kMjcfPart})},
      {"urdf", &urdf, {kUrdf}, words_of({kUrdf})},
      {"obj",
       &mesh_of<'o', 'b', 'j'>,
       {kObj, kObjGroups},
       {"v ", "f ", "vn ", "vt ", "g ", "o ", "l ", "p ", "usemtl ", "mtllib ", "t ", "vw ", "s ",
        "//", "nan", "1e39"}},
      {"stl",
       &mesh_of<'s', 't', 'l'>,
       {binary_stl(), kTextStl},
       {"vertex ", "facet ", "solid ", "nan", "inf", "1e39", "1e-46"}},
      {"msh", &mesh_of<'m', 's', 'h'>, {msh(true), msh(false)}, {}},
      {"hfield", &hfield, {binary_hfield()}, {}},
      {"png",
       &image,
       {png(0, 8, false), png(0, 16, true), png(2, 8, true), png(3, 1, false), png(6, 16, false),
        png(4, 8, false)},
       {"IHDR", "IDAT", "PLTE", "IEND", "tRNS", "gAMA", "iCCP", "sRGB", "cHRM"}},
  };
  return all;
}

}  // namespace stiction::test
