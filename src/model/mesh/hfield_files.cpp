#include "model/mesh/hfield_files.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "stiction/error.h"

namespace stiction::model {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw ModelError(what);
}

void check_size(std::int64_t nrow, std::int64_t ncol) {
  if (nrow < 2 || ncol < 2)
    refuse("has " + std::to_string(nrow) + " rows and " + std::to_string(ncol) +
           " columns; a surface takes at least 2 and 2");
  if (nrow > kMaxHfieldNodes / ncol)
    refuse("has " + std::to_string(nrow) + " x " + std::to_string(ncol) +
           " elevations; the limit is " + std::to_string(kMaxHfieldNodes) + ": take fewer");
}

// libpng's simplified interface; the image is freed in any case.
struct Image {
  png_image state{};
  Image() { state.version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(&state); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  [[noreturn]] void failed() const {
    refuse(std::string("can't be read as PNG: ") + state.message);
  }
};

// Removes the chunks that define the colours of the numbers: libpng would convert them, but elevations are not light.
std::string without_colours(const std::string& content) {
  constexpr std::size_t kSignature = 8, kChunk = 12;  // length, name, checksum
  constexpr std::array<std::string_view, 4> kColours{"gAMA", "cHRM", "sRGB", "iCCP"};
  std::string kept = content.substr(0, kSignature);
  for (std::size_t at = kSignature; at + kChunk <= content.size();) {
    std::size_t length = kChunk;
    for (std::size_t k = 0; k < 4; ++k)
      length += std::size_t{static_cast<unsigned char>(content[at + k])} << (24 - 8 * k);
    const std::string_view name = std::string_view(content).substr(at + 4, 4);
    if (std::find(kColours.begin(), kColours.end(), name) == kColours.end())
      kept += content.substr(at, length);
    at += length;
  }
  return kept;
}

// Fails if the header promises more than zlib can pack into the file at its maximum ratio, 1032 to 1, before anything
// is allocated. A pixel has at least one bit.
void check_promise(const png_image& image, std::size_t bytes) {
  constexpr std::size_t kRatio = 1032, kBits = 8;
  const std::size_t pixels = std::size_t{image.width} * image.height;
  if (pixels / kBits / kRatio > bytes)
    refuse("can't be read as PNG: its header promises " + std::to_string(image.width) + " x " +
           std::to_string(image.height) + " pixels, the file has " + std::to_string(bytes) +
           " bytes: is it truncated?");
}

// Reads the red values as stored, with 8 or 16 bits: for a grey image they are the grey values.
Elevations read_png(const std::string& content) {
  Image image;
  const std::string plain = without_colours(content);
  if (png_image_begin_read_from_memory(&image.state, plain.data(), plain.size()) == 0)
    image.failed();
  check_size(image.state.height, image.state.width);
  check_promise(image.state, content.size());
  const bool wide = (image.state.format & PNG_FORMAT_FLAG_LINEAR) != 0;
  image.state.format = wide ? PNG_FORMAT_LINEAR_RGB_ALPHA : PNG_FORMAT_RGBA;
  constexpr std::size_t kChannels = 4;
  Elevations e{static_cast<int>(image.state.height), static_cast<int>(image.state.width), {}};
  const std::size_t columns = image.state.width;
  e.data.resize(columns * image.state.height);
  const auto read = [&](auto value) {
    std::vector<decltype(value)> values(kChannels * e.data.size());
    if (png_image_finish_read(&image.state, nullptr, values.data(), 0, nullptr) == 0)
      image.failed();
    for (std::size_t i = 0; i < e.data.size(); ++i) {
      const std::size_t row = image.state.height - 1 - i / columns;
      e.data[row * columns + i % columns] = values[kChannels * i];
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
  if (content.size() < kHeader) refuse("is neither PNG nor counts of rows and columns: too short");
  std::int32_t n[2];
  std::memcpy(n, content.data(), kHeader);
  check_size(n[0], n[1]);
  Elevations e{n[0], n[1], {}};
  const std::size_t count = static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]);
  if (content.size() != kHeader + 4 * count)
    refuse("has " + std::to_string(content.size()) + " bytes; " + std::to_string(n[0]) +
           " rows of " + std::to_string(n[1]) + " numbers, as its header says, take " +
           std::to_string(kHeader + 4 * count) + ": is it truncated?");
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
  Elevations e =
      std::string_view(content).starts_with(kPng) ? read_png(content) : read_binary(content);
  check_elevations(e);
  return e;
}

void check_elevations(const Elevations& e) {
  check_size(e.nrow, e.ncol);
  const std::size_t count = static_cast<std::size_t>(e.nrow) * static_cast<std::size_t>(e.ncol);
  if (e.data.size() != count)
    refuse(std::to_string(e.data.size()) + " elevations given; " + std::to_string(e.nrow) +
           " rows of " + std::to_string(e.ncol) + " take " + std::to_string(count));
  for (const double x : e.data)
    if (!std::isfinite(x)) refuse("an elevation is not a finite number");
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
