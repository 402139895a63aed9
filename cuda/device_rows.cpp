// Rows of a batch on a GPU: reset, copied, fetched and sent.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/device.h"

namespace stiction::cuda {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);

}  // namespace

// Ids that one call needs several times are sent once.
const int* CudaDevice::upload_ids(const int* ids, int n) {
  if (ids == nullptr) return nullptr;
  refuse_capture("indices");
  const std::size_t bytes = at(n) * sizeof(int);
  if (n == ids_sent_ && std::memcmp(ids_.get(), ids, bytes) == 0)
    return place_of<const int>(layout_.ids);
  ids_sent_ = 0;
  check_here(cudaEventSynchronize(ids_done_.get()), ": waiting for a transfer");
  std::memcpy(ids_.get(), ids, bytes);
  check_here(
      cudaMemcpyAsync(place(layout_.ids), ids_.get(), bytes, cudaMemcpyHostToDevice, stream_),
      ": sending indices");
  check_here(cudaEventRecord(ids_done_.get(), stream_), ": sending indices");
  ids_sent_ = n;
  return place_of<const int>(layout_.ids);
}

// Calls f(transfers, first, n, bytes) for as many environments at a time as fit into the staging memory.
template <class F>
void CudaDevice::in_chunks(std::span<const RowCopy> rows, int n, const F& f) {
  std::size_t row = 0;
  for (const RowCopy& r : rows) row += r.bytes;
  if (row == 0) return;
  const int most = static_cast<int>(std::min(at(n), layout_.staging_bytes / row));
  for (int first = 0; first < n; first += most) {
    const int count = std::min(most, n - first);
    Transfers t;
    std::size_t begin = 0;
    for (const RowCopy& r : rows) {
      t.add(r.device, r.bytes, r.bytes, begin);
      begin += r.bytes * at(count);
    }
    f(t, first, count, begin);
  }
}

void CudaDevice::reset(const int* ids, int n) {
  const OnDevice here(number_);
  check_here(repeat(lists().reset(), upload_ids(ids, n), n,
                    place_of<const std::uint32_t>(layout_.reference_begin), stream_),
             ": resetting environments");
}

// Goes through staging and scratch, which are unused between two steps.
void CudaDevice::copy_envs(const int* src, const int* dst, int n) {
  if (n == 0) return;
  const OnDevice here(number_);
  std::vector<int> both(src, src + n);
  both.insert(both.end(), dst, dst + n);
  const int* const from = upload_ids(both.data(), 2 * n);
  auto* const between = place_of<std::uint32_t>(layout_.staging);
  const std::size_t room = (layout_.bytes - layout_.staging) / kWord / at(n);
  for_parts(lists().all(), room, n, [&](const Transfers& part) {
    check_here(gather(part, from, 0, n, between, stream_), ": copying environments");
    check_here(scatter(part, from + n, 0, n, between, stream_), ": copying environments");
  });
}

void CudaDevice::fetch(std::span<const RowCopy> rows, const int* ids, int n) {
  const OnDevice here(number_);
  // more ids than environments are sent in parts
  for (int part = 0; ids != nullptr && n > n_ && part < n; part += n_)
    fetch(rows, ids + part, std::min(n_, n - part));
  if (ids != nullptr && n > n_) return;

  const int* const list = upload_ids(ids, n);
  in_chunks(rows, n, [&](const Transfers& t, int first, int count, std::size_t bytes) {
    check_here(gather(t, list, first, count, place_of<std::uint32_t>(layout_.staging), stream_),
               ": gathering rows");
    check_here(cudaMemcpyAsync(staging_.get(), place(layout_.staging), bytes,
                               cudaMemcpyDeviceToHost, stream_),
               ": fetching rows");
    check_here(cudaStreamSynchronize(stream_), ": fetching rows");
    const std::byte* from = staging_.get();
    for (const RowCopy& r : rows)
      for (int k = first; k < first + count; ++k, from += r.bytes)
        std::memcpy(r.host + r.bytes * at(ids != nullptr ? ids[k] : k), from, r.bytes);
  });
}

void CudaDevice::send(std::span<const RowCopy> rows, const int* ids, int n) {
  const OnDevice here(number_);
  refuse_capture("rows");
  const int* const list = upload_ids(ids, n);
  in_chunks(rows, n, [&](const Transfers& t, int first, int count, std::size_t bytes) {
    check_here(cudaEventSynchronize(staging_done_.get()), ": waiting for a transfer");
    std::byte* to = staging_.get();
    for (const RowCopy& r : rows)
      for (int k = first; k < first + count; ++k, to += r.bytes)
        std::memcpy(to, r.host + r.bytes * at(ids != nullptr ? ids[k] : k), r.bytes);
    check_here(cudaMemcpyAsync(place(layout_.staging), staging_.get(), bytes,
                               cudaMemcpyHostToDevice, stream_),
               ": sending rows");
    check_here(cudaEventRecord(staging_done_.get(), stream_), ": sending rows");
    check_here(
        scatter(t, list, first, count, place_of<const std::uint32_t>(layout_.staging), stream_),
        ": scattering rows");
  });
}

}  // namespace stiction::cuda
