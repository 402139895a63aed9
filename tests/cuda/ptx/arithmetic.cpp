// The opcodes that compute, by name.
#include <bit>
#include <cmath>
#include <limits>

#include "cuda/ptx/lanes.h"
#include "cuda/ptx/operations.h"

namespace stiction::ptx {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// Arithmetic on integers wraps.
template <class T>
using Wraps = std::make_unsigned_t<T>;
template <class T>
struct TwiceAs;
template <>
struct TwiceAs<u16> {
  using type = u32;
};
template <>
struct TwiceAs<s16> {
  using type = s32;
};
template <>
struct TwiceAs<u32> {
  using type = u64;
};
template <>
struct TwiceAs<s32> {
  using type = s64;
};
template <>
struct TwiceAs<u64> {
  using type = unsigned __int128;
};
template <>
struct TwiceAs<s64> {
  using type = __int128;
};
template <class T>
using Twice = typename TwiceAs<T>::type;

#define STICTION_BINARY(name, expression) \
  struct name {                           \
    template <class T>                    \
    auto operator()(T a, T b) const {     \
      return expression;                  \
    }                                     \
  }
#define STICTION_UNARY(name, expression) \
  struct name {                          \
    template <class T>                   \
    auto operator()(T a) const {         \
      return expression;                 \
    }                                    \
  }
STICTION_BINARY(IntAdd, static_cast<T>(Wraps<T>(a) + Wraps<T>(b)));
STICTION_BINARY(IntSub, static_cast<T>(Wraps<T>(a) - Wraps<T>(b)));
STICTION_BINARY(MulLow, static_cast<T>(Wraps<T>(u64(Wraps<T>(a)) * u64(Wraps<T>(b)))));
STICTION_BINARY(MulWide, static_cast<Twice<T>>(Twice<T>(a) * Twice<T>(b)));
STICTION_BINARY(MulHigh, static_cast<T>((Twice<T>(a) * Twice<T>(b)) >> (8 * sizeof(T))));
// by zero: any number; the least of signed ones by -1: itself
STICTION_BINARY(IntDiv, b == 0 ? T(-1)
                        : T(b + 1) == 0 && std::is_signed_v<T>
                            ? static_cast<T>(Wraps<T>(0) - Wraps<T>(a))
                            : static_cast<T>(a / b));
STICTION_BINARY(IntRem, b == 0                                 ? a
                        : T(b + 1) == 0 && std::is_signed_v<T> ? T(0)
                                                               : static_cast<T>(a % b));
STICTION_BINARY(Most, a > b ? a : b);
STICTION_BINARY(Least, a < b ? a : b);
STICTION_BINARY(And, static_cast<T>(a& b));
STICTION_BINARY(Or, static_cast<T>(a | b));
STICTION_BINARY(Xor, static_cast<T>(a ^ b));
STICTION_BINARY(Add, a + b);
STICTION_BINARY(Sub, a - b);
STICTION_BINARY(Mul, a* b);
STICTION_BINARY(Div, a / b);
STICTION_BINARY(FloatMost, std::fmax(a, b));
STICTION_BINARY(FloatLeast, std::fmin(a, b));
STICTION_BINARY(CopySign, std::copysign(b, a));  // the sign of the first
STICTION_BINARY(Equal, a == b);
STICTION_BINARY(Unequal, a != b);
STICTION_BINARY(Less, a < b);
STICTION_BINARY(LessEqual, a <= b);
STICTION_BINARY(Greater, a > b);
STICTION_BINARY(GreaterEqual, a >= b);
STICTION_BINARY(Ordered, a == a && b == b);
STICTION_BINARY(Unordered, a != a || b != b);
STICTION_BINARY(OrderedUnequal, a<b || a> b);
STICTION_BINARY(UnorderedEqual, !(a < b || a > b));
STICTION_BINARY(UnorderedLess, !(a >= b));
STICTION_BINARY(UnorderedLessEqual, !(a > b));
STICTION_BINARY(UnorderedGreater, !(a <= b));
STICTION_BINARY(UnorderedGreaterEqual, !(a < b));
STICTION_UNARY(Same, a);
STICTION_UNARY(Not, static_cast<T>(~a));
STICTION_UNARY(IntNeg, static_cast<T>(Wraps<T>(0) - Wraps<T>(a)));
STICTION_UNARY(IntAbs, static_cast<T>(a < 0 ? Wraps<T>(0) - Wraps<T>(a) : Wraps<T>(a)));
STICTION_UNARY(Neg, -a);
STICTION_UNARY(Abs, std::fabs(a));
STICTION_UNARY(Root, std::sqrt(a));
STICTION_UNARY(Inverse, T(1) / a);
STICTION_UNARY(Nearest, std::nearbyint(a));
STICTION_UNARY(TowardsZero, std::trunc(a));
STICTION_UNARY(Down, std::floor(a));
STICTION_UNARY(Up, std::ceil(a));
STICTION_UNARY(Ones, static_cast<u32>(std::popcount(a)));
STICTION_UNARY(LeadingZeros, static_cast<u32>(std::countl_zero(a)));
#undef STICTION_BINARY
#undef STICTION_UNARY

// By how many places the highest one is to be shifted to become the highest bit; of 0 all ones.
struct ShiftAmount {
  u32 operator()(u32 a) const { return a == 0 ? ~u32{0} : static_cast<u32>(std::countl_zero(a)); }
};
struct ReverseBits {
  u32 operator()(u32 a) const {
    u32 reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (a >> k & 1u) << (31 - k);
    return reversed;
  }
};
// Nibble k of the selector names the byte that becomes byte k: 0 to 3 of a, 4 to 7 of b; with 8 added, copies
// of its sign.
struct PermuteBytes {
  u32 operator()(u32 a, u32 b, u32 selector) const {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    u32 out = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 nibble = selector >> 4 * k & 0xfu;
      u32 byte = static_cast<u32>(bytes >> 8 * (nibble & 7u)) & 0xffu;
      if (nibble > 7) byte = byte > 127 ? 0xffu : 0u;
      out |= byte << 8 * k;
    }
    return out;
  }
};

