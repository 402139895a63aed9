// The compiled tasks by name: the options of each and how it is made.
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

// The source of the model of a task.
struct TaskModel {
  std::string xml;
  Assets assets;
};

struct TaskEntry {
  std::string id, summary;
  int max_episode_steps;  // 0: no limit
  std::optional<double> reward_threshold = {};
  int frame_skip;  // default of the option frame_skip, which every task has
  std::vector<TaskOptionInfo> options;
  Options engine = {};                       // defaults for the physics: docs/performance.md
  std::string (*asset)(const TaskOptions&);  // file in envs/assets
  std::unique_ptr<TaskRunner> (*make)(const TaskOptions&, const Model&);
  // Inserts what the options imply into the text of the asset, together with the files that the text then names.
  void (*furnish)(const TaskOptions&, TaskModel&) = nullptr;
};

// Returns the model of a task with these options.
TaskModel model_of(const TaskEntry& entry, const TaskOptions& options);

// Physics options of legged robots: friction without creep and without a lagging bound,
// with the laws that need the fewest iterations (lab/notes/laws.md).
Options legged_engine();

// All tasks, in the order in which they are listed.
const std::vector<TaskEntry>& registry();
// Throws ArgumentError with the nearest names.
const TaskEntry& find_task(const std::string& id);

// Files of envs/assets, embedded in the library (generated). Throws Error on an unknown name.
std::string_view asset(std::string_view name);

// The parts of the registry, one file each.
void add_gymnasium_tasks(std::vector<TaskEntry>& tasks);
void add_locomotion_tasks(std::vector<TaskEntry>& tasks);
void add_go2_tasks(std::vector<TaskEntry>& tasks);
void add_manipulation_tasks(std::vector<TaskEntry>& tasks);

}  // namespace stiction::env
