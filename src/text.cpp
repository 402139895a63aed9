#include "stiction/text.h"

#include <algorithm>
#include <array>

#include "stiction/error.h"

namespace stiction {
namespace {

// A character and its number of bytes; size 0: invalid UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t size = 0;
};

Character first_character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < size) return {};
  char32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // by number of bytes
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[size] || surrogate || code > 0x10ffff) return {};
  return {code, size};
}

// False for Unicode's categories Cc, Zl, Zp, and for those of Cf that change direction or are invisible.
bool shows_as_itself(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  constexpr std::array<Range, 11> kHidden{{{0x00, 0x1f},
                                           {0x7f, 0x9f},
                                           {0xad, 0xad},
                                           {0x61c, 0x61c},
                                           {0x180e, 0x180e},
                                           {0x200b, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0xfeff, 0xfeff},
                                           {0xfff9, 0xfffb},
                                           {0xe0000, 0xe007f}}};
  return std::none_of(kHidden.begin(), kHidden.end(),
                      [&](Range r) { return c >= r.first && c <= r.last; });
}

std::string hex(char32_t value, int digits) {
  std::string s;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    s += "0123456789abcdef"[(value >> shift) & 15];
  return s;
}

std::string escaped(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (c < 0x100) return "\\x" + hex(c, 2);
  return c < 0x10000 ? "\\u" + hex(c, 4) : "\\U" + hex(c, 8);
}

std::string visible_except(std::string_view text, char kept) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = first_character(text.substr(i));
    if (c.size == 0)
      out += escaped(static_cast<unsigned char>(text[i]));
    else if (shows_as_itself(c.code) || (kept != 0 && text[i] == kept))
      out += text.substr(i, c.size);
    else
      out += escaped(c.code);
    i += std::max<std::size_t>(1, c.size);
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) {
  return visible_except(text, 0);
}
std::string visible_lines(std::string_view text) {
  return visible_except(text, '\n');
}

Error::Error(const std::string& message) : std::runtime_error(visible_lines(message)) {}

}  // namespace stiction
