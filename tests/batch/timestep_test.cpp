// Options::timestep and <option timestep> are the same step.
#include "batch/scenes.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

// With a timestep of its own, and contacts as soft as this says.
std::string scene_text(const char* text, double timestep, const std::string& contact) {
  std::string xml = text;
  const std::string given = "<option timestep=\"0.004\"/>";
  const std::size_t place = xml.find(given);
  EXPECT_NE(place, std::string::npos);
  std::ostringstream option;
  option.precision(17);
  option << "<option timestep=\"" << timestep << "\">" << contact;
  return xml.replace(place, given.size(), option.str());
}

constexpr const char* kRefsafe =
    "</option><default><geom solref='.01 1'/></default>";  // bound by two steps beyond 5 ms
constexpr const char* kUnsafe =
    "<flag refsafe='disable'/></option><default><geom solref='.01 1'/></default>";

Options law(ContactModel model, double timestep = 0) {
  Options o;
  o.contact_model = model;
  if (timestep > 0) o.timestep = timestep;
  return o;
}

TEST(Timestep, OfTheOptionsIsThatOfTheFile) {
  for (const char* text : {kBoxStack, kPushed})
    for (const char* contact : {kRefsafe, kUnsafe})
      for (const double h : {0.001, 0.012}) {
        const ModelPtr file = load_model_from_string(scene_text(text, h, contact));
        const ModelPtr other = load_model_from_string(scene_text(text, 0.004, contact));
        // else there is nothing to see
        EXPECT_EQ(file->pair_stiffness != other->pair_stiffness, contact == kRefsafe && h > 0.005);
        for (const ContactModel model : {ContactModel::lagged, ContactModel::sap}) {
          BatchOptions o;
          o.num_envs = 3, o.options = law(model);
          Batch a(file, o);
          o.options = law(model, h);
          Batch b(other, o);
          EXPECT_EQ(b.model().timestep, h);
          EXPECT_EQ(a.model().pair_stiffness, b.model().pair_stiffness);
          EXPECT_EQ(a.model().pair_relaxation_time, b.model().pair_relaxation_time);
          scatter(a, up_to(3)), scatter(b, up_to(3));
          advance(a, 20, 2), advance(b, 20, 2);
          for (int env = 0; env < 3; ++env) EXPECT_EQ(bytes(a, env), bytes(b, env));
          EXPECT_GT(a.counts().contacts, 40u);

          const Reference in_file(file, law(model)), in_options(other, law(model, h));
          EXPECT_EQ(in_options.model().pair_stiffness, file->pair_stiffness);
          const BatchState s = a.get_state(std::vector<int>{1});
          const StepResult x = in_file.step(s.qpos, s.qvel), y = in_options.step(s.qpos, s.qvel);
          EXPECT_EQ(x.qvel, y.qvel);
          EXPECT_EQ(x.iterations, y.iterations);
        }
      }
}

// The user's model stays as it was read; a model that has the timestep is not copied; materials of the
// user's stay, too.
TEST(Timestep, ChangesACopyAndOnlyWhatFollowsFromIt) {
  const ModelPtr m = load_model_from_string(scene_text(kPushed, 0.004, kRefsafe));
  EXPECT_EQ(with_timestep(m, 0.004), m);
  const ModelPtr slow = with_timestep(m, 0.012);
  EXPECT_EQ(m->timestep, 0.004);
  EXPECT_EQ(slow->timestep, 0.012);
  EXPECT_LT(slow->pair_stiffness[0], m->pair_stiffness[0]);
  EXPECT_EQ(slow->pair_relaxation_time, Reals(static_cast<std::size_t>(m->npair), 0.012));
  EXPECT_EQ(with_timestep(slow, 0.004)->pair_stiffness, m->pair_stiffness);
  const ModelPtr rubber = with_contact_material(*m, -1, {.stiffness = 3e4, .relaxation_time = 0.1});
  EXPECT_EQ(with_timestep(rubber, 0.012)->pair_stiffness, rubber->pair_stiffness);
  EXPECT_EQ(with_timestep(rubber, 0.012)->pair_relaxation_time, rubber->pair_relaxation_time);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_THAT(error_message([&] { with_timestep(m, bad); }),
                testing::HasSubstr("must be finite and > 0"));
}

}  // namespace
}  // namespace stiction::test
