// Physics steps per second of a Batch on a device, for machines that have a driver and nothing else:
// no Python, no toolkit. Robots move in contact under smooth controls or white noise, new ones before
// every call.
//
//   bench_device [--device cuda] [--motion smooth|noise|both] [--envs 256,1024] [--calls 25]
//                [--rounds 5] [--settle SECONDS] [--limit SECONDS] [--json FILE]
//                [--linear-solver cholesky|cusolver] [--friction-iterations N|auto] MODEL...
//
// All models at one number of environments come before the next number. The file is written after
// every row, and one that fails has an "error"; none begins after the limit. With
// STICTION_CUDA_TIMES=1 a row has the time of each kernel, and its speed is that of plain launches, one for each kernel of each
// step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "stiction/batch.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kHold = 4;            // steps of a call, with the same controls
constexpr double kSpread = 0.15;    // of half the control range
constexpr double kFrequency = 1.5;  // Hz

struct Settings {
  std::string device = "cuda", json;
  std::vector<int> envs = {256, 1024, 4096, 8192, 16384, 32768, 65536, 131072};
  int calls = 25, rounds = 5;
  std::vector<std::string> motions = {"smooth"};  // "smooth", "noise"
  double settle = 2.0;                            // s of motion before the first round
  double limit = 1e9;                             // s
  LinearSolver linear_solver = LinearSolver::cholesky;
  int friction_iterations = kAutoFriction;  // as tasks have it
  std::vector<std::string> models;
};

std::vector<int> parse_list(const std::string& text) {
  std::vector<int> list;
  for (std::size_t at = 0; at < text.size(); at = text.find(',', at) + 1) {
    list.push_back(std::atoi(text.c_str() + at));
    if (text.find(',', at) == std::string::npos) break;
  }
  return list;
}

Settings parse(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      s.models.push_back(word);
      continue;
    }
    if (++i == argc) throw ArgumentError(word + ": needs a value");
    const std::string value = argv[i];
    if (word == "--device")
      s.device = value;
    else if (word == "--json")
      s.json = value;
    else if (word == "--linear-solver" && (value == "cholesky" || value == "cusolver"))
      s.linear_solver = value == "cusolver" ? LinearSolver::cusolver : LinearSolver::cholesky;
    else if (word == "--friction-iterations" && (value == "auto" || std::atoi(value.c_str()) > 0))
      s.friction_iterations = value == "auto" ? kAutoFriction : std::atoi(value.c_str());
    else if (word == "--motion" && (value == "smooth" || value == "noise"))
      s.motions = {value};
    else if (word == "--motion" && value == "both")
      s.motions = {"smooth", "noise"};
    else if (word == "--envs")
      s.envs = parse_list(value);
    else if (word == "--calls")
      s.calls = std::max(1, std::atoi(value.c_str()));
    else if (word == "--rounds")
      s.rounds = std::max(1, std::atoi(value.c_str()));
    else if (word == "--settle")
      s.settle = std::atof(value.c_str());
    else if (word == "--limit")
      s.limit = std::atof(value.c_str());
    else
      throw ArgumentError(word + ": unknown");
  }
  if (s.models.empty()) throw ArgumentError("no model given");
  return s;
}

// Dense numbers of a field of all environments, and back.
std::vector<float> read(Batch& b, const char* field) {
  const ArrayView v = b.field(field);
  std::vector<float> x(static_cast<std::size_t>(v.size()));
  b.copy_memory(x.data(), v.data, x.size() * sizeof(float));
  return x;
}
void write(Batch& b, const char* field, const std::vector<float>& x) {
  b.copy_memory(b.field(field).data, x.data(), x.size() * sizeof(float));
}

// Smooth: about the controls of the first keyframe, or the middle of their ranges, a wave with a phase
// of its own for each actuator of each environment. Noise: uniform in the whole range, new at each call,
// as a policy explores that has learnt nothing.
class Controls {
 public:
  Controls(const Model& m, bool noise) : noise_(noise) {
    for (int a = 0; a < m.nu; ++a) {
      const auto i = static_cast<std::size_t>(a);
      const bool limited = m.actuator_ctrllimited[i] != 0;
      const double low = limited ? m.actuator_ctrlrange[2 * i] : -1;
      const double high = limited ? m.actuator_ctrlrange[2 * i + 1] : 1;
      centre_.push_back(m.nkey > 0 && !noise ? m.key_ctrl[i] : 0.5 * (low + high));
      reach_.push_back((noise ? 1 : kSpread) * 0.5 * (high - low));
    }
  }
  void at(double time, int num_envs, std::vector<float>& ctrl) {
    ctrl.resize(centre_.size() * static_cast<std::size_t>(num_envs));
    for (std::size_t i = 0; i < ctrl.size(); ++i) {
      const std::size_t a = i % centre_.size();
      const double phase = 2.399963 * static_cast<double>(i);  // the golden angle
      const double x = noise_ ? uniform_(random_) : std::sin(6.283185 * kFrequency * time + phase);
      ctrl[i] = static_cast<float>(centre_[a] + reach_[a] * x);
    }
  }

