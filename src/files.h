// Writes files atomically: completely or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace stiction {

// Replaces the file by these bytes once all of them are on the disk; on failure the file is unchanged,
// and Error says why. A symbolic link stays one, and its target is replaced; owner and mode are kept.
// A device or a pipe is written directly.
void replace_file(const std::string& path, const void* data, std::size_t size);

}  // namespace stiction
