#include "cuda/ptx/fat_binary.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "cuda/ptx/program.h"

namespace stiction::ptx {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* data;
  const void* file;
};
struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // of the entries
};
struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, unused[5];
  std::uint64_t flags, unused_too, whole_bytes;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1, kHeaderMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1, kElf = 2;
constexpr std::uint64_t kLz4 = 0x2000, kZstandard = 0x8000;  // how the content is compressed

template <class T>
T at(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// The section .nv.info: notes of four bytes, of which those here have two words behind them, a symbol
// and a number.
void read_notes(const std::byte* elf, std::map<std::string, Resources>& kernels) {
  constexpr std::uint8_t kSized = 4, kFrame = 0x11, kRegisters = 0x2f;
  const auto head = at<Elf64_Ehdr>(elf);
  const auto section = [&](std::size_t k) {
    return at<Elf64_Shdr>(elf + head.e_shoff + k * head.e_shentsize);
  };
  const std::byte* const section_names = elf + section(head.e_shstrndx).sh_offset;
  Elf64_Shdr symbols{}, notes{};
  for (std::size_t k = 0; k < head.e_shnum; ++k) {
    const Elf64_Shdr s = section(k);
    const std::string_view name = reinterpret_cast<const char*>(section_names + s.sh_name);
    if (s.sh_type == SHT_SYMTAB) symbols = s;
    if (name == ".nv.info") notes = s;
  }
  if (symbols.sh_size == 0) return;
  const std::byte* const names = elf + section(symbols.sh_link).sh_offset;
  const auto name_of = [&](std::uint32_t symbol) {
    const auto s = at<Elf64_Sym>(elf + symbols.sh_offset + symbol * sizeof(Elf64_Sym));
    return std::string(reinterpret_cast<const char*>(names + s.st_name));
  };
  const std::byte* p = elf + notes.sh_offset;
  for (const std::byte* const end = p + notes.sh_size; p < end;) {
    const auto format = at<std::uint8_t>(p), what = at<std::uint8_t>(p + 1);
    const auto size = at<std::uint16_t>(p + 2);
    p += 4;
    if (format != kSized) continue;
    if (what == kFrame || what == kRegisters) {
      Resources& r = kernels[name_of(at<std::uint32_t>(p))];
      (what == kFrame ? r.stack_bytes : r.registers) = at<std::int32_t>(p + 4);
    }
    p += size;
  }
}

// By Debian's own library, which dpkg needs; nothing of the project is linked to it.
std::string decompressed(const std::byte* from, std::size_t bytes, std::size_t whole_bytes) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  const auto function = library == nullptr ? nullptr : dlsym(library, "ZSTD_decompress");
  if (function == nullptr)
    throw Fault("PTX is compressed: install libzstd1, or compile with nvcc --no-compress");
  std::string whole(whole_bytes, '\0');
  if (reinterpret_cast<Decompress>(function)(whole.data(), whole_bytes, from, bytes) != whole_bytes)
    throw Fault("PTX is compressed in a way that libzstd does not know");
  return whole;
}

std::string content_of(const Entry& e, const std::byte* p) {
  if ((e.flags & kLz4) != 0)
    throw Fault("PTX is compressed by LZ4: compile with nvcc --no-compress");
  if ((e.flags & kZstandard) != 0) return decompressed(p, e.compressed_bytes, e.whole_bytes);
  return {reinterpret_cast<const char*>(p), e.bytes};
}

}  // namespace

FatBinary read_fat_binary(const void* wrapper) {
  FatBinary found;
  const auto w = at<Wrapper>(static_cast<const std::byte*>(wrapper));
  if (w.magic != kWrapperMagic) throw Fault("PTX: this is no fat binary");
  const auto head = at<Header>(w.data);
  if (head.magic != kHeaderMagic) throw Fault("PTX: this is no fat binary");
  const std::byte* p = w.data + head.header_bytes;
  for (const std::byte* const end = p + head.bytes; p < end;) {
    const auto e = at<Entry>(p);
    const std::byte* const content = p + e.header_bytes;
    if (e.kind == kPtx || e.kind == kElf) {
      std::string text = content_of(e, content);
      if (e.kind == kElf)
        read_notes(reinterpret_cast<const std::byte*>(text.data()), found.kernels);
      else
        found.ptx.push_back(text.substr(0, text.find('\0')));
    }
    p = content + e.bytes;
  }
  return found;
}

}  // namespace stiction::ptx
