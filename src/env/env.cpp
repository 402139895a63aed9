#include "stiction/env.h"

#include <algorithm>
#include <limits>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

TaskInfo describe(const env::TaskEntry& e, const env::TaskOptions& options,
                  const env::TaskRunner& runner) {
  return {.id = e.id,
          .summary = e.summary,
          .num_obs = runner.num_obs,
          .num_actions = runner.num_actions,
          .max_episode_steps = e.max_episode_steps,
          .reward_threshold = e.reward_threshold,
          .frame_skip = options.count("frame_skip"),
          .metrics = runner.setup.metrics,
          .options = options.all(),
          .engine = e.engine};
}

BatchOptions batch_options(const env::TaskEntry& e, const EnvOptions& o) {
  BatchOptions b;
  b.num_envs = o.num_envs;
  b.options = o.engine.value_or(e.engine);
  b.precision = o.precision;
  if (o.threads != 0) b.threads = o.threads;
  b.device = o.device;
  b.stream = o.stream;
  return b;
}

envs::EpisodeArrays shape_of(const env::TaskRunner& r, const EnvOptions& o) {
  static_assert(static_cast<int>(envs::Begin::same_step) == static_cast<int>(Autoreset::same_step));
  static_assert(static_cast<int>(envs::Begin::next_step) == static_cast<int>(Autoreset::next_step));
  static_assert(static_cast<int>(envs::Begin::disabled) == static_cast<int>(Autoreset::disabled));
  envs::EpisodeArrays a{};
  a.num_obs = r.num_obs, a.num_actions = r.num_actions, a.num_metrics = r.num_metrics;
  const int number = o.precision == Precision::float64 ? 8 : 4;
  a.memory_bytes = r.num_memory * number, a.kept_bytes = r.num_kept * number;
  a.begin = static_cast<envs::Begin>(o.autoreset);
  return a;
}

BatchMemory with_episodes(BatchMemory m, std::size_t episodes, const EnvOptions& o) {
  m.per_env += episodes / at(o.num_envs);
  (o.device == "cpu" ? m.total : m.device) += episodes;
  return m;
}

}  // namespace

// Includes everything except blocks of per-environment parameters, which the threads of a CPU hold.
BatchMemory env_memory(const std::string& id, const EnvOptions& o) {
  const env::TaskEntry& e = env::find_task(id);
  const env::TaskOptions options(id, e.options, o.task);
  const env::TaskModel source = env::model_of(e, options);
  const ModelPtr model = load_model_from_string(source.xml, source.assets);
  const auto runner = e.make(options, *model);
  BatchMemory m = memory_with_task(*model, batch_options(e, o), runner->kind);
  for (const FieldInfo& f : Batch::fields(*model)) {
    const auto& own = runner->setup.own;
    if (std::find(own.begin(), own.end(), f.name) == own.end()) continue;
    const std::size_t number = f.wide || o.precision == Precision::float64 ? 8 : 4;
    const std::size_t row = number * at(f.rows) * at(f.columns);
    // the rows, and copies of those that last passed the check
    m.per_env += row, m.total += 2 * row * at(o.num_envs);
    if (o.device != "cpu") m.device += row * at(o.num_envs);
  }
  return with_episodes(m, env::EpisodeMemory(o.num_envs, shape_of(*runner, o)).bytes(), o);
}
BatchMemory Env::memory() const {
  return with_episodes(impl_->batch.memory(), impl_->layout.bytes(), impl_->given);
}

Env::Env(const std::string& id, const EnvOptions& options)
    : impl_(std::make_unique<Impl>(id, options)) {}
Env::~Env() = default;
Env::Env(Env&&) noexcept = default;
Env& Env::operator=(Env&&) noexcept = default;

