// Attribute access: numbers independent of the locale, messages with file, line, name and value.
#include <charconv>
#include <cmath>

#include "model/xml/xml.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::vector<std::string_view> words(std::string_view s) {
  std::vector<std::string_view> out;
  for (std::size_t i = s.find_first_not_of(kSpace); i != s.npos;) {
    const std::size_t end = std::min(s.find_first_of(kSpace, i), s.size());
    out.push_back(s.substr(i, end - i));
    i = s.find_first_not_of(kSpace, end);
  }
  return out;
}

double to_double(const Element& e, std::string_view attribute, std::string_view word,
                 bool any = false) {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  double v = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (ec == std::errc::result_out_of_range) {
    fail(e, attribute, "\"" + shown(word) + "\" is outside the range of a double");
  }
  if (ec != std::errc() || end != digits.data() + digits.size() || digits.starts_with('+')) {
    fail(e, attribute,
         "\"" + shown(word) +
             "\" is not a number; expected numbers with a decimal point, separated "
             "by spaces");
  }
  if (!std::isfinite(v)) fail(e, attribute, "\"" + shown(word) + "\" is not a finite number");
  if (std::abs(v) > kLargestNumber && !any) {
    fail(e, attribute,
         shown(word) + " is beyond " + shown(kLargestNumber) +
             ", where single precision ends; check its unit, or leave it out");
  }
  return v;
}

std::string count_of(std::size_t n) {
  return n == 1 ? std::string("1 number") : std::to_string(n) + " numbers";
}

}  // namespace

Element& add_child(Element& parent, const char* name, const Element& from) {
  Element& e = parent.children.emplace_back();
  e.name = name, e.file = from.file, e.line = from.line;
  return e;
}
void set_attribute(Element& e, const char* name, std::string value) {
  e.attributes.push_back({name, std::move(value), false, {}});
}

Attribute* Element::find(std::string_view attribute) {
  for (auto& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

std::string shown(std::string_view s) {
  constexpr std::size_t kLimit = 60;
  if (s.size() <= kLimit) return visible(s);
  // never cut within a UTF-8 sequence
  std::size_t n = kLimit;
  while (n > 0 && (static_cast<unsigned char>(s[n]) & 0xc0) == 0x80) --n;
  return visible(s.substr(0, n)) + "... (" + std::to_string(s.size()) + " characters)";
}

std::string shown(double value) {
  std::array<char, 40> buffer{};
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), r.ptr};
}

std::string where(const Element& e, std::string_view attribute) {
  std::string s = (e.file ? visible(*e.file) : std::string()) + ":" + std::to_string(e.line) +
                  ": <" + shown(e.name);
  const Attribute* value = nullptr;
  for (const auto& a : e.attributes) {
    if (a.name == "name" && attribute != "name") s += " name=\"" + shown(a.value) + "\"";
    if (a.name == attribute) value = &a;
  }
  s += ">";
  if (value)
    s += " " + shown(value->name) + "=\"" + shown(value->value) + "\"";
  else if (!attribute.empty())
    s += " " + visible(attribute);
  return s;
}

void fail(const Element& e, const std::string& what) {
  throw ModelError(where(e) + ": " + what);
}

void fail(const Element& e, std::string_view attribute, const std::string& what) {
  throw ModelError(where(e, attribute) + ": " + what);
}

void mark(Element& e, std::string_view attribute, Use use, bool physics, std::string note) {
  Attribute* a = e.find(attribute);
  if (!a) return;
  const auto severity = [](Use u, bool p) {
    return u == Use::refused ? 2 : u == Use::ignored && p;
  };
  if (a->verdict && (a->verdict->use == Use::refused ||
                     severity(a->verdict->use, a->verdict->physics) > severity(use, physics)))
    return;
  a->verdict = Verdict{use, physics, std::move(note)};
}

void mark(Element& e, Use use, bool physics, std::string note) {
  e.verdict = Verdict{use, physics, std::move(note)};
}

std::optional<std::string> text(Element& e, std::string_view attribute) {
  Attribute* a = e.find(attribute);
  if (!a) return std::nullopt;
  a->touched = true;
  if (a->value.size() > kMaxNameLength) {
    fail(e, attribute, "longer than " + std::to_string(kMaxNameLength) + " characters; shorten it");
  }
  return a->value;
}

std::string required_text(Element& e, std::string_view attribute) {
  const auto v = text(e, attribute);
  if (!v || v->empty()) {
    fail(e, "attribute " + std::string(attribute) + " is required; add " + std::string(attribute) +
                "=\"...\"");
  }
  return *v;
}

namespace {

std::optional<std::vector<double>> list(Element& e, std::string_view attribute, bool any) {
  Attribute* a = e.find(attribute);
  if (!a) return std::nullopt;
  a->touched = true;
  std::vector<double> out;
  for (const auto w : words(a->value)) out.push_back(to_double(e, attribute, w, any));
  return out;
}

}  // namespace

std::optional<std::vector<double>> numbers(Element& e, std::string_view attribute) {
  return list(e, attribute, false);
}

std::optional<std::vector<double>> any_numbers(Element& e, std::string_view attribute) {
  return list(e, attribute, true);
}

int numbers_into(Element& e, std::string_view attribute, std::span<double> out, int least) {
  Attribute* a = e.find(attribute);
  if (!a) return 0;
  a->touched = true;
  const auto list = words(a->value);
  const auto n = list.size();
  if (n < static_cast<std::size_t>(least) || n > out.size()) {
    const auto most = out.size();
    const std::string expected = static_cast<std::size_t>(least) == most
                                     ? count_of(most)
                                     : std::to_string(least) + " to " + count_of(most);
    fail(e, attribute, "expected " + expected + ", found " + std::to_string(n));
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = to_double(e, attribute, list[i]);
  return static_cast<int>(n);
}

bool exactly(Element& e, std::string_view attribute, std::span<double> out) {
  return numbers_into(e, attribute, out, static_cast<int>(out.size())) > 0;
}

bool exactly(Element& e, std::string_view attribute, Vec3& out) {
  return exactly(e, attribute, std::span<double>(out.data(), 3));
}

std::optional<double> number(Element& e, std::string_view attribute) {
  double v = 0;
  if (!exactly(e, attribute, std::span(&v, 1))) return std::nullopt;
  return v;
}

std::optional<int> integer(Element& e, std::string_view attribute) {
  const auto v = number(e, attribute);
  if (!v) return std::nullopt;
  if (*v != std::floor(*v) || std::abs(*v) > 2147483647.0) {
    fail(e, attribute, "expected a whole number of 32 bits");
  }
  return static_cast<int>(*v);
}

std::optional<int> choice(Element& e, std::string_view attribute,
                          std::initializer_list<const char*> options) {
  Attribute* a = e.find(attribute);
  if (!a) return std::nullopt;
  a->touched = true;
  std::string list;
  int i = 0;
  for (const char* w : options) {
    if (a->value == w) return i;
    list += (i++ ? ", " : "") + std::string(w);
  }
  fail(e, attribute, "expected one of: " + list);
}

std::optional<bool> boolean(Element& e, std::string_view attribute) {
  const auto i = choice(e, attribute, {"false", "true"});
  if (!i) return std::nullopt;
  return *i == 1;
}

void require_nonnegative(const Element& e, std::string_view attribute, double value) {
  if (!(value >= 0)) fail(e, attribute, shown(value) + " is negative; give a value >= 0");
}

void require_positive(const Element& e, std::string_view attribute, double value) {
  if (!(value > 0)) fail(e, attribute, shown(value) + " is not positive; give a value > 0");
}

}  // namespace stiction::model
