// Who writes what: every stage of step.h changes fields whose producer it is, and every field has
// its producer. fields.def is the list.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "physics/actuation/actuator_models.h"
#include "physics/sensor/sensor_zoo.h"
#include "physics/solver/solve_models.h"
#include "physics/states.h"
#include "physics/step.h"

namespace stiction::test {
namespace {

using namespace physics;
using Names = std::set<std::string>;

// Scratch that later stages use as well: all start with a value of their own.
const std::map<std::string, Names>& also_written_by() {
  static const std::map<std::string, Names> names = {
      // its own lengths have moment arms, too
      {"actuation", {"flags", "moment"}},
      // actuators on sites have their lengths where tendons have theirs
      {"tendons", {"act_length"}},
      // the drag of a medium is implicit
      {"fluid", {"A"}},
      // its first half is a force, its second changes the acceleration
      {"gyroscopic", {"qfrc_smooth", "qacc"}},
      // the Newton step of the rows is a solve without points; body blocks are part of A and k
      {"rows", {"H", "gradient", "dv", "A", "qfrc_smooth", "block_impulse"}},
      // adhesion is a force
      {"collide", {"qfrc_smooth", "qfrc_actuator"}},
      // points between branches change the structure of the factor; servos add to their dofs;
      // friction iterations renew the bounds of friction
      {"solve",
       {"flags", "qfrc_actuator", "L", "row_parent", "row_num", "run_adr", "run_first", "run_end",
        "below_adr", "below_row", "below_place", "row_impulse", "row_hess", "point_n0", "point_eps",
        "point_couple_law"}},
      // late contacts look at velocities at the solution; the next rebounds are found before they are stored
      {"integrate", {"flags", "body_vel", "point_approach"}},
  };
  return names;
}

struct Stage {
  std::string name;  // a producer
  std::function<void(const ModelView&, EnvView<double>&)> run;
};
std::vector<Stage> stages() {
  const TeamOfOne team;
  return {
      {"step", [=](auto& m, auto& e) { clear_flags(team, m, e); }},
      {"kinematics", [=](auto& m, auto& e) { mocap(team, m, e, 1), kinematics(team, m, e); }},
      {"tendons", [=](auto& m, auto& e) { tendons(team, m, e); }},
      {"inertia", [=](auto& m, auto& e) { inertia(team, m, e); }},
      {"bias", [=](auto& m, auto& e) { bias(team, m, e); }},
      {"fluid", [=](auto& m, auto& e) { fluid(team, m, e); }},
      {"activation_dynamics", [=](auto& m, auto& e) { activation_dynamics(team, m, e); }},
      {"actuation", [=](auto& m, auto& e) { actuation(team, m, e); }},
      {"gyroscopic", [=](auto& m, auto& e) { gyroscopic_start(team, m, e); }},
      {"rows", [=](auto& m, auto& e) { rows(team, m, e); }},
      {"collide", [=](auto& m, auto& e) { collide(team, m, e); }},
      {"solve", [=](auto& m, auto& e) { solve(team, m, e); }},
      {"gyroscopic", [=](auto& m, auto& e) { gyroscopic_end(team, m, e); }},
      {"sensors", [=](auto& m, auto& e) { interval_sensors(team, m, e); }},
      {"integrate", [=](auto& m, auto& e) { integrate(team, m, e), move_mocap(team, m, e, 1); }},
      {"kinematics", [=](auto& m, auto& e) { kinematics(team, m, e); }},
      {"bias", [=](auto& m, auto& e) { velocities(team, m, e); }},
      {"tendons", [=](auto& m, auto& e) { tendons(team, m, e); }},
      {"sensors", [=](auto& m, auto& e) { state_sensors(team, m, e); }}};
}

using Bits = std::vector<std::string>;  // of every field
Bits bits(const Env<double>& env) {
  Bits all;
  for (int f = 0; f < cpu::kFields; ++f) {
    const std::vector<double> x = env.get(static_cast<Field>(f));
    all.emplace_back(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double));
  }
  return all;
}

// Runs the stages from one state; adds to `written` what each changed.
void run_stages(Env<double>& env, std::map<std::string, Names>* written) {
  Bits before = bits(env);
  for (const Stage& stage : stages()) {
    stage.run(env.m(), env.e);
    Bits after = bits(env);
    for (std::size_t f = 0; f < after.size(); ++f)
      if (after[f] != before[f]) (*written)[stage.name].insert(env.host.specs()[f].name);
    before = std::move(after);
  }
}

std::vector<ModelPtr> models() {
  std::vector<ModelPtr> all;
  for (const TestModel& m : solve_models()) all.push_back(m.model);
  all.push_back(load_model_from_string(kLoops));
  all.push_back(load_model_from_string(kZoo));
  all.push_back(load_model_from_string(kMuscles));
  all.push_back(load_model_from_string(kSites));
  all.push_back(load_model_from_string(kSensorZoo));
  all.push_back(load_model_from_string(
      "<mujoco><custom><numeric name='stiction_contact' data='1e6 20 .5'/></custom><worldbody>"
      "<geom type='plane' size='1 1 1'/><body pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
      "</worldbody></mujoco>"));
  all.push_back(
      load_model_from_string("<mujoco><option density='1'/><worldbody><body><freejoint/><geom "
                             "size='.1'/></body></worldbody>"
                             "</mujoco>"));
  return all;
}
std::vector<Options> option_sets() {
  std::vector<Options> sets(6);
  sets[1].stiction = Stiction::anchored;
  sets[2].contact_model = ContactModel::sap;
  sets[3].contact_pairs = ContactPairs::penetrating_deepest;
  sets[4].max_iterations = 1;  // not_converged
  sets[5].friction_iterations = 2;
  return sets;
}

TEST(Contract, StagesWriteTheFieldsOfTheTable) {
  std::map<std::string, Names> written;
  int contacts = 0;
  for (const ModelPtr& model : models())
    for (const Options& options : option_sets()) {
      Env<double> env(*model, options);
      RandomStates random(3);
      for (int k = 0; k < 3; ++k) {
        env.poison(cpu::FieldKind::scratch);
        env.poison(cpu::FieldKind::output);
        env.set(Field::active, std::vector<double>{1});
        State s = random(*model);
        // near the floor: contacts
        if (k > 0)
          s.qpos = model->nkey > 0 ? std::vector<double>(model->key_qpos.begin(),
                                                         model->key_qpos.begin() + model->nq)
                                   : model->qpos0;
        if (k == 2 && !s.ctrl.empty()) s.ctrl[0] = std::numeric_limits<double>::quiet_NaN();
        set_state(env, s);
        run_stages(env, &written);
        contacts += static_cast<int>(env.number(Field::ncon, 0, 0));
      }
    }
  EXPECT_GT(contacts, 100);

  const cpu::FieldSpecs specs = Env<double>(*models()[0]).host.specs();
  std::map<std::string, Names> owned;
  for (const cpu::FieldSpec& f : specs) owned[f.producer].insert(f.name);
  for (const auto& [stage, fields] : written)
    for (const std::string& f : fields)
      EXPECT_TRUE(owned[stage].count(f) != 0 || (also_written_by().count(stage) != 0 &&
                                                 also_written_by().at(stage).count(f) != 0))
          << stage << " writes " << f;
  for (const auto& [stage, fields] : also_written_by())
    for (const std::string& f : fields)
      EXPECT_TRUE(written[stage].count(f) != 0) << stage << " does not write " << f;
  for (const auto& [producer, fields] : owned) {
    if (producer == "user" || producer == "model" || producer == "batch" || producer == "gpu")
      continue;
    for (const std::string& f : fields)
      EXPECT_TRUE(written[producer].count(f) != 0) << producer << " does not write " << f;
  }
}

}  // namespace
}  // namespace stiction::test
