// What the kernels of a step execute, as JSON on the standard output; bench/gpu_counts.py makes tables
// of it.
//
//   ptx_counts MODEL.xml STATE ENVS OPTIONS STEPS [LINES]
//
// LINES: a folder for the PTX of the kernels, before each line how many warps have executed it, and cycles that
// they spent there.
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
#include "cuda/ptx/kernel_times.h"
#include "cuda/switches.h"
#include "stiction/batch.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using nlohmann::json;

using ptx::first_cache, ptx::kSecondCache;
constexpr std::uint64_t kAllEnvs = 8192;

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
  const auto name = [](cuda::Group group) {
    for (const cuda::GroupName& g : cuda::kGroups)
      if (g.group == group) return std::string(g.name);
    return std::string();
  };
  std::string names = name(solves);
  if (solves != cuda::Group::thread && solves != cuda::Group::block)
    names += "," + name(groups[cuda::Kernel::refresh]);
  setenv("STICTION_CUDA_GROUP", names.c_str(), 1);
  constexpr int kMultiprocessors = 132;
  const int lanes = cuda::lanes_of(solves);
  if (lanes > 1 && lanes <= physics::kWarp) {
    const int warps = cuda::step_warps_of(lanes, static_cast<int>(kAllEnvs), kMultiprocessors);
    setenv("STICTION_CUDA_STEP_WARPS", std::to_string(warps).c_str(), 0);
  }
}

// STICTION_PTX_LATENCIES: JSON, names as in Latencies; what is not named is as there.
ptx::Latencies latencies() {
  ptx::Latencies l;
  const std::map<std::string, double*> names = {{"ghz", &l.ghz},
                                                {"arithmetic", &l.arithmetic},
                                                {"shared", &l.shared},
                                                {"first_cache", &l.first_cache},
                                                {"second_cache", &l.second_cache},
                                                {"memory", &l.memory},
                                                {"taken", &l.taken},
                                                {"fetch", &l.fetch},
                                                {"more", &l.more},
                                                {"second_cache_tb", &l.second_cache_tb},
                                                {"memory_tb", &l.memory_tb},
                                                {"launch", &l.launch}};
  const char* const text = std::getenv("STICTION_PTX_LATENCIES");
  if (text == nullptr) return l;
  const json given = json::parse(text);
  for (const auto& [name, value] : given.items()) {
    const auto known = names.find(name);
    if (known == names.end()) throw ArgumentError("unknown latency " + name);
    *known->second = value.get<double>();
  }
  return l;
}

