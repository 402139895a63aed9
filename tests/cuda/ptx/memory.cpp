#include "cuda/ptx/memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace stiction::ptx {
namespace {

constexpr std::uint64_t kAlignment = 256, kGap = 256;

void* reserve(std::uint64_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Fault("PTX: no addresses for the card's memory");
  return p;
}

}  // namespace

void Region::mark(std::uint64_t at, std::uint64_t bytes, bool written) const {
  const std::uint64_t end = at + bytes;
  for (; at < end && at % 4 != 0; ++at) mark<1>(at, written);
  const std::uint64_t words = at < end ? (end - at) / 4 : 0;
  // the last word of an allocation may be shorter
  for (std::uint64_t k = 0; k < words; ++k) {
    Mark& m = marks[at / 4 + k];
    m = static_cast<Mark>(written ? m | 0x0f : m & 0xf0);
  }
  for (at += 4 * words; at < end; ++at) mark<1>(at, written);
}

void Region::copy_marks(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const {
  std::vector<bool> written(bytes);
  for (std::uint64_t k = 0; k < bytes; ++k) written[k] = look<1>(from + k) == Found::written;
  for (std::uint64_t k = 0; k < bytes; ++k) mark<1>(to + k, written[k]);
}

Region& Buffer::resized(std::uint64_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (data_.size() < bytes) data_.resize(bytes);
  marks_.resize(bytes / 4);
  region_ = {data_.data(), marks_.data(), bytes};
  return region_;
}

DeviceMemory::DeviceMemory() {
  region_.data = static_cast<std::byte*>(reserve(kBytes));
  region_.marks = static_cast<Mark*>(reserve(kBytes / 4));
  region_.size = kBytes;
}
DeviceMemory::~DeviceMemory() {
  munmap(region_.data, kBytes);
  munmap(region_.marks, kBytes / 4);
}

std::uint64_t DeviceMemory::offset(const void* p) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(p) - region_.data);
}

// The first gap that is large enough.
void* DeviceMemory::allocate(std::uint64_t bytes) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  std::uint64_t at = kAlignment;
  for (const auto& [begin, size] : blocks_) {
    if (at + bytes + kGap <= begin) break;
    at = (begin + size + kGap + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (bytes > kBytes || at > kBytes - bytes) return nullptr;
  blocks_[at] = bytes;
  used_ += bytes;
  std::memset(region_.marks + at / 4, kUnwritten, bytes / 4);
  if (bytes % 4 != 0)
    region_.marks[(at + bytes) / 4] = static_cast<Mark>(((1 << (bytes % 4)) - 1) << 4);
  return region_.data + at;
}

bool DeviceMemory::free(void* p) {
  const auto found = blocks_.find(offset(p));
  if (found == blocks_.end()) return false;
  std::memset(region_.marks + found->first / 4, 0, (found->second + 3) / 4);
  madvise(region_.data + (found->first + 4095) / 4096 * 4096,
          found->second > 8192 ? found->second - 8192 : 0, MADV_DONTNEED);
  used_ -= found->second;
  blocks_.erase(found);
  return true;
}

bool DeviceMemory::holds(const void* p) const {
  const std::uint64_t at = offset(p);
  if (at >= kBytes) return false;
  auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin()) return false;
  --next;
  return at < next->first + next->second;
}

void DeviceMemory::fill(void* p, int value, std::uint64_t bytes) {
  std::memset(p, value, bytes);
  region_.mark(offset(p), bytes, value != 0xff);
}

void DeviceMemory::copy(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memmove(to, from, bytes);
  if (!holds(to)) return;
  if (holds(from))
    region_.copy_marks(offset(to), offset(from), bytes);
  else
    region_.mark(offset(to), bytes, true);
}

}  // namespace stiction::ptx
