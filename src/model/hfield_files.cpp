#include "model/hfield_files.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "stiction/error.h"

namespace stiction::model {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ModelError(what);
}

void check_size(std::int64_t nrow, std::int64_t ncol) {
  if (nrow < 2 || ncol < 2)
    fail("has " + std::to_string(nrow) + " rows and " + std::to_string(ncol) +
         " columns; a surface takes at least 2 and 2");
  if (nrow > kMaxHfieldNodes / ncol)
    fail("has " + std::to_string(nrow) + " x " + std::to_string(ncol) +
         " elevations; the limit is " + std::to_string(kMaxHfieldNodes) + ": take fewer");
}

// libpng's simplified interface; the image is freed whatever happens.
struct Image {
  png_image state{};
  Image() { state.version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(&state); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  [[noreturn]] void failed() const { fail(std::string("can't be read as PNG: ") + state.message); }
};

// Grey values as they are stored, 8 bits or 16.
Elevations read_png(const std::string& content) {
  Image image;
  if (png_image_begin_read_from_memory(&image.state, content.data(), content.size()) == 0)
    image.failed();
  check_size(image.state.height, image.state.width);
  // PNG's linear formats would undo the gamma that 8-bit values are meant to have: elevations have none
  const bool wide = (image.state.format & PNG_FORMAT_FLAG_LINEAR) != 0;
  image.state.format = wide ? PNG_FORMAT_LINEAR_Y : PNG_FORMAT_GRAY;
  Elevations e{static_cast<int>(image.state.height), static_cast<int>(image.state.width), {}};
  const std::size_t columns = image.state.width;
  e.data.resize(columns * image.state.height);
  const auto read = [&](auto pixel) {
    std::vector<decltype(pixel)> pixels(e.data.size());
    if (png_image_finish_read(&image.state, nullptr, pixels.data(), 0, nullptr) == 0)
      image.failed();
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t row = image.state.height - 1 - i / columns;
      e.data[row * columns + i % columns] = pixels[i];
    }
  };
  if (wide)
    read(std::uint16_t{});
  else
    read(std::uint8_t{});
  return e;
}

Elevations read_binary(const std::string& content) {
  constexpr std::size_t kHeader = 8;
  if (content.size() < kHeader) fail("is neither PNG nor counts of rows and columns: too short");
  std::int32_t n[2];
  std::memcpy(n, content.data(), kHeader);
  check_size(n[0], n[1]);
  Elevations e{n[0], n[1], {}};
  const std::size_t count = static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]);
  if (content.size() != kHeader + 4 * count) fail("its size is not what its header says");
  e.data.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, content.data() + kHeader + 4 * i, sizeof value);
    e.data[i] = static_cast<double>(value);
  }
  return e;
}

}  // namespace

Elevations read_elevations(const std::string& content) {
  constexpr std::string_view kPng = "\x89PNG";
  return std::string_view(content).starts_with(kPng) ? read_png(content) : read_binary(content);
}

void check_elevations(const Elevations& e) {
  check_size(e.nrow, e.ncol);
  const std::size_t count = static_cast<std::size_t>(e.nrow) * static_cast<std::size_t>(e.ncol);
  if (e.data.size() != count)
    fail(std::to_string(e.data.size()) + " elevations given; " + std::to_string(e.nrow) +
         " rows of " + std::to_string(e.ncol) + " take " + std::to_string(count));
  for (const double x : e.data)
    if (!std::isfinite(x)) fail("an elevation is not a finite number");
}

void normalize(Elevations& e) {
  const auto [low, high] = std::minmax_element(e.data.begin(), e.data.end());
  const float least = static_cast<float>(*low), range = static_cast<float>(*high) - least;
  for (double& x : e.data) {
    const float above = static_cast<float>(x) - least;
    x = static_cast<double>(range > 1e-15F ? above / range : 0.0F);
  }
}

}  // namespace stiction::model