struct ShiftLeft {
  template <class T>
  T operator()(T a, u32 by) const {
    return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << by);
  }
};
// of signed numbers: copies of the sign come in
struct ShiftRight {
  template <class T>
  T operator()(T a, u32 by) const {
    constexpr u32 most = 8 * sizeof(T) - 1;
    if (by > most) return std::is_signed_v<T> ? static_cast<T>(a >> most) : T(0);
    return static_cast<T>(a >> by);
  }
};
// The lowest bits of a, so many, into b from a place on.
struct InsertBits {
  u32 operator()(u32 a, u32 b, u32 place, u32 count) const {
    place &= 0xff, count &= 0xff;
    for (u32 k = 0; k < count && place + k < 32; ++k) {
      const u32 bit = u32{1} << (place + k);
      b = (a >> k & 1) != 0 ? b | bit : b & ~bit;
    }
    return b;
  }
};
struct MadLow {
  template <class T>
  T operator()(T a, T b, T c) const {
    return IntAdd()(MulLow()(a, b), c);
  }
};
struct MadWide {
  template <class T>
  Twice<T> operator()(T a, T b, Twice<T> c) const {
    return IntAdd()(MulWide()(a, b), c);
  }
};
struct Fused {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
// Towards zero or as rounded before; beyond the range its end, of no number zero.
template <class D, class Round>
struct ToInteger {
  template <class S>
  D operator()(S x) const {
    x = Round()(x);
    if (x != x) return 0;
    if (x <= static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (x >= static_cast<S>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(x);
  }
};
template <Space space, bool to_space>
struct Convert {
  u64 operator()(u64 a) const { return to_space ? a - window(space) : a + window(space); }
};

template <class T>
void logic(Operations& all, const std::string& type) {
  all["and." + type] = map_lanes<And, T, T, T>;
  all["or." + type] = map_lanes<Or, T, T, T>;
  all["xor." + type] = map_lanes<Xor, T, T, T>;
  all["not." + type] = map_lanes<Not, T, T>;
  all["shl." + type] = map_lanes<ShiftLeft, T, T, u32>;
  all["shr." + type] = map_lanes<ShiftRight, T, T, u32>;
  if constexpr (sizeof(T) >= 4) {
    all["popc." + type] = map_lanes<Ones, u32, T>;
    all["clz." + type] = map_lanes<LeadingZeros, u32, T>;
    if constexpr (sizeof(T) == 4) {
      all["brev." + type] = map_lanes<ReverseBits, T, T>;
      all["prmt." + type] = map_lanes<PermuteBytes, T, T, T, T>;
      all["bfi.b32"] = map_lanes<InsertBits, u32, u32, u32, u32, u32>;
    }
    all["bfind.shiftamt.u32"] = map_lanes<ShiftAmount, u32, u32>;
  }
}

template <class T>
void any(Operations& all, const std::string& type) {
  all["mov." + type] = map_lanes<Same, T, T>;
  all["selp." + type] = select_lanes<T>;
  all["setp.eq." + type] = compare_lanes<Equal, T>;
  all["setp.ne." + type] = compare_lanes<Unequal, T>;
  all["setp.lt." + type] = compare_lanes<Less, T>;
  all["setp.le." + type] = compare_lanes<LessEqual, T>;
  all["setp.gt." + type] = compare_lanes<Greater, T>;
  all["setp.ge." + type] = compare_lanes<GreaterEqual, T>;
}

template <class T>
void integers(Operations& all, const std::string& type) {
  any<T>(all, type);
  all["add." + type] = map_lanes<IntAdd, T, T, T>;
  all["sub." + type] = map_lanes<IntSub, T, T, T>;
  all["mul.lo." + type] = map_lanes<MulLow, T, T, T>;
  all["mul.hi." + type] = map_lanes<MulHigh, T, T, T>;
  all["mad.lo." + type] = map_lanes<MadLow, T, T, T, T>;
  if constexpr (sizeof(T) < 8) {
    all["mul.wide." + type] = map_lanes<MulWide, Twice<T>, T, T>;
    all["mad.wide." + type] = map_lanes<MadWide, Twice<T>, T, T, Twice<T>>;
  }
  all["div." + type] = map_lanes<IntDiv, T, T, T>;
  all["rem." + type] = map_lanes<IntRem, T, T, T>;
  all["max." + type] = map_lanes<Most, T, T, T>;
  all["min." + type] = map_lanes<Least, T, T, T>;
  all["shr." + type] = map_lanes<ShiftRight, T, T, u32>;
  if constexpr (std::is_signed_v<T>) {
    all["neg." + type] = map_lanes<IntNeg, T, T>;
    all["abs." + type] = map_lanes<IntAbs, T, T>;
  }
}

template <class T>
void floats(Operations& all, const std::string& type) {
  any<T>(all, type);
  for (const char* rounding : {".", ".rn."}) {
    all[std::string("add") + rounding + type] = map_lanes<Add, T, T, T>;
    all[std::string("sub") + rounding + type] = map_lanes<Sub, T, T, T>;
    all[std::string("mul") + rounding + type] = map_lanes<Mul, T, T, T>;
  }
  all["div.rn." + type] = map_lanes<Div, T, T, T>;
  all["fma.rn." + type] = map_lanes<Fused, T, T, T, T>;
  all["sqrt.rn." + type] = map_lanes<Root, T, T>;
  all["rcp.rn." + type] = map_lanes<Inverse, T, T>;
  all["abs." + type] = map_lanes<Abs, T, T>;
  all["neg." + type] = map_lanes<Neg, T, T>;
  all["max." + type] = map_lanes<FloatMost, T, T, T>;
  all["min." + type] = map_lanes<FloatLeast, T, T, T>;
  all["copysign." + type] = map_lanes<CopySign, T, T, T>;
  all["setp.ne." + type] = compare_lanes<OrderedUnequal, T>;
  all["setp.num." + type] = compare_lanes<Ordered, T>;
  all["setp.nan." + type] = compare_lanes<Unordered, T>;
  all["setp.equ." + type] = compare_lanes<UnorderedEqual, T>;
  all["setp.neu." + type] = compare_lanes<Unequal, T>;
  all["setp.ltu." + type] = compare_lanes<UnorderedLess, T>;
  all["setp.leu." + type] = compare_lanes<UnorderedLessEqual, T>;
  all["setp.gtu." + type] = compare_lanes<UnorderedGreater, T>;
  all["setp.geu." + type] = compare_lanes<UnorderedGreaterEqual, T>;
  const std::string same = type + "." + type;
  all["cvt.rni." + same] = map_lanes<Nearest, T, T>;
  all["cvt.rzi." + same] = map_lanes<TowardsZero, T, T>;
  all["cvt.rmi." + same] = map_lanes<Down, T, T>;
  all["cvt.rpi." + same] = map_lanes<Up, T, T>;
}

template <class D, class S>
void conversion(Operations& all, const std::string& to, const std::string& from) {
  const std::string types = to + "." + from;
  if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
    all["cvt." + types] = map_lanes<Same, D, S>;
  } else if constexpr (std::is_integral_v<S>) {
    all["cvt.rn." + types] = map_lanes<Same, D, S>;
  } else if constexpr (std::is_integral_v<D>) {
    all["cvt.rzi." + types] = map_lanes<ToInteger<D, TowardsZero>, D, S>;
    all["cvt.rni." + types] = map_lanes<ToInteger<D, Nearest>, D, S>;
    all["cvt.rmi." + types] = map_lanes<ToInteger<D, Down>, D, S>;
    all["cvt.rpi." + types] = map_lanes<ToInteger<D, Up>, D, S>;
  } else if constexpr (sizeof(D) != sizeof(S)) {
    all[(sizeof(D) > sizeof(S) ? "cvt." : "cvt.rn.") + types] = map_lanes<Same, D, S>;
  }
}
template <class D>
void conversions(Operations& all, const std::string& to) {
  conversion<D, u8>(all, to, "u8"), conversion<D, std::int8_t>(all, to, "s8");
  conversion<D, u16>(all, to, "u16"), conversion<D, s16>(all, to, "s16");
  conversion<D, u32>(all, to, "u32"), conversion<D, s32>(all, to, "s32");
  conversion<D, u64>(all, to, "u64"), conversion<D, s64>(all, to, "s64");
  conversion<D, float>(all, to, "f32"), conversion<D, double>(all, to, "f64");
}

// Known where either operand decides alone.
void and_predicate(Warp& w, const Instruction& i) {
  const Lanes a = predicate(w, i.from[0]), b = predicate(w, i.from[1]);
  const Lanes no_a = w.unwritten_in(i.from[0]), no_b = w.unwritten_in(i.from[1]);
  write_predicate(w, i.to, a & b);
  w.depends(i.to, (no_a & (no_b | b)) | (no_b & a));
}
void or_predicate(Warp& w, const Instruction& i) {
  const Lanes a = predicate(w, i.from[0]), b = predicate(w, i.from[1]);
  const Lanes no_a = w.unwritten_in(i.from[0]), no_b = w.unwritten_in(i.from[1]);
  write_predicate(w, i.to, a | b);
  w.depends(i.to, (no_a & (no_b | ~b)) | (no_b & ~a));
}
void xor_predicate(Warp& w, const Instruction& i) {
  const Lanes from = unwritten_sources(w, i);
  write_predicate(w, i.to, predicate(w, i.from[0]) ^ predicate(w, i.from[1]));
  w.depends(i.to, from);
}
void not_predicate(Warp& w, const Instruction& i) {
  const Lanes from = unwritten_sources(w, i);
  write_predicate(w, i.to, ~predicate(w, i.from[0]));
  w.depends(i.to, from);
}
void move_predicate(Warp& w, const Instruction& i) {
  const Lanes from = unwritten_sources(w, i);
  write_predicate(w, i.to, predicate(w, i.from[0]));
  w.depends(i.to, from);
}

// `mov.b64 %rd, {%r1, %r2}` and back.
template <class Whole, class Half>
void pack(Warp& w, const Instruction& i) {
  const Held<Half>*const low = w.row<Held<Half>>(i.vector[0]), *const high =
                                                                   w.row<Held<Half>>(i.vector[1]);
  const Lanes from = w.unwritten_in(i.vector[0]) | w.unwritten_in(i.vector[1]);
  write_lanes<Whole>(w, i, [=](int l) {
    return static_cast<Whole>(Whole(held<Half>(low[l])) | Whole(held<Half>(high[l]))
                                                              << (8 * sizeof(Half)));
  });
  w.depends(i.to, from);
}
template <class Whole, class Half>
void unpack(Warp& w, const Instruction& i) {
  Instruction part = i;
  for (int k = 0; k < 2; ++k) {
    const Whole* const a = w.row<Whole>(i.from[0]);
    part.to = i.vector[k];
    write_lanes<Half>(w, part,
                      [=](int l) { return static_cast<Half>(a[l] >> (8 * sizeof(Half) * k)); });
    w.depends(part.to, w.unwritten_in(i.from[0]));
  }
}

template <Space space>
void addresses(Operations& all, const std::string& name) {
  all["cvta." + name + ".u64"] = map_lanes<Convert<space, false>, u64, u64>;
  all["cvta.to." + name + ".u64"] = map_lanes<Convert<space, true>, u64, u64>;
}

}  // namespace

void add_arithmetic(Operations& all) {
  logic<u16>(all, "b16"), logic<u32>(all, "b32"), logic<u64>(all, "b64");
  any<u16>(all, "b16"), any<u32>(all, "b32"), any<u64>(all, "b64");
  integers<u16>(all, "u16"), integers<u32>(all, "u32"), integers<u64>(all, "u64");
  integers<s16>(all, "s16"), integers<s32>(all, "s32"), integers<s64>(all, "s64");
  floats<float>(all, "f32"), floats<double>(all, "f64");
  conversions<u8>(all, "u8"), conversions<std::int8_t>(all, "s8");
  conversions<u16>(all, "u16"), conversions<s16>(all, "s16");
  conversions<u32>(all, "u32"), conversions<s32>(all, "s32");
  conversions<u64>(all, "u64"), conversions<s64>(all, "s64");
  conversions<float>(all, "f32"), conversions<double>(all, "f64");
  all["and.pred"] = and_predicate, all["or.pred"] = or_predicate;
  all["xor.pred"] = xor_predicate, all["not.pred"] = not_predicate;
  all["mov.pred"] = move_predicate;
  all["pack.mov.b64"] = pack<u64, u32>, all["unpack.mov.b64"] = unpack<u64, u32>;
  all["pack.mov.b32"] = pack<u32, u16>, all["unpack.mov.b32"] = unpack<u32, u16>;
  addresses<Space::global>(all, "global"), addresses<Space::shared>(all, "shared");
  addresses<Space::local>(all, "local"), addresses<Space::param>(all, "param");
}

}  // namespace stiction::ptx
