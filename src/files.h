// Files that are written whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace stiction {

// The bytes take the place of the file once all of them are on the disk; where that fails the file is
// as it was, and Error says why. A symbolic link stays one, what it points to is replaced; owner and
// mode are kept. A device or a pipe is written as it is.
void replace_file(const std::string& path, const void* data, std::size_t size);

}  // namespace stiction
