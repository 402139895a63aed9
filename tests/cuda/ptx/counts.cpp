// What the kernels of a step execute, as JSON on the standard output; bench/gpu_counts.py makes tables
// of it.
//
//   ptx_counts MODEL.xml STATE ENVS OPTIONS STEPS [LINES]
//
// LINES: a folder for the PTX of the kernels, before each line how many warps have executed it.
// The groups are what the rule gives for kAllEnvs, or STICTION_CUDA_GROUP.
// STATE: a file of Batch::save of so many environments. OPTIONS: JSON, names and
// words as in Python. Each step is counted with the refresh that follows it.
//
// Caches: a block has its share of what the shared memory of the resident blocks leaves of a
// multiprocessor's 256 KiB, the environments their share of the second cache, of kSecondCache for
// kAllEnvs. Both replace the line that was not used for longest; stores go through the first one and
// stay in the second one.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cpu/host_model.h"
#include "cuda/ptx/card.h"
#include "cuda/switches.h"
#include "stiction/batch.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using nlohmann::json;

constexpr std::uint64_t kFirstCache = 256 << 10, kSecondCache = 50 << 20, kAllEnvs = 8192;

// The shared memory of a multiprocessor comes in these sizes; the rest is first cache.
std::uint64_t first_cache(std::size_t shared) {
  for (const std::uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228})
    if (shared <= kib << 10) return kFirstCache - (kib << 10);
  return kFirstCache - (228 << 10);
}

template <class T, class... Words>
T word_of(const std::string& word, T first, const Words&... words) {
  int k = 0, found = -1;
  for (const char* known : {words...}) {
    if (word == known) found = k;
    ++k;
  }
  if (found < 0) throw ArgumentError("unknown word '" + word + "' in the options");
  return static_cast<T>(static_cast<int>(first) + found);
}

Options options_of(const json& given) {
  Options o;
  for (const auto& [name, value] : given.items()) {
    if (name == "contact_model")
      o.contact_model = word_of(value, ContactModel::lagged, "lagged", "similar", "sap");
    else if (name == "stiction")
      o.stiction = word_of(value, Stiction::regularized, "regularized", "anchored");
    else if (name == "friction_iterations")
      o.friction_iterations = value == "auto" ? kAutoFriction : value.get<int>();
    else if (name == "stiction_tolerance")
      o.stiction_tolerance = value;
    else if (name == "regularization")
      o.regularization = value;
    else if (name == "near_rigid")
      o.near_rigid = value;
    else if (name == "timestep")
      o.timestep = value;
    else if (name == "solver_tolerance")
      o.solver_tolerance = value;
    else if (name == "max_iterations")
      o.max_iterations = value;
    else
      throw ArgumentError("unknown option " + name);
  }
  return o;
}

void choose_groups(const Model& model, const Options& given) {
  BatchOptions o;
  o.options = given;
  const Batch resolved(std::make_shared<Model>(model), o);
  const cpu::HostModel host(model, resolved.options(), true);
  const cuda::Groups groups =
      cuda::groups_of(host.view(), cuda::group_switch(), static_cast<int>(kAllEnvs));
  const cuda::Group solves = groups[cuda::Kernel::solve];
  std::string names;
  for (const cuda::Group group : groups.of)
    for (const cuda::GroupName& g : cuda::kGroups)
      if (g.group == group) names += (names.empty() ? "" : ",") + std::string(g.name);
  // a thread and a block are those of the whole step
  if (solves == cuda::Group::thread) names = "thread";
  if (solves == cuda::Group::block) names = "block";
  setenv("STICTION_CUDA_GROUP", names.c_str(), 1);
}

json to_json(const ptx::Counts& c) {
  return {{"launches", c.launches},
          {"warp_instructions", c.warp_instructions},
          {"lane_instructions", c.lane_instructions},
          {"divergent", c.divergent},
          {"global_requests", c.global_requests},
          {"global_sectors", c.global_sectors},
          {"local_requests", c.local_requests},
          {"local_sectors", c.local_sectors},
          {"shared_requests", c.shared_requests},
          {"shared_waves", c.shared_waves},
          {"l2_sectors", c.l2_sectors},
          {"hbm_sectors", c.hbm_sectors}};
}

void write_lines(const ptx::Counter& counter, const std::string& folder) {
  int number = 0;
  for (const auto& [module, times] : counter.executed()) {
    std::map<int, std::uint64_t> of_line;
    for (std::size_t k = 0; k < times.size(); ++k) of_line[module->code()[k].line] += times[k];
    std::ofstream out(folder + "/" + std::to_string(number++) + ".ptx");
    std::istringstream text(module->text());
    std::string line;
    for (int k = 1; std::getline(text, line); ++k) out << of_line[k] << '\t' << line << '\n';
  }
}

int run(const char* file, const char* state, int num_envs, const char* options, int steps,
        const char* lines) {
  const ModelPtr model = load_model(file);
  BatchOptions o;
  o.options = options_of(json::parse(options));
  o.device = "cuda";
  o.num_envs = num_envs;
  choose_groups(*model, o.options);
  Batch b(model, o);
  b.load(state);
  b.clear_counts();

  ptx::Machine& card = ptx::machine();
  ptx::Counter counter;
  const auto envs = static_cast<std::uint64_t>(o.num_envs);
  std::map<std::string, ptx::Counts> kernels;
  std::string running;
  const auto keep = [&] {
    if (!running.empty()) kernels[running] = counter.counts;
  };
  ptx::watch_launches([&](const ptx::Launching& l) {
    keep();
    running = l.kernel, counter.counts = kernels[running];
    const auto blocks = static_cast<std::uint64_t>(std::max(1, l.resident_blocks));
    counter.resize(first_cache(l.shared_bytes) / blocks, kSecondCache * envs / kAllEnvs);
  });
  card.counter = &counter;
  json iterations = json::array();
  for (int k = 0; k < steps; ++k) {
    b.step();
    const ArrayView niter = b.field("solver_niter");
    const float* const of_env = static_cast<const float*>(niter.data);
    iterations.push_back(std::vector<float>(of_env, of_env + num_envs));
  }
  card.counter = nullptr;
  ptx::watch_launches(nullptr);
  keep();
  if (lines != nullptr) write_lines(counter, lines);

  const SolverCounts c = b.counts();
  json result = {
      {"envs", envs},
      {"steps", steps},
      {"points", static_cast<double>(c.contacts) / static_cast<double>(c.env_steps)},
      {"iterations", static_cast<double>(c.iterations) / static_cast<double>(c.env_steps)},
      {"iterations_of_steps", iterations},  // of each environment
      {"frozen", b.status_count()},
      {"state_hash", std::to_string(b.state_hash())},
      {"threads", json::object()},
      {"kernels", json::object()}};
  for (const auto& [name, counts] : kernels) result["kernels"][name] = to_json(counts);
  for (const KernelInfo& k : b.kernels()) result["threads"][k.name] = k.threads_per_env;
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace stiction

int main(int argc, char** argv) try {
  if (argc != 6 && argc != 7)
    throw stiction::ArgumentError("usage: ptx_counts MODEL.xml STATE ENVS OPTIONS STEPS [LINES]");
  return stiction::run(argv[1], argv[2], std::atoi(argv[3]), argv[4], std::atoi(argv[5]),
                       argc == 7 ? argv[6] : nullptr);
} catch (const std::exception& e) {
  std::fprintf(stderr, "ptx_counts: %s\n", e.what());
  return 1;
}
