// What a terminal would obey is escaped, and nothing else.
#include "stiction/text.h"

#include <gmock/gmock.h>

#include "stiction/error.h"

namespace stiction::test {
namespace {

TEST(Text, WhatATerminalObeysIsEscaped) {
  const struct {
    std::string_view given;
    const char* expected;
  } cases[] = {
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"\x1b[2J", "\\x1b[2J"},
      {"a\nb\rc\td", "a\\nb\\rc\\td"},
      {std::string_view("a\0b", 3), "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},                                 // CSI as one character
      {"\xc2\xad", "\\xad"},                        // soft hyphen
      {"\xe2\x80\xaename", "\\u202ename"},          // right to left from here
      {"\xe2\x81\xa6", "\\u2066"},                  // isolate
      {"\xe2\x80\xa8", "\\u2028"},                  // line separator
      {"\xef\xbb\xbf", "\\ufeff"},                  // byte order mark
      {"\xf3\xa0\x81\x81", "\\U000e0041"},          // tag
      {"\xff\xc3", "\\xff\\xc3"},                   // no UTF-8
      {"\xc0\x9b", "\\xc0\\x9b"},                   // CSI, longer than needed
      {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},          // the same in three bytes
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          // half a surrogate pair
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}  // beyond Unicode
  };
  for (const auto& c : cases) EXPECT_EQ(visible(c.given), c.expected);
}

TEST(Text, WhatShowsStaysAsItIs) {
  for (const char* text :
       {"", "left knee", "Fuß", "膝", "\xf0\x9f\xa6\xbf", "a\\x1b", "{\"q\": 1}"})
    EXPECT_EQ(visible(text), text);
  const std::string once = visible("\x1b[31m\n");
  EXPECT_EQ(visible(once), once);
  EXPECT_EQ(visible_lines("one\n  two\x1b"), "one\n  two\\x1b");
}

TEST(Text, ErrorsCanBePrinted) {
  EXPECT_STREQ(ArgumentError("'\x1b[31m': no such\n  line").what(), "'\\x1b[31m': no such\n  line");
}

}  // namespace
}  // namespace stiction::test