Env::Impl::Impl(const std::string& id, const EnvOptions& o)
    : entry(env::find_task(id)),
      given(o),
      task_options(id, entry.options, o.task),
      source(env::model_of(entry, task_options)),
      model(load_model_from_string(source.xml, source.assets, &report)),
      runner(entry.make(task_options, *model)),
      info(describe(entry, task_options, *runner)),
      action_low(runner->setup.action_low),
      action_high(runner->setup.action_high),
      batch(model, batch_options(entry, o)),
      layout(o.num_envs, shape_of(*runner, o)) {
  if (o.max_episode_steps < -1)
    throw ArgumentError("max_episode_steps = " + std::to_string(o.max_episode_steps) +
                        ": must be >= 0 (0: without limit)");
  if (o.max_episode_steps >= 0) info.max_episode_steps = o.max_episode_steps;
  dt = *batch.options().timestep * info.frame_skip;
  if (action_low.empty()) {
    for (int i = 0; i < runner->num_actions; ++i) {
      const bool limited = model->actuator_ctrllimited[at(i)] != 0;
      const float inf = std::numeric_limits<float>::infinity();
      action_low.push_back(limited ? static_cast<float>(model->actuator_ctrlrange[at(2 * i)])
                                   : -inf);
      action_high.push_back(limited ? static_cast<float>(model->actuator_ctrlrange[at(2 * i + 1)])
                                    : inf);
    }
  }
  for (const std::string& name : runner->setup.own) batch.param(name);

  Batch::Impl& e = engine();
  if (e.device != nullptr) {
    device = e.device->episodes({.kind = runner->kind,
                                 .task = runner->plain_task(),
                                 .num_actions = info.num_actions,
                                 .frame_skip = info.frame_skip,
                                 .bytes = layout.bytes()});
  } else {
    memory = cpu::Buffer(layout.bytes());
  }
  for (int set = 0; set < DeviceEpisodes::kSets; ++set) {
    envs::EpisodeArrays& a = sets[at(set)];
    a = layout.arrays(device != nullptr ? device->memory() : memory.data(), set);
    a.dt = dt, a.max_steps = info.max_episode_steps;
    a.status = e.status_arrays();
  }
  if (device != nullptr) device->bind(sets);
  ids.reserve(at(num_envs()));
  pace = cpu::Pace(e.pool->size());

  std::vector<std::uint64_t> seeds(at(num_envs()));
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = o.seed + i;
  write(current().seed, seeds.data(), seeds.size() * sizeof seeds[0]);
  reset(all_ids(num_envs()));  // `begun` is false: starts with episode 0
  begun = false;
}

std::vector<TaskInfo> Env::tasks() {
  std::vector<TaskInfo> list;
  for (const env::TaskEntry& e : env::registry()) {
    const env::TaskOptions options(e.id, e.options, {});
    const ModelPtr m = load_model_from_string(std::string(env::asset(e.asset(options))));
    list.push_back(describe(e, options, *e.make(options, *m)));
  }
  return list;
}

const TaskInfo& Env::info() const {
  return impl_->info;
}
Batch& Env::batch() {
  return impl_->batch;
}
ModelPtr Env::model() const {
  return impl_->engine().model;
}
const std::string& Env::model_xml() const {
  return impl_->source.xml;
}
const Assets& Env::model_assets() const {
  return impl_->source.assets;
}
const LoadReport& Env::load_report() const {
  return impl_->report;
}
Autoreset Env::autoreset() const {
  return impl_->given.autoreset;
}
int Env::num_envs() const {
  return impl_->num_envs();
}
double Env::dt() const {
  return impl_->dt;
}
std::span<const float> Env::action_low() const {
  return impl_->action_low;
}
std::span<const float> Env::action_high() const {
  return impl_->action_high;
}
std::uint64_t Env::steps() const {
  return impl_->steps;
}