json to_json(const ptx::KernelTimes::Kernel& k) {
  const double n = std::max(1, k.multiprocessors);
  json found = {{"us", k.us / std::max(1, k.launches)},
                {"us_most", k.us_most / std::max(1, k.launches)},
                {"cycles", k.timed.cycles / n},
                {"issued", k.timed.issued / n},
                {"issue_share", k.timed.issued / k.timed.slots},
                {"code_bytes", k.code}};
  for (std::size_t what = 0; what < k.timed.spent.size(); ++what) {
    found["spent"][ptx::kSpentNames[what]] = k.timed.spent[what] / n;
    found["last"][ptx::kSpentNames[what]] = k.timed.last[what];
  }
  return found;
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

// Sums over the instructions of each line.
template <class T>
std::map<int, T> of_lines(const ptx::Module& module, const std::vector<T>& by_instruction) {
  std::map<int, T> sums;
  for (std::size_t k = 0; k < by_instruction.size(); ++k)
    sums[module.code()[k].line] += by_instruction[k];
  return sums;
}

void write_lines(const ptx::Counter& counter, const ptx::KernelTimes& times,
                 const std::string& folder) {
  std::map<const ptx::Module*, std::vector<double>> cycles;
  for (const auto& [name, kernel] : times.kernels())
    for (const auto& [module, spent] : kernel.cycles) {
      std::vector<double>& sum = cycles[module];
      sum.resize(module->code().size());
      for (std::size_t k = 0; k < spent.size(); ++k) sum[k] += spent[k] / kernel.launches;
    }
  int number = 0;
  for (const auto& [module, executed] : counter.executed()) {
    auto times_of = of_lines(*module, executed);
    auto cycles_of = of_lines(*module, cycles[module]);
    std::ofstream out(folder + "/" + std::to_string(number++) + ".ptx");
    std::istringstream text(module->text());
    std::string line;
    for (int k = 1; std::getline(text, line); ++k)
      out << times_of[k] << '\t' << cycles_of[k] << '\t' << line << '\n';
  }
}

// Of a kernel; of those that `step` has the one that a launch has alone, else `step`.
std::string name_of(const ptx::Launching& l) {
  if (l.kernel.find("step_by_tiles") == std::string::npos) return l.kernel;
  const auto kernels = static_cast<const cuda::Launch*>(l.arguments[0])->kernels;
  constexpr const char* kNames[] = {"dynamics", "collide", "solve", "move"};
  for (int k = 0; k < cuda::kStepKernels; ++k)
    if (kernels == 1u << k) return kNames[k];
  return "step";
}

// What steps execute, by kernels.
struct Counted {
  std::map<std::string, ptx::Counts> kernels;
  ptx::KernelTimes times;
};

// Of calls of so many steps each, from a state; a step from there fills the second cache before.
template <class F>
Counted count(Batch& b, const char* state, int num_envs, int calls, int steps, const char* lines,
              const F& after) {
  ptx::Machine& card = ptx::machine();
  ptx::Counter counter;
  ptx::Trace trace;
  Counted c{{}, {latencies(), num_envs, static_cast<int>(kAllEnvs)}};
  std::string running;
  const auto keep = [&] {
    if (!running.empty()) c.kernels[running] = counter.counts;
  };
  ptx::Launching how;
  bool warm = false;
  ptx::watch_launches([&](const ptx::Launching& l) {
    if (warm) keep();
    how = l, how.kernel = name_of(l);
    trace.clear();
    running = how.kernel, counter.counts = warm ? c.kernels[running] : ptx::Counts{};
    const auto blocks = static_cast<std::uint64_t>(std::max(1, l.resident_blocks));
    counter.resize(first_cache(l.shared_bytes) / blocks,
                   kSecondCache * static_cast<std::uint64_t>(num_envs) / kAllEnvs);
  });
  card.counter = &counter;
  counter.trace = &trace;
  card.launched = [&](const ptx::Module& m, const ptx::Function& f, const ptx::LaunchSize& size) {
    c.times.add(how, m, f, size, trace, warm);
  };
  b.load(state);
  b.step();
  b.load(state);
  b.clear_counts();
  counter.clear_executed();
  warm = true;
  for (int k = 0; k < calls; ++k) {
    b.step(steps);
    after();
  }
  card.counter = nullptr, card.launched = nullptr;
  ptx::watch_launches(nullptr);
  keep();
  if (lines != nullptr) write_lines(counter, c.times, lines);
  return c;
}

// The kernels of each step launched one by one, then of all steps at once.
int run(const char* file, const char* state, int num_envs, const char* options, int steps,
        const char* lines) {
  const ModelPtr model = load_model(file);
  BatchOptions o;
  o.options = options_of(json::parse(options));
  o.device = "cuda";
  o.num_envs = num_envs;
  choose_groups(*model, o.options);
  const auto batch = [&](const char* whole_steps) {
    setenv("STICTION_CUDA_STEP", whole_steps, 1);
    return Batch(model, o);
  };

  Batch single = batch("0");
  json iterations = json::array();
  const Counted each = count(single, state, num_envs, steps, 1, nullptr, [&] {
    const ArrayView niter = single.field("solver_niter");
    const float* const of_env = static_cast<const float*>(niter.data);
    iterations.push_back(std::vector<float>(of_env, of_env + num_envs));
  });
  const SolverCounts c = single.counts();
  json result = {
      {"envs", num_envs},
      {"steps", steps},
      {"points", static_cast<double>(c.contacts) / static_cast<double>(c.env_steps)},
      {"iterations", static_cast<double>(c.iterations) / static_cast<double>(c.env_steps)},
      {"iterations_of_steps", iterations},  // of each environment
      {"frozen", single.status_count()},
      {"state_hash", std::to_string(single.state_hash())},
      {"threads", json::object()},
      {"kernels", json::object()}};
  for (const KernelInfo& k : single.kernels()) result["threads"][k.name] = k.threads_per_env;
  const auto write = [&](const Counted& counted) {
    for (const auto& [name, counts] : counted.kernels) result["kernels"][name] = to_json(counts);
    for (const auto& [name, kernel] : counted.times.kernels())
      result["times"][name] = to_json(kernel);
  };
  Batch whole = batch("1");
  write(count(whole, state, num_envs, 1, steps, lines, [] {}));
  if (whole.state_hash() != single.state_hash())
    throw Error("other bits by kernels one by one than by whole steps");
  write(each);
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
