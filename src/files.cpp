#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "stiction/error.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(path + ": can't be written: " + std::strerror(error) +
              "; does the folder exist, and has the disk room?");
}

// Resolves a chain of symbolic links to the path at its end, which need not exist.
fs::path followed(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as on Linux
  fs::path at = path;
  std::error_code none;
  for (int i = 0; fs::is_symlink(at, none); ++i) {
    if (i == kMaxLinks) refuse(path, ELOOP);
    const fs::path next = fs::read_symlink(at, none);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at;
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : fd_(open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

  // Each returns 0 or errno.
  int write_all(const void* data, std::size_t size) const {
    const auto* from = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = write(fd_, from, size);
      if (n < 0 && errno != EINTR) return errno;
      if (n > 0) from += n, size -= static_cast<std::size_t>(n);
    }
    return 0;
  }
  int sync() const { return fsync(fd_) == 0 ? 0 : errno; }
  int close_now() {  // network file systems report a full disk only here
    const int result = close(fd_);
    fd_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

void copy_owner_and_mode(const struct stat& from, int to) {
  // a process that may not change the owner keeps its own
  if (fchown(to, from.st_uid, from.st_gid) != 0) errno = 0;
  if (fchmod(to, from.st_mode & 07777u) != 0) errno = 0;
}

// Returns 0 or errno; `part` is then complete and on the disk.
int write_part(const fs::path& part, const struct stat* old, const void* data, std::size_t size) {
  Descriptor file(part, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.get() < 0) return errno;
  if (old != nullptr) copy_owner_and_mode(*old, file.get());
  int error = file.write_all(data, size);
  if (error == 0) error = file.sync();
  const int closed = file.close_now();
  return error != 0 ? error : closed;
}

// Makes the new name of a file durable; some file systems do not support that.
int sync_folder(const fs::path& folder) {
  const Descriptor dir(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (dir.get() < 0) return 0;  // a folder that may be written but not read
  const int error = dir.sync();
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ? 0 : error;
}

int write_in_place(const fs::path& path, const void* data, std::size_t size) {
  Descriptor file(path, O_WRONLY);
  if (file.get() < 0) return errno;
  const int error = file.write_all(data, size);
  const int closed = file.close_now();
  return error != 0 ? error : closed;
}

}  // namespace

void replace_file(const std::string& path, const void* data, std::size_t size) {
  static std::atomic<unsigned> count{0};
  const fs::path target = followed(path);
  struct stat old {};
  const bool exists = stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    if (const int error = write_in_place(target, data, size)) refuse(path, error);
    return;
  }
  if (exists && access(target.c_str(), W_OK) != 0) refuse(path, errno);
  fs::path part = target.parent_path() / ".part-";
  part +=
      std::to_string(getpid()) + "-" + std::to_string(count++) + "-" + target.filename().string();
  int error = write_part(part, exists ? &old : nullptr, data, size);
  if (error == 0 && std::rename(part.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    std::remove(part.c_str());
    refuse(path, error);
  }
  if (const int unsynced = sync_folder(target.parent_path())) refuse(path, unsynced);
}

}  // namespace stiction
