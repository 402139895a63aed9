// Text of files on its way to a terminal, which would obey escape sequences in it.
#pragma once

#include <string>
#include <string_view>

namespace stiction {

// `text` with everything escaped that does not show as itself: control characters ("\x1b", "\n"),
// marks of writing direction and invisible characters ("\u202e"), bytes that are no UTF-8 ("\xff").
// What is escaped already stays as it is.
std::string visible(std::string_view text);

// The same for a whole message: its own line breaks stay.
std::string visible_lines(std::string_view text);

}  // namespace stiction
