#include "stiction/env.h"

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

TaskInfo describe(const env::TaskEntry& e, const env::TaskOptions& options,
                  const env::TaskRunner& runner) {
  return {.id = e.id,
          .summary = e.summary,
          .nobs = runner.nobs,
          .naction = runner.naction,
          .max_episode_steps = e.max_episode_steps,
          .frame_skip = options.count("frame_skip"),
          .metrics = runner.setup.metrics,
          .options = options.all()};
}

BatchOptions batch_options(const EnvOptions& o) {
  BatchOptions b;
  b.num_envs = o.num_envs;
  b.options = o.engine;
  b.precision = o.precision;
  if (o.threads != 0) b.threads = o.threads;
  b.seed = o.seed;
  return b;
}

}  // namespace

Env::Env(const std::string& id, const EnvOptions& options)
    : impl_(std::make_unique<Impl>(id, options)) {}
Env::~Env() = default;
Env::Env(Env&&) noexcept = default;
Env& Env::operator=(Env&&) noexcept = default;

Env::Impl::Impl(const std::string& id, const EnvOptions& o)
    : entry(env::find_task(id)),
      given(o),
      task_options(id, entry.options, o.task),
      xml(env::asset(entry.asset(task_options))),
      model(load_model_from_string(xml, &report)),
      runner(entry.make(task_options, *model)),
      info(describe(entry, task_options, *runner)),
      action_low(runner->setup.action_low),
      action_high(runner->setup.action_high),
      batch(model, batch_options(o)) {
  if (o.max_episode_steps < -1)
    throw ArgumentError("max_episode_steps = " + std::to_string(o.max_episode_steps) +
                        ": must be >= 0 (0: without limit)");
  if (o.max_episode_steps >= 0) info.max_episode_steps = o.max_episode_steps;
  dt = *batch.options().timestep * info.frame_skip;
  if (action_low.empty()) {
    for (int i = 0; i < runner->naction; ++i) {
      const bool limited = model->actuator_ctrllimited[at(i)] != 0;
      const float inf = std::numeric_limits<float>::infinity();
      action_low.push_back(limited ? static_cast<float>(model->actuator_ctrlrange[at(2 * i)])
                                   : -inf);
      action_high.push_back(limited ? static_cast<float>(model->actuator_ctrlrange[at(2 * i + 1)])
                                    : inf);
    }
  }
  for (const std::string& name : runner->setup.own) batch.param(name);

  const std::size_t n = at(num_envs());
  memory = cpu::Buffer(n * memory_bytes());
  action.resize(n * at(info.naction));
  seeds.resize(n), episode.resize(n), length.resize(n), final_length.resize(n);
  sum.resize(n), episode_return.resize(n), final_return.resize(n), ended.resize(n);
  ids.reserve(n);
  for (EnvResults& r : results) {
    r.obs.resize(n * at(info.nobs)), r.final_obs.resize(n * at(info.nobs));
    r.metrics.resize(n * at(runner->nmetric));
    r.reward.resize(n), r.terminated.resize(n), r.truncated.resize(n);
  }
  std::vector<int> all(n);
  for (std::size_t i = 0; i < n; ++i) seeds[i] = o.seed + i, all[i] = static_cast<int>(i);
  episode.assign(n, ~std::uint32_t{0});
  begin_episodes(all);
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
  return impl_->model;
}
const std::string& Env::model_xml() const {
  return impl_->xml;
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
  std::vector<int> all(at(num_envs()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  impl_->reset(all);
}
void Env::reset(std::span<const int> ids) {
  impl_->engine().check_ids(ids, true);
  impl_->reset(ids);
}
void Env::seed(std::uint64_t seed) {
  for (std::size_t i = 0; i < impl_->seeds.size(); ++i) impl_->seeds[i] = seed + i;
  impl_->episode.assign(impl_->episode.size(), ~std::uint32_t{0});
}
void Env::seed(std::span<const int> ids, std::span<const std::uint64_t> seeds) {
  impl_->engine().check_ids(ids, true);
  if (ids.size() != seeds.size())
    throw ArgumentError("seeds has " + std::to_string(seeds.size()) + " numbers for " +
                        std::to_string(ids.size()) + " environments");
  for (std::size_t k = 0; k < ids.size(); ++k) {
    impl_->seeds[at(ids[k])] = seeds[k];
    impl_->episode[at(ids[k])] = ~std::uint32_t{0};
  }
}
void Env::step(std::span<const float> actions) {
  // one pointer: kept within the function object, without an allocation
  impl_->step(actions, [i = impl_.get()] { i->batch.step(i->info.frame_skip); });
}
void Env::step(std::span<const float> actions, const std::function<void()>& physics) {
  impl_->step(actions, physics);
}
void Env::observe() {
  impl_->observe();
}

ArrayView Env::Impl::view(const char* name, void* data, DType dtype, int columns) const {
  ArrayView v;
  v.name = name, v.data = data, v.dtype = dtype;
  v.ndim = columns < 0 ? 1 : 2;
  v.shape = {num_envs(), columns < 0 ? 1 : columns, 1};
  return v;
}

ArrayView Env::obs() {
  return impl_->view("obs", impl_->current().obs.data(), DType::float32, impl_->info.nobs);
}
ArrayView Env::reward() {
  return impl_->view("reward", impl_->current().reward.data(), DType::float32, -1);
}
ArrayView Env::terminated() {
  return impl_->view("terminated", impl_->current().terminated.data(), DType::uint8, -1);
}
ArrayView Env::truncated() {
  return impl_->view("truncated", impl_->current().truncated.data(), DType::uint8, -1);
}
ArrayView Env::final_obs() {
  return impl_->view("final_obs", impl_->current().final_obs.data(), DType::float32,
                     impl_->info.nobs);
}
ArrayView Env::metrics() {
  return impl_->view("metrics", impl_->current().metrics.data(), DType::float32,
                     impl_->runner->nmetric);
}
ArrayView Env::episode_length() {
  return impl_->view("episode_length", impl_->length.data(), DType::int32, -1);
}
ArrayView Env::episode_return() {
  return impl_->view("episode_return", impl_->episode_return.data(), DType::float32, -1);
}
ArrayView Env::final_episode_length() {
  return impl_->view("final_episode_length", impl_->final_length.data(), DType::int32, -1);
}
ArrayView Env::final_episode_return() {
  return impl_->view("final_episode_return", impl_->final_return.data(), DType::float32, -1);
}

}  // namespace stiction
