// Rays and height scans of the current state, computed on request, on the CPU.
#include <limits>

#include "batch/compute.h"

namespace stiction {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int kRay = 6, kHit = 5;  // numbers per ray and per hit, physics/rays/rays.h
constexpr int kTogether = 256;     // rays whose numbers fit into the caches
// A call is divided into pieces, between which it may be interrupted (Batch::set_poll): at most this many rays of one
// environment, and this many in total per thread.
constexpr int kPieceOfOne = 8192;
constexpr std::size_t kPieceOfThread = 1 << 17;

// Calls f(ids, place of the first of them, first ray, rays) for each piece of the n rays of each environment.
template <class F>
void each_piece(Batch::Impl& impl, std::span<const int> ids, int n, int most, const F& f) {
  const std::size_t threads = at(impl.pool->size());
  const std::size_t lanes = at(impl.kernels.lanes);
  const std::size_t rays = at(std::max(1, std::min(n, most)));
  const std::size_t packs = std::max<std::size_t>(1, kPieceOfThread / (rays * lanes));
  for (std::size_t place = 0; place < ids.size(); place += packs * lanes * threads)
    for (int first = 0; first < n; first += most) {
      if (impl.poll && (place > 0 || first > 0)) impl.poll();
      const auto some = ids.subspan(place, std::min(packs * lanes * threads, ids.size() - place));
      f(some, place, first, std::min(most, n - first));
    }
}

// Wide numbers of one pack: a block, and rows that stand in for the caller's if these have another type.
class Scratch {
 public:
  Scratch(const Batch::Impl& impl, int size)
      : impl_(impl), block_(impl.kernels.wide_bytes * at(size)) {
    for (int lane = 0; lane < impl.kernels.lanes; ++lane) rows_.emplace_back(at(size));
  }
  void* block() { return block_.data(); }
  double* row(int lane) { return rows_[at(lane)].data(); }
  void load(int n) {
    const void* from[kMaxLanes];
    for (int lane = 0; lane < impl_.kernels.lanes; ++lane) from[lane] = row(lane);
    impl_.kernels.load(true, n, from, block());
  }
  void store(int n) {
    void* to[kMaxLanes];
    for (int lane = 0; lane < impl_.kernels.lanes; ++lane) to[lane] = row(lane);
    impl_.kernels.store(true, n, block(), to);
  }

 private:
  const Batch::Impl& impl_;
  cpu::Buffer block_;
  std::vector<std::vector<double>> rows_;
};
std::vector<Scratch> scratch(const Batch::Impl& impl, int size) {
  std::vector<Scratch> each;
  for (int i = 0; i < impl.pool->size(); ++i) each.emplace_back(impl, size);
  return each;
}

// Vectors of n environments, or shared by all of them.
struct Vectors {
  std::span<const double> numbers;
  bool own;
  const double* of(int place, int nray, int ray) const {
    return &numbers[3 * (own ? at(place) * at(nray) + at(ray) : at(ray))];
  }
};
Vectors vectors(const char* name, std::span<const double> v, std::size_t n, int nray) {
  const std::size_t one = 3 * at(nray);
  if (v.size() == one || v.size() == n * one) return {v, v.size() != one};
  throw ArgumentError(std::string(name) + " has " + std::to_string(v.size()) + " numbers, " +
                      std::to_string(nray) + " rays in " + std::to_string(n) +
                      " environments need " + std::to_string(one) + " for all, or " +
                      std::to_string(n * one));
}

}  // namespace

