// The compiled tasks by name: what a user may ask for and how it is made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/runner.h"
#include "stiction/env.h"
#include "stiction/load.h"

namespace stiction::env {

// The options of a task with every default filled in. The getters throw ArgumentError, naming the
// option, its value and what it must be.
class TaskOptions {
 public:
  // Throws ArgumentError on a name that the task does not have or a value of another type.
  TaskOptions(const std::string& id, const std::vector<TaskOptionInfo>& defaults,
              const std::map<std::string, TaskOption>& given);

  const std::vector<TaskOptionInfo>& all() const { return options_; }
  bool flag(const std::string& name) const;
  double number(const std::string& name) const;        // finite
  double not_negative(const std::string& name) const;  // finite, >= 0
  int count(const std::string& name) const;            // whole, >= 1
  const std::string& text(const std::string& name) const;
  const std::string& choice(const std::string& name, const std::vector<std::string>& of) const;
  std::pair<double, double> range(const std::string& name) const;  // low < high, may be infinite
  const std::vector<double>& list(const std::string& name, std::size_t size) const;

 private:
  const TaskOption& find(const std::string& name) const;

  std::string id_;
  std::vector<TaskOptionInfo> options_;
};

// What the model of a task is read from.
struct TaskModel {
  std::string xml;
  Assets assets;
};

struct TaskEntry {
  std::string id, summary;
  int max_episode_steps;  // 0: without limit
  std::optional<double> reward_threshold = {};
  int frame_skip;  // default of the option frame_skip, which every task has
  std::vector<TaskOptionInfo> options;
  Options engine = {};                       // how the physics step: docs/performance.md
  std::string (*asset)(const TaskOptions&);  // file in envs/assets
  std::unique_ptr<TaskRunner> (*make)(const TaskOptions&, const Model&);
  // What the options put into the text of the asset, with the files that it names then.
  void (*furnish)(const TaskOptions&, TaskModel&) = nullptr;
};

// The model of a task with these options.
TaskModel model_of(const TaskEntry& entry, const TaskOptions& options);

// How the physics of robots on feet step: friction without creep and without the lag of its bound,
// by the laws that take the fewest iterations (lab/notes/laws.md).
Options legged_engine();

// All tasks, sorted as they are listed.
const std::vector<TaskEntry>& registry();
// Throws ArgumentError with the nearest names.
const TaskEntry& find_task(const std::string& id);

// Files of envs/assets, inside the library (generated). Throws Error on an unknown name.
std::string_view asset(std::string_view name);

// The parts of the registry, a file each.
void add_gymnasium_tasks(std::vector<TaskEntry>& tasks);
void add_locomotion_tasks(std::vector<TaskEntry>& tasks);
void add_go2_tasks(std::vector<TaskEntry>& tasks);
void add_manipulation_tasks(std::vector<TaskEntry>& tasks);

}  // namespace stiction::env