void Env::reset() {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->reset(all_ids(num_envs()));
}
void Env::reset(std::span<const int> ids) {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->engine().check_ids(ids, true);
  impl_->reset(ids);
}
void Env::seed(std::uint64_t seed) {
  std::vector<std::uint64_t> seeds(at(num_envs()));
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = seed + i;
  this->seed(all_ids(num_envs()), seeds);
}
void Env::seed(std::span<const int> ids, std::span<const std::uint64_t> seeds) {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->engine().check_ids(ids, true);
  if (ids.size() != seeds.size())
    throw ArgumentError("seeds has " + std::to_string(seeds.size()) + " numbers for " +
                        std::to_string(ids.size()) + " environments");
  std::vector<std::uint64_t> seed(at(num_envs()));
  std::vector<std::uint32_t> episode(at(num_envs()));
  const envs::EpisodeArrays& a = impl_->current();
  impl_->read(seed.data(), a.seed, seed.size() * sizeof seed[0]);
  impl_->read(episode.data(), a.episode, episode.size() * sizeof episode[0]);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    seed[at(ids[k])] = seeds[k];
    episode[at(ids[k])] = ~std::uint32_t{0};  // the next one is 0
  }
  impl_->write(a.seed, seed.data(), seed.size() * sizeof seed[0]);
  impl_->write(a.episode, episode.data(), episode.size() * sizeof episode[0]);
}

void Env::step(std::span<const float> actions) {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->check_actions(actions.size());
  impl_->step(actions.data(), false, nullptr);
}
void Env::step(std::span<const float> actions, const std::function<void()>& physics) {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->check_actions(actions.size());
  impl_->step(actions.data(), false, &physics);
}
void Env::step(const ArrayView& actions, const std::function<void()>* physics) {
  const Visit visit(impl_->engine().guard, Inside::env);
  if (actions.dtype != DType::float32) throw ArgumentError("actions: must be float32");
  impl_->check_actions(static_cast<std::size_t>(actions.size()));
  if (actions.data == nullptr) throw ArgumentError("actions: a null pointer");
  const std::string here = impl_->batch.device();
  if (actions.device != "cpu" && actions.device != here)
    throw ArgumentError("actions: on " + actions.device + ", the environments are on " + here);
  impl_->step(static_cast<const float*>(actions.data), actions.device != "cpu", physics);
}
void Env::observe() {
  const Visit visit(impl_->engine().guard, Inside::env);
  impl_->observe();
}

// On the CPU users may write into results.
ArrayView Env::Impl::view(const char* name, const void* data, DType dtype, int columns) const {
  ArrayView v;
  v.name = name, v.data = const_cast<void*>(data), v.dtype = dtype;
  v.ndim = columns < 0 ? 1 : 2;
  v.shape = {num_envs(), columns < 0 ? 1 : columns, 1};
  v.device = batch.device(), v.writable = device == nullptr;
  return v;
}

ArrayView Env::obs() {
  return impl_->view("obs", impl_->current().obs, DType::float32, impl_->info.num_obs);
}
ArrayView Env::reward() {
  return impl_->view("reward", impl_->current().reward, DType::float32, -1);
}
ArrayView Env::terminated() {
  return impl_->view("terminated", impl_->current().terminated, DType::uint8, -1);
}
ArrayView Env::truncated() {
  return impl_->view("truncated", impl_->current().truncated, DType::uint8, -1);
}
ArrayView Env::final_obs() {
  return impl_->view("final_obs", impl_->current().final_obs, DType::float32, impl_->info.num_obs);
}
ArrayView Env::metrics() {
  return impl_->view("metrics", impl_->current().metrics, DType::float32,
                     impl_->runner->num_metrics);
}
ArrayView Env::episode_length() {
  ArrayView v = impl_->view("episode_length", impl_->current().length, DType::int32, -1);
  v.writable = true;
  return v;
}
ArrayView Env::episode_return() {
  return impl_->view("episode_return", impl_->current().episode_return, DType::float32, -1);
}
ArrayView Env::final_episode_length() {
  return impl_->view("final_episode_length", impl_->current().final_length, DType::int32, -1);
}
ArrayView Env::final_episode_return() {
  return impl_->view("final_episode_return", impl_->current().final_return, DType::float32, -1);
}

}  // namespace stiction
