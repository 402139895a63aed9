// What rays cost beside a control step of four physics steps, on one core: height scans as a task in C++ makes them and
// as Batch has them, rays into all directions, depth images.
// usage: bench_rays MODEL...; each line: model,what,rays,ns,share. The model's first camera makes the images; its first
// body with a free joint is scanned about. All take turns, the median of the rounds counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "cpu/host_model.h"
#include "physics/base/team.h"
#include "physics/rays/height_scan.h"
#include "stiction/batch.h"

namespace stiction {
namespace {

// What others do on the processor in between does not count.
double nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

constexpr int kEnvs = 256, kSteps = 4, kSettle = 250, kRounds = 15, kRays = 187;

// An environment as a task has it: dense rows, parameters of the model.
physics::EnvView<float> rows(const cpu::HostModel& host, Batch& b, int env) {
  physics::EnvView<float> e{};
  const std::size_t nbody = static_cast<std::size_t>(host.view().nbody);
  const auto field = [&](const char* name, std::size_t columns) {
    return static_cast<double*>(b.field(name).data) +
           static_cast<std::size_t>(env) * nbody * columns;
  };
  const auto param = [&](cpu::Field f) { return const_cast<double*>(host.param(f).data()); };
  e.xpos = field("xpos", 3), e.xquat = field("xquat", 4);
  e.geom_pos = param(cpu::Field::geom_pos), e.geom_quat = param(cpu::Field::geom_quat);
  e.geom_size = param(cpu::Field::geom_size);
  return e;
}

Batch standing(const ModelPtr& m) {
  BatchOptions options;
  options.num_envs = kEnvs, options.threads = 1;
  Batch b(m, options);
  auto* const qpos = static_cast<double*>(b.field("qpos").data);
  auto* const ctrl = static_cast<float*>(b.field("ctrl").data);
  for (int env = 0; env < kEnvs && m->nkey > 0; ++env) {
    const auto at = [&](int n) {
      return static_cast<std::size_t>(env) * static_cast<std::size_t>(n);
    };
    std::copy_n(m->key_qpos.begin(), m->nq, qpos + at(m->nq));
    for (std::size_t i = 0; i < static_cast<std::size_t>(m->nu); ++i)
      ctrl[at(m->nu) + i] = static_cast<float>(m->key_ctrl[i]);
    qpos[at(m->nq)] += 0.01 * env / kEnvs;
  }
  b.refresh();
  b.step(kSettle);
  return b;
}

struct Piece {
  std::string what;
  int rays;
  std::function<void()> run;
  std::vector<double> ns = {};

  double median() {
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
  }
};

void measure(const std::string& path) {
  const ModelPtr m = load_model(path);
  Batch b = standing(m);
  const cpu::HostModel host(*m, b.options());
  const int body = m->jnt_bodyid.empty() ? 0 : m->jnt_bodyid[0];
  std::vector<physics::EnvView<float>> envs;
  for (int env = 0; env < kEnvs; ++env) envs.push_back(rows(host, b, env));
  std::vector<float> obs(kRays);
  const HeightScan scan;
  // into all directions: a spiral
  std::vector<double> origins, directions;
  for (int i = 0; i < kRays; ++i) {
    const double z = 1 - (2 * i + 1.0) / kRays, r = std::sqrt(1 - z * z), a = 2.399963 * i;
    origins.insert(origins.end(), {0, 0, 0.3});
    directions.insert(directions.end(), {r * std::cos(a), r * std::sin(a), z});
  }
  std::vector<Piece> pieces{
      {"control step", 0, [&] { b.step(kSteps); }},
      {"height scan of a task", kRays,
       [&] {
         for (auto& e : envs)
           physics::height_scan(physics::TeamOfOne(), host.view(), e, scan, body, obs.data());
       }},
      {"Batch::height_scan", kRays, [&] { (void)b.height_scan(body); }},
      {"Batch::raycast", kRays, [&] {
         (void)b.raycast({kRays, origins, directions, body, {.bodyexclude = body}});
       }}};
  if (m->ncam > 0) pieces.push_back({"Batch::depth", 64 * 48, [&] { (void)b.depth(0); }});
  for (int round = 0; round < kRounds; ++round)
    for (Piece& p : pieces) {
      const double before = nanoseconds();
      p.run();
      p.ns.push_back((nanoseconds() - before) / kEnvs);
    }
  const double step = pieces[0].median();
  for (Piece& p : pieces)
    std::printf("%s,%s,%d,%.0f,%.3f\n", m->name.c_str(), p.what.c_str(), p.rays, p.median(),
                p.median() / step);
}

}  // namespace
}  // namespace stiction

int main(int argc, char** argv) try {
  for (int i = 1; i < argc; ++i) stiction::measure(argv[i]);
  return argc > 1 ? 0 : 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_rays: %s\n", e.what());
  return 1;
}
