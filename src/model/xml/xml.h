// XML as the reader uses it: elements with file and line, includes spliced in, and a record of
// which attributes were read.
#pragma once

#include <array>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "math.h"
#include "stiction/load.h"
#include "stiction/report.h"

namespace stiction::model {

// Bounds that keep hostile files cheap; far above any robot.
inline constexpr std::size_t kMaxFileBytes = 32u << 20;
inline constexpr int kMaxDepth = 400;  // including includes; one file: as deep as tinyxml2 allows
inline constexpr int kMaxAttributes = 100;
inline constexpr int kMaxElements = 200'000;
inline constexpr std::size_t kMaxNameLength = 1000;
inline constexpr int kMaxIncludes = 64;         // length of a chain of includes
inline constexpr double kLargestNumber = 1e36;  // fits into single precision, and so do sums

// What became of an attribute or an element.
struct Verdict {
  Use use = Use::used;
  bool physics = false;
  std::string note;
};

struct Attribute {
  std::string name, value;
  bool touched = false;  // read by code that understands it
  std::optional<Verdict> verdict;
};

// Origin of elements: <replicate> and <attach> make copies, which repeat what is written at their line, and
// wrappers, which are not written anywhere.
enum class Origin { written, copied, wrapper };

struct Element {
  std::string name;
  const std::string* file = nullptr;
  int line = 0;
  std::vector<Attribute> attributes;
  std::vector<Element> children;
  std::optional<Verdict> verdict;  // on the element as a whole: its content is not examined
  Origin origin = Origin::written;
  int scope = 0;   // whose <compiler> applies: 0 the model's own, else that of an attached model
  int place = -1;  // of an attached joint or actuator: its index in the attached model,
  int owner = -1;  // and the model whose keyframes move it (index in Assembly::keys)

  Attribute* find(std::string_view attribute);
  bool has(std::string_view attribute) { return find(attribute) != nullptr; }
};

// Used by readers of other formats: add an element that has the line of `from`, set an attribute.
Element& add_child(Element& parent, const char* name, const Element& from);
void set_attribute(Element& e, const char* name, std::string value);

// The tree of one model: includes are spliced, so only meaningful elements remain.
struct Document {
  std::deque<std::string> files;  // deque: elements keep pointers into it
  Element root;
  std::vector<ReportEntry> remarks;  // on text between the elements
};

// The disk as the reader sees it: the real one, recording every file it reads, or only such records.
class Disk {
 public:
  Disk() = default;
  explicit Disk(Assets* notes) : notes_(notes) {}
  explicit Disk(const Assets& known) : known_(&known) {}

  bool has(const std::filesystem::path& path) const;
  // Throws ModelError with `shown_as` if it is missing, too long or unreadable.
  std::string read(const std::filesystem::path& path, const std::string& shown_as) const;

 private:
  Assets* notes_ = nullptr;
  const Assets* known_ = nullptr;
};

Document parse_file(const std::string& path, const Assets& assets = {}, const Disk& disk = {});
Document parse_string(const std::string& xml, const std::string& directory,
                      const Assets& assets = {}, const Disk& disk = {});

// Finds a file that an element of another file names: beside that file, else beside the main file.
struct FoundFile {
  std::filesystem::path path;
  const Assets::value_type* asset = nullptr;  // null: on the disk
  std::string identity() const;               // equal for the same file
};
FoundFile find_file(const Element& at, const std::string& name,
                    const std::filesystem::path& directory,
                    const std::filesystem::path& main_directory, const Assets& assets,
                    const Disk& disk);
Document parse_found(const FoundFile& file, const Assets& assets, const Disk& disk);

// Returns the asset that replaces a file: by its path, as written or below `directory`, else the only one
// with its bare name; null if there is none.
const Assets::value_type* find_asset(const Assets& assets, const std::string& directory,
                                     const std::string& file);

// "FILE:LINE: <joint name="knee"> range="a b": WHAT"
std::string where(const Element& e, std::string_view attribute = {});
[[noreturn]] void fail(const Element& e, const std::string& what);
[[noreturn]] void fail(const Element& e, std::string_view attribute, const std::string& what);
std::string shown(std::string_view text);  // shortened and visible(), for messages
std::string shown(double value);

// Records a verdict; for an attribute shared by several elements the gravest one is kept.
void mark(Element& e, std::string_view attribute, Use use, bool physics, std::string note);
void mark(Element& e, Use use, bool physics, std::string note);

// Attribute access. Every function marks the attribute as read and throws ModelError on a bad value.
std::optional<std::string> text(Element& e, std::string_view attribute);
std::string required_text(Element& e, std::string_view attribute);
std::optional<double> number(Element& e, std::string_view attribute);
std::optional<int> integer(Element& e, std::string_view attribute);
std::optional<bool> boolean(Element& e, std::string_view attribute);
// Returns the index into `words`.
std::optional<int> choice(Element& e, std::string_view attribute,
                          std::initializer_list<const char*> words);
std::optional<std::vector<double>> numbers(Element& e, std::string_view attribute);
// Allows numbers beyond kLargestNumber: user data.
std::optional<std::vector<double>> any_numbers(Element& e, std::string_view attribute);
// Reads at least `least` numbers into the front of `out`, whose other entries are unchanged (so a
// partial size overrides only the first entries of its default). Returns their number; 0: absent.
int numbers_into(Element& e, std::string_view attribute, std::span<double> out, int least);
// Reads exactly out.size() numbers; false: absent.
bool exactly(Element& e, std::string_view attribute, std::span<double> out);
bool exactly(Element& e, std::string_view attribute, Vec3& out);

// Range checks that name the attribute.
void require_nonnegative(const Element& e, std::string_view attribute, double value);
void require_positive(const Element& e, std::string_view attribute, double value);

}  // namespace stiction::model
