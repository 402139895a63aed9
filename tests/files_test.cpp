// Files are replaced whole or not at all; links, modes and devices stay what they are.
#include "files.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "stiction/error.h"

namespace stiction::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("stiction_files_" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static void replace(const fs::path& path, const std::string& text) {
    replace_file(path.string(), text.data(), text.size());
  }
  static std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string problem(const fs::path& path) {
    try {
      replace(path, "new");
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  }
  int entries() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), {}));
  }
};

TEST_F(Files, AFileKeepsItsMode) {
  const fs::path file = folder_ / "a";
  replace(file, "first");
  EXPECT_EQ(contents(file), "first");
  for (const auto mode : {fs::perms(0640), fs::perms(0600), fs::perms(0664)}) {
    fs::permissions(file, mode);
    replace(file, "second");
    EXPECT_EQ(fs::status(file).permissions(), mode);
  }
  EXPECT_EQ(contents(file), "second");
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, ANewFileHasTheModeOfTheProcess) {
  const mode_t before = umask(027);
  replace(folder_ / "a", "x");
  umask(before);
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0640));
}

TEST_F(Files, ALinkStaysOne) {
  fs::create_directory(folder_ / "far");
  fs::create_symlink("far/b", folder_ / "a");  // to nothing at first
  fs::create_symlink(folder_ / "a", folder_ / "far" / "c");
  for (const char* text : {"first", "second"}) {
    replace(folder_ / "far" / "c", text);
    EXPECT_TRUE(fs::is_symlink(folder_ / "a") && fs::is_symlink(folder_ / "far" / "c"));
    EXPECT_FALSE(fs::is_symlink(folder_ / "far" / "b"));
    EXPECT_EQ(contents(folder_ / "far" / "b"), text);
  }
  fs::create_symlink("round", folder_ / "round");
  EXPECT_THAT(problem(folder_ / "round"), HasSubstr("can't be written: Too many levels"));
}

TEST_F(Files, ADeviceIsWrittenAsItIs) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::fstream reader(pipe, std::ios::in | std::ios::out);  // both: does not wait for a writer
  replace(pipe, "text\n");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Files, WhatCannotBeWrittenStays) {
  EXPECT_THAT(problem("/nowhere/at/all"), HasSubstr("/nowhere/at/all: can't be written: No such"));
  EXPECT_THAT(problem(folder_), HasSubstr("Is a directory"));
  const fs::path file = folder_ / "a";
  replace(file, "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit two{2, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &two);
  const std::string text = problem(file);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(text, HasSubstr("File too large"));
  EXPECT_EQ(contents(file), "old");
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace stiction::test
