#include "env/registry.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "names.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::env {
namespace {

std::string text_of(const TaskOption& value) {
  std::ostringstream s;
  if (const auto* flag = std::get_if<bool>(&value)) s << (*flag ? "true" : "false");
  if (const auto* number = std::get_if<double>(&value)) s << *number;
  if (const auto* text = std::get_if<std::string>(&value)) s << "'" << visible(*text) << "'";
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    s << "(";
    for (std::size_t i = 0; i < list->size(); ++i) s << (i > 0 ? ", " : "") << (*list)[i];
    s << ")";
  }
  return s.str();
}

const char* type_of(const TaskOption& value) {
  constexpr const char* kTypes[] = {"true or false", "a number", "a string", "a list of numbers"};
  return kTypes[value.index()];
}

[[noreturn]] void refuse(const std::string& id, const std::string& name, const TaskOption& value,
                         const std::string& range) {
  throw ArgumentError(id + ": " + name + " = " + text_of(value) + ": must be " + range);
}

}  // namespace

TaskOptions::TaskOptions(const std::string& id, const std::vector<TaskOptionInfo>& defaults,
                         const std::map<std::string, TaskOption>& given)
    : id_(id), options_(defaults) {
  for (const auto& [name, value] : given) {
    const auto it = std::find_if(options_.begin(), options_.end(),
                                 [&, n = name](const auto& o) { return o.name == n; });
    if (it == options_.end()) {
      std::vector<std::string> names;
      for (const TaskOptionInfo& o : options_) names.push_back(o.name);
      for (const char* own : {"num_envs", "device", "threads", "seed", "precision", "autoreset",
                              "max_episode_steps", "options", "stream"})
        names.emplace_back(own);  // options of EnvOptions, by their names in Python
      std::string message = id;
      message.append(" has no option '").append(visible(name)).append("'");
      throw ArgumentError(message += nearest_names(names, name));
    }
    if (it->value.index() != value.index()) refuse(id, name, value, type_of(it->value));
    it->value = value;
  }
}

const TaskOption& TaskOptions::find(const std::string& name) const {
  for (const TaskOptionInfo& o : options_)
    if (o.name == name) return o.value;
  throw Error(id_ + " declares no option '" + name + "'");
}
bool TaskOptions::flag(const std::string& name) const {
  return std::get<bool>(find(name));
}
double TaskOptions::number(const std::string& name) const {
  const double x = std::get<double>(find(name));
  if (!std::isfinite(x)) refuse(id_, name, x, "finite");
  return x;
}
double TaskOptions::not_negative(const std::string& name) const {
  const double x = number(name);
  if (x < 0) refuse(id_, name, x, ">= 0");
  return x;
}
int TaskOptions::count(const std::string& name) const {
  const double x = number(name);
  if (x < 1 || x > 1e6 || x != std::floor(x)) refuse(id_, name, x, "a whole number >= 1");
  return static_cast<int>(x);
}
const std::string& TaskOptions::text(const std::string& name) const {
  return std::get<std::string>(find(name));
}
const std::string& TaskOptions::choice(const std::string& name,
                                       const std::vector<std::string>& of) const {
  const std::string& chosen = text(name);
  if (std::find(of.begin(), of.end(), chosen) != of.end()) return chosen;
  std::string list;
  for (const std::string& s : of) list += (list.empty() ? "'" : ", '") + s + "'";
  refuse(id_, name, chosen, "one of " + list);
}
std::pair<double, double> TaskOptions::range(const std::string& name) const {
  const std::vector<double>& x = list(name, 2);
  if (!(x[0] < x[1])) refuse(id_, name, x, "(low, high) with low < high");
  return {x[0], x[1]};
}
const std::vector<double>& TaskOptions::list(const std::string& name, std::size_t size) const {
  const auto& x = std::get<std::vector<double>>(find(name));
  const bool numbers = std::none_of(x.begin(), x.end(), [](double a) { return std::isnan(a); });
  if (x.size() != size || !numbers) refuse(id_, name, x, std::to_string(size) + " numbers");
  return x;
}

Options legged_engine() {
  Options o;
  o.stiction = Stiction::anchored;
  o.stiction_tolerance = 1e-3;
  o.regularization = 1e-2;
  return o;
}

const std::vector<TaskEntry>& registry() {
  static const std::vector<TaskEntry> tasks = [] {
    std::vector<TaskEntry> t;
    add_gymnasium_tasks(t);
    add_locomotion_tasks(t);
    add_go2_tasks(t);
    add_manipulation_tasks(t);
    for (TaskEntry& e : t)
      e.options.push_back(
          {"frame_skip", "physics steps per control step", static_cast<double>(e.frame_skip)});
    return t;
  }();
  return tasks;
}

TaskModel model_of(const TaskEntry& entry, const TaskOptions& options) {
  TaskModel m{std::string(asset(entry.asset(options))), {}};
  if (entry.furnish != nullptr) entry.furnish(options, m);
  return m;
}

const TaskEntry& find_task(const std::string& id) {
  std::vector<std::string> names;
  for (const TaskEntry& e : registry()) {
    if (e.id == id) return e;
    names.push_back(e.id);
  }
  throw ArgumentError("no task '" + visible(id) + "'" + nearest_names(names, id));
}

}  // namespace stiction::env