 private:
  bool noise_;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> uniform_{-1, 1};
  std::vector<double> centre_, reach_;
};

Batch started(const ModelPtr& m, int num_envs, const Settings& s) {
  BatchOptions options;
  options.num_envs = num_envs, options.device = s.device;
  options.options.linear_solver = s.linear_solver;
  options.options.friction_iterations = s.friction_iterations;
  Batch b(m, options);
  if (m->nkey == 0) return b;
  std::vector<int> ids(static_cast<std::size_t>(num_envs));
  std::iota(ids.begin(), ids.end(), 0);
  BatchState state = b.get_state(ids);
  for (std::size_t i = 0; i < state.qpos.size(); ++i)
    state.qpos[i] = m->key_qpos[i % static_cast<std::size_t>(m->nq)];
  b.set_state(ids, state);
  return b;
}

int quantile(const std::vector<std::uint64_t>& histogram, double share) {
  const auto total =
      static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  double sum = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i)
    if ((sum += static_cast<double>(histogram[i])) >= share * total) return static_cast<int>(i);
  return static_cast<int>(histogram.size()) - 1;
}

// Seconds of calls of one step each that somebody waits for.
double latency(Batch& b, int calls) {
  std::vector<double> seconds;
  for (int k = 0; k < calls; ++k) {
    const auto begin = Clock::now();
    b.step();
    b.synchronize();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + calls / 2, seconds.end());
  return seconds[static_cast<std::size_t>(calls / 2)];
}

// What the plan says of each kernel, and its share of the time since `before`.
nlohmann::json kernels_of(const std::vector<KernelInfo>& before,
                          const std::vector<KernelInfo>& after) {
  nlohmann::json list = nlohmann::json::array();
  double sum = 0;
  for (std::size_t k = 0; k < after.size(); ++k) sum += after[k].seconds - before[k].seconds;
  for (std::size_t k = 0; k < after.size(); ++k) {
    const KernelInfo& i = after[k];
    nlohmann::json one = {{"kernel", i.name},
                          {"threads_per_env", i.threads_per_env},
                          {"registers", i.registers},
                          {"local_bytes", i.local_bytes},
                          {"shared_bytes", i.shared_bytes},
                          {"arena_bytes", i.arena_bytes},
                          {"envs_per_sm", i.envs_per_sm},
                          {"occupancy", i.occupancy}};
    if (const auto launches = i.launches - before[k].launches; launches > 0) {
      const double seconds = i.seconds - before[k].seconds;
      one["us"] = 1e6 * seconds / static_cast<double>(launches);
      one["share"] = seconds / sum;
    }
    list.push_back(one);
  }
  return list;
}

