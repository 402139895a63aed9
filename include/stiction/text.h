// Makes text from files safe for a terminal, which would otherwise obey escape sequences in it.
#pragma once

#include <string>
#include <string_view>

namespace stiction {

// Returns `text` with every invisible or non-literal character escaped: control characters ("\x1b", "\n"),
// bidirectional marks and invisible characters ("\u202e"), bytes that are not UTF-8 ("\xff").
// Existing escapes stay as they are.
std::string visible(std::string_view text);

// The same for a whole message: its own line breaks stay.
std::string visible_lines(std::string_view text);

}  // namespace stiction