RayHits<float> Batch::Impl::raycast(std::span<const int> ids, const Rays& rays) {
  const std::size_t total = ids.size() * at(rays.n);
  RayHits<float> hits{std::vector<float>(total, kUnknown), std::vector<int>(total, -1),
                      std::vector<float>(3 * total, kUnknown)};
  const Vectors origins = vectors("origins", rays.origins, ids.size(), rays.n);
  const Vectors directions = vectors("directions", rays.directions, ids.size(), rays.n);
  std::vector<Scratch> in = scratch(*this, kRay * kTogether),
                       out = scratch(*this, kHit * kTogether);
  fetch(kGivenRows, ids);
  const auto cast = [&](Workspace& w, int worker, std::span<const int> places, int first, int n) {
    Scratch &rays_in = in[at(worker)], &found = out[at(worker)];
    for (int lane = 0; lane < kernels.lanes; ++lane)
      for (int k = 0; k < n; ++k) {
        double* const ray = rays_in.row(lane) + kRay * k;
        const int place = lane_of(places, lane);
        std::copy_n(origins.of(place, rays.n, first + k), 3, ray);
        std::copy_n(directions.of(place, rays.n, first + k), 3, ray + 3);
      }
    rays_in.load(kRay * n);
    kernels.rays(host.view(), w.fields.data(), rays.options, rays.frame, n, rays_in.block(),
                 found.block());
    found.store(kHit * n);
    for (std::size_t lane = 0; lane < places.size(); ++lane)
      for (int k = 0; k < n; ++k) {
        const double* const hit = found.row(static_cast<int>(lane)) + kHit * k;
        const std::size_t i = at(places[lane]) * at(rays.n) + at(first + k);
        hits.distance[i] = static_cast<float>(hit[0]);
        hits.geomid[i] = static_cast<int>(hit[1]);
        for (std::size_t c = 0; c < 3; ++c) hits.normal[3 * i + c] = static_cast<float>(hit[2 + c]);
      }
  };
  each_piece(*this, ids, rays.n, kPieceOfOne,
             [&](std::span<const int> some, std::size_t place, int begin, int count) {
               each_pack(*this, some, [&](int worker, Workspace& w, std::span<const int> near) {
                 kernels.dynamics(host.view(), w.fields.data());
                 int places[kMaxLanes];
                 std::transform(near.begin(), near.end(), places,
                                [&](int i) { return static_cast<int>(place) + i; });
                 for (int first = 0; first < count; first += kTogether)
                   cast(w, worker, {places, near.size()}, begin + first,
                        std::min(kTogether, count - first));
               });
             });
  return hits;
}

std::vector<float> Batch::Impl::height_scan(std::span<const int> ids, int body,
                                            const HeightScan& scan) {
  const int n = scan.count();
  std::vector<float> heights(ids.size() * at(n), kUnknown);
  std::vector<Scratch> out = scratch(*this, n);
  fetch(kGivenRows, ids);
  each_piece(*this, ids, n, n,
             [&](std::span<const int> some, std::size_t place, int /*first*/, int) {
               each_pack(*this, some, [&](int worker, Workspace& w, std::span<const int> places) {
                 Scratch& found = out[at(worker)];
                 kernels.dynamics(host.view(), w.fields.data());
                 kernels.scan(host.view(), w.fields.data(), scan, body, found.block());
                 found.store(n);
                 for (std::size_t lane = 0; lane < places.size(); ++lane)
                   for (int k = 0; k < n; ++k)
                     heights[(place + at(places[lane])) * at(n) + at(k)] =
                         static_cast<float>(found.row(static_cast<int>(lane))[k]);
               });
             });
  return heights;
}

RayHits<float> Batch::raycast(const Rays& rays, std::optional<std::span<const int>> ids) const {
  check_rays(model(), rays.origins, rays.directions, rays.options);
  if (rays.n < 0) throw ArgumentError("raycast: n = " + std::to_string(rays.n) + ": must be >= 0");
  if (rays.frame < 0 || rays.frame >= model().nbody)
    throw ArgumentError("raycast: frame = " + std::to_string(rays.frame) + ": must be in [0, " +
                        std::to_string(model().nbody) + ")");
  if (ids) impl_->check_ids(*ids, false);
  const std::vector<int> all = ids ? std::vector<int>() : all_ids(num_envs());
  const Visit visit(impl_->guard);
  return impl_->raycast(ids.value_or(all), rays);
}

std::vector<float> Batch::depth(int camera, int width, int height,
                                const std::optional<RayOptions>& options,
                                std::optional<std::span<const int>> ids) const {
  const CameraRays rays = camera_rays(model(), camera, width, height);
  const int body = model().cam_bodyid[at(camera)];
  RayHits<float> hits = raycast({width * height, rays.origins, rays.directions, body,
                                 options.value_or(RayOptions{.bodyexclude = body})},
                                ids);
  for (float& x : hits.distance)
    if (x < 0) x = std::numeric_limits<float>::infinity();
  return std::move(hits.distance);
}

std::vector<float> Batch::height_scan(int body, const HeightScan& scan,
                                      std::optional<std::span<const int>> ids) const {
  check_scan(model(), body, scan);
  if (ids) impl_->check_ids(*ids, false);
  const std::vector<int> all = ids ? std::vector<int>() : all_ids(num_envs());
  const Visit visit(impl_->guard);
  return impl_->height_scan(ids.value_or(all), body, scan);
}

}  // namespace stiction