nlohmann::json measure(const ModelPtr& m, const std::string& file, const std::string& motion,
                       int num_envs, const Settings& s) {
  Batch b = started(m, num_envs, s);
  Controls controls(*m, motion == "noise");
  const double dt = *b.options().timestep;
  std::vector<float> ctrl;
  double time = 0;
  const auto call = [&] {
    if (m->nu > 0) controls.at(time, num_envs, ctrl), write(b, "ctrl", ctrl);
    b.synchronize();
    const auto begin = Clock::now();
    b.step(kHold);
    b.synchronize();
    time += kHold * dt;
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  while (time < s.settle) call();
  b.clear_counts();
  const std::vector<KernelInfo> before = b.kernels();
  std::vector<double> seconds;  // of a step of all
  for (int r = 0; r < s.rounds; ++r) {
    double sum = 0;
    for (int k = 0; k < s.calls; ++k) sum += call();
    seconds.push_back(sum / (s.calls * kHold));
  }
  std::nth_element(seconds.begin(), seconds.begin() + s.rounds / 2, seconds.end());
  const double median = seconds[static_cast<std::size_t>(s.rounds / 2)];
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const nlohmann::json kernels = kernels_of(before, b.kernels());

  const SolverCounts& c = b.counts();
  const double n = std::max<double>(1, static_cast<double>(c.env_steps));
  const auto share = [&](std::uint64_t x) { return static_cast<double>(x) / n; };
  const std::vector<float> residuals = read(b, "solver_residual");
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(b.state_hash()));
  nlohmann::json status = nlohmann::json::object();  // environments by bit
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(num_envs));
  b.copy_memory(bits.data(), b.status().data, bits.size() * sizeof bits[0]);
  for (int bit = 0; bit < 32; ++bit)
    if (const auto count = std::count_if(bits.begin(), bits.end(),
                                         [&](std::uint32_t x) { return (x >> bit & 1) != 0; });
        count > 0)
      status[std::to_string(bit)] = count;
  nlohmann::json row = {
      {"model", file},
      {"motion", motion},
      {"nv", m->nv},
      {"envs", num_envs},
      {"device", b.device()},
      {"linear_solver", s.linear_solver == LinearSolver::cusolver ? "cusolver" : "cholesky"},
      {"friction_iterations", s.friction_iterations == kAutoFriction
                                  ? nlohmann::json("auto")
                                  : nlohmann::json(s.friction_iterations)},
      {"description", b.device() == "cpu" ? b.isa() : b.device_description()},
      {"threads", b.threads()},
      {"timestep", dt},
      {"steps_per_s", num_envs / median},
      {"ms_per_step", 1e3 * median},
      {"spread", *most / *least - 1},
      {"points", share(c.contacts)},
      {"iter_mean", share(c.iterations)},
      {"iter_p95", quantile(c.iteration_histogram, 0.95)},
      {"iter_max", quantile(c.iteration_histogram, 1.0)},
      {"linesearch", share(c.linesearch_evaluations)},
      {"capped", share(c.not_converged)},
      {"stalled", share(c.stalled)},
      {"inaccurate", share(c.inaccurate)},
      {"late", share(c.late_contact)},
      {"frozen", b.status_count()},
      {"status", status},
      {"residual", *std::max_element(residuals.begin(), residuals.end())},
      {"bytes_per_env", b.memory().per_env},
      {"device_bytes", b.memory().device},
      {"local_bytes", b.memory().local},
      {"hash", std::string(hash).substr(0, 8)},
      {"kernels", kernels}};
  if (num_envs == 1) row["ms_single_step"] = 1e3 * latency(b, 200);
  return row;
}

std::string name_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  return base.substr(0, base.rfind('.'));
}

void print(const nlohmann::json& r) {
  std::printf("%-14s %-6s %7d %12.0f %9.4f %7.2f %6.2f %5d %8.1e %8.1e %8s\n",
              r["model"].get<std::string>().c_str(), r["motion"].get<std::string>().c_str(),
              r["envs"].get<int>(), r["steps_per_s"].get<double>(), r["ms_per_step"].get<double>(),
              r["points"].get<double>(), r["iter_mean"].get<double>(), r["iter_p95"].get<int>(),
              r["capped"].get<double>(), r["residual"].get<double>(),
              r["hash"].get<std::string>().c_str());
  for (const auto& k : r["kernels"])
    if (k.contains("us"))
      std::printf("  %-10s %9.1f us %5.1f %%, %3d registers, %3d envs per SM, occupancy %.2f\n",
                  k["kernel"].get<std::string>().c_str(), k["us"].get<double>(),
                  100 * k["share"].get<double>(), k["registers"].get<int>(),
                  k["envs_per_sm"].get<int>(), k["occupancy"].get<double>());
  std::fflush(stdout);
}

// Whoever is stopped meanwhile leaves a whole file.
void save(const nlohmann::json& rows, const std::string& file) {
  if (file.empty()) return;
  std::ofstream(file + ".new") << rows.dump(1) << '\n';
  std::filesystem::rename(file + ".new", file);
}

// Whether all rows could be measured.
bool run(const Settings& s) {
  const auto begin = Clock::now();
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-14s %-6s %7s %12s %9s %7s %6s %5s %8s %8s %8s\n", "model", "motion", "envs",
              "steps/s", "ms/step", "points", "iter", "p95", "capped", "residual", "hash");
  bool all = true;
  std::vector<ModelPtr> models;
  for (const std::string& file : s.models) models.push_back(load_model(file));
  const auto row = [&](std::size_t i, const std::string& motion, int num_envs) {
    const std::string name = name_of(s.models[i]);
    try {
      rows.push_back(measure(models[i], name, motion, num_envs, s));
      print(rows.back());
    } catch (const std::exception& e) {
      all = false;
      rows.push_back(
          {{"model", name}, {"motion", motion}, {"envs", num_envs}, {"error", e.what()}});
      std::printf("%-14s %7d %s\n", name.c_str(), num_envs, e.what());
      std::fflush(stdout);
    }
    save(rows, s.json);
  };
  for (const int num_envs : s.envs)
    for (const std::string& motion : s.motions)
      for (std::size_t i = 0; i < models.size(); ++i) {
        if (std::chrono::duration<double>(Clock::now() - begin).count() > s.limit) return all;
        row(i, motion, num_envs);
      }
  return all;
}

}  // namespace
}  // namespace stiction

int main(int argc, char** argv) {
  try {
    return stiction::run(stiction::parse(argc, argv)) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_device: %s\n", e.what());
    return 1;
  }
}
