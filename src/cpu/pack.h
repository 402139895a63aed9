// Pack<T, W>: W environments side by side, one per lane, as native vectors of the instruction set.
// Provides the operations of physics/base/scalar.h. Never compiled by nvcc, which rejects vector types.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

#if defined(__AVX512F__) && defined(__AVX512DQ__)
inline constexpr int kVectorBytes = 64, kVectorRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32, kVectorRegisters = 16;
#else
inline constexpr int kVectorBytes = 16, kVectorRegisters = 16;
#endif
inline constexpr int kNativeLanes = kVectorBytes / 4;  // floats

template <class T>
struct Vector;
template <>
struct Vector<float> {
  typedef float Real __attribute__((vector_size(kVectorBytes)));
  typedef std::int32_t Bits __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Vector<double> {
  typedef double Real __attribute__((vector_size(kVectorBytes)));
  typedef std::int64_t Bits __attribute__((vector_size(kVectorBytes)));
};

// A mask of lanes: all bits set, or none. Deliberately without operator bool.
template <class T, int W>
struct PackMask {
  using Bits = typename Vector<T>::Bits;
  static constexpr int kVectors = W * static_cast<int>(sizeof(T)) / kVectorBytes;
  Bits v[kVectors];
};

template <class T, int W>
struct Pack {
  using Real = typename Vector<T>::Real;
  using Bits = typename Vector<T>::Bits;
  static constexpr int kVectors = W * static_cast<int>(sizeof(T)) / kVectorBytes;
  static_assert(kVectors * kVectorBytes == W * static_cast<int>(sizeof(T)));
  Real v[kVectors];

  Pack() = default;
  explicit Pack(double x) {
    // x - {} keeps the sign of a zero, {} + x would not
    for (int i = 0; i < kVectors; ++i) v[i] = static_cast<T>(x) - Real{};
  }
};

template <class T, int W>
struct Traits<Pack<T, W>> {
  using Wide = Pack<double, W>;
  using Mask = PackMask<T, W>;
  using Lane = T;
  static constexpr int lanes = W, registers = kVectorRegisters / Pack<T, W>::kVectors;
};

// clang-format off
#define STICTION_PACK_OPERATOR(op)                                                        \
  template <class T, int W>                                                               \
  STICTION_FN Pack<T, W> operator op(const Pack<T, W>& a, const Pack<T, W>& b) {               \
    Pack<T, W> r;                                                                         \
    for (int i = 0; i < r.kVectors; ++i) r.v[i] = a.v[i] op b.v[i];                       \
    return r;                                                                             \
  }
STICTION_PACK_OPERATOR(+)
STICTION_PACK_OPERATOR(-)
STICTION_PACK_OPERATOR(*)
STICTION_PACK_OPERATOR(/)
#undef STICTION_PACK_OPERATOR

#define STICTION_PACK_COMPARISON(op)                                                      \
  template <class T, int W>                                                               \
  STICTION_FN PackMask<T, W> operator op(const Pack<T, W>& a, const Pack<T, W>& b) {           \
    PackMask<T, W> r;                                                                     \
    for (int i = 0; i < r.kVectors; ++i) r.v[i] = a.v[i] op b.v[i];                       \
    return r;                                                                             \
  }
STICTION_PACK_COMPARISON(<)
STICTION_PACK_COMPARISON(>)
STICTION_PACK_COMPARISON(<=)
STICTION_PACK_COMPARISON(>=)
STICTION_PACK_COMPARISON(==)
STICTION_PACK_COMPARISON(!=)
#undef STICTION_PACK_COMPARISON

#define STICTION_MASK_OPERATOR(op, bits)                                                  \
  template <class T, int W>                                                               \
  STICTION_FN PackMask<T, W> operator op(const PackMask<T, W>& a, const PackMask<T, W>& b) {   \
    PackMask<T, W> r;                                                                     \
    for (int i = 0; i < r.kVectors; ++i) r.v[i] = a.v[i] bits b.v[i];                     \
    return r;                                                                             \
  }
STICTION_MASK_OPERATOR(&&, &)
STICTION_MASK_OPERATOR(||, |)
#undef STICTION_MASK_OPERATOR
// clang-format on

template <class T, int W>
STICTION_FN Pack<T, W> operator-(const Pack<T, W>& a) {
  Pack<T, W> r;
  for (int i = 0; i < r.kVectors; ++i) r.v[i] = -a.v[i];
  return r;
}
template <class T, int W>
STICTION_FN PackMask<T, W> operator!(const PackMask<T, W>& a) {
  PackMask<T, W> r;
  for (int i = 0; i < r.kVectors; ++i) r.v[i] = ~a.v[i];
  return r;
}

template <class T, int W>
STICTION_FN Pack<T, W> select(const PackMask<T, W>& m, const Pack<T, W>& a, const Pack<T, W>& b) {
  Pack<T, W> r;
  for (int i = 0; i < r.kVectors; ++i) r.v[i] = m.v[i] ? a.v[i] : b.v[i];
  return r;
}
template <class T, int W>
STICTION_FN PackMask<T, W> select(const PackMask<T, W>& m, const PackMask<T, W>& a,
                                  const PackMask<T, W>& b) {
  return (m && a) || (!m && b);
}

template <class T, int W>
STICTION_FN bool any_lane(const PackMask<T, W>& m) {
  auto bits = m.v[0];
  for (int i = 1; i < m.kVectors; ++i) bits |= m.v[i];
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_movepi32_mask((__m512i)bits) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8((__m256i)bits) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)bits) != 0;
#else
  std::int64_t words[kVectorBytes / 8], all = 0;
  std::memcpy(words, &bits, kVectorBytes);
  for (std::int64_t w : words) all |= w;
  return all != 0;
#endif
}
template <class T, int W>
STICTION_FN int count_lanes(const PackMask<T, W>& m) {
  T lanes[W];
  std::memcpy(lanes, m.v, sizeof lanes);
  const T none[W] = {};
  int count = 0;
  for (int i = 0; i < W; ++i) count += std::memcmp(&lanes[i], &none[i], sizeof(T)) != 0 ? 1 : 0;
  return count;
}

template <class T, int W>
STICTION_FN Pack<T, W> vmin(const Pack<T, W>& a, const Pack<T, W>& b) {
  return select(a < b, a, b);
}
template <class T, int W>
STICTION_FN Pack<T, W> vmax(const Pack<T, W>& a, const Pack<T, W>& b) {
  return select(a > b, a, b);
}

// Reinterprets the bits of a vector.
template <class To, class From>
STICTION_FN To bit_cast_vector(const From& x) {
  To r;
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&r, &x, sizeof r);
  return r;
}
template <class T, int W>
STICTION_FN Pack<T, W> vcopysign(const Pack<T, W>& a, const Pack<T, W>& b) {
  using P = Pack<T, W>;
  const auto sign = bit_cast_vector<typename P::Bits>(P(-0.0).v[0]);
  P r;
  for (int i = 0; i < r.kVectors; ++i)
    r.v[i] = bit_cast_vector<typename P::Real>((bit_cast_vector<typename P::Bits>(a.v[i]) & ~sign) |
                                               (bit_cast_vector<typename P::Bits>(b.v[i]) & sign));
  return r;
}
template <class T, int W>
STICTION_FN Pack<T, W> vabs(const Pack<T, W>& a) {
  return vcopysign(a, Pack<T, W>(0.0));
}

STICTION_FN Vector<float>::Real sqrt_vector(Vector<float>::Real a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (Vector<float>::Real)_mm512_maskz_sqrt_ps(0xffff, (__m512)a);
#elif defined(__AVX2__)
  return (Vector<float>::Real)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
  return (Vector<float>::Real)_mm_sqrt_ps((__m128)a);
#else
  for (int k = 0; k < kVectorBytes / 4; ++k) a[k] = __builtin_sqrtf(a[k]);
  return a;
#endif
}
STICTION_FN Vector<double>::Real sqrt_vector(Vector<double>::Real a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (Vector<double>::Real)_mm512_maskz_sqrt_pd(0xff, (__m512d)a);
#elif defined(__AVX2__)
  return (Vector<double>::Real)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
  return (Vector<double>::Real)_mm_sqrt_pd((__m128d)a);
#else
  for (int k = 0; k < kVectorBytes / 8; ++k) a[k] = __builtin_sqrt(a[k]);
  return a;
#endif
}
template <class T, int W>
STICTION_FN Pack<T, W> vsqrt(const Pack<T, W>& a) {
  Pack<T, W> r;
  for (int i = 0; i < r.kVectors; ++i) r.v[i] = sqrt_vector(a.v[i]);
  return r;
}

// Adding 1.5 2^m shifts the fraction out of the mantissa; beyond 2^m every number is an integer.
template <class T, int W>
STICTION_FN Pack<T, W> vround(const Pack<T, W>& a) {
  const double big = sizeof(T) == 4 ? 0x1p23 : 0x1p52;
  const Pack<T, W> magic = vcopysign(Pack<T, W>(big), a);
  return select(vabs(a) < Pack<T, W>(big), vcopysign((a + magic) - magic, a), a);
}

// Halves of a vector of floats, and back.
using FloatHalf = float __attribute__((vector_size(kVectorBytes / 2)));
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define STICTION_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define STICTION_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif defined(__AVX2__)
#define STICTION_LOW 0, 1, 2, 3
#define STICTION_HIGH 4, 5, 6, 7
#else
#define STICTION_LOW 0, 1
#define STICTION_HIGH 2, 3
#endif

// g++ 12 splits the generic conversion into two.
STICTION_FN Vector<double>::Real widen_half(FloatHalf a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (Vector<double>::Real)_mm512_maskz_cvtps_pd(0xff, (__m256)a);
#else
  return __builtin_convertvector(a, Vector<double>::Real);
#endif
}

// A pack of floats has half as many vectors as one of doubles; the lower lanes come first.
template <class S, int W>
STICTION_FN S narrow(const Pack<double, W>& a) {
  if constexpr (sizeof(Lane<S>) == 8) {
    return a;
  } else {
    S r;
    for (int i = 0; i < r.kVectors; ++i) {
      const FloatHalf low = __builtin_convertvector(a.v[2 * i], FloatHalf);
      const FloatHalf high = __builtin_convertvector(a.v[2 * i + 1], FloatHalf);
      r.v[i] = __builtin_shufflevector(low, high, STICTION_LOW, STICTION_HIGH);
    }
    return r;
  }
}
template <class T, int W>
STICTION_FN Pack<double, W> widen(const Pack<T, W>& a) {
  if constexpr (sizeof(T) == 8) {
    return a;
  } else {
    Pack<double, W> r;
    for (int i = 0; i < a.kVectors; ++i) {
      const FloatHalf low = __builtin_shufflevector(a.v[i], a.v[i], STICTION_LOW);
      const FloatHalf high = __builtin_shufflevector(a.v[i], a.v[i], STICTION_HIGH);
      r.v[2 * i] = widen_half(low);
      r.v[2 * i + 1] = widen_half(high);
    }
    return r;
  }
}
#undef STICTION_LOW
#undef STICTION_HIGH

// Masks change width through a number: 1 where the mask is set.
template <class S, int W>
STICTION_FN Mask<S> narrow_mask(const PackMask<double, W>& m) {
  return narrow<S>(select(m, Pack<double, W>(1.0), Pack<double, W>(0.0))) > S(0.5);
}
template <class S, int W, class T>
STICTION_FN Mask<Wide<S>> widen_mask(const PackMask<T, W>& m) {
  return widen(select(m, Pack<T, W>(1.0), Pack<T, W>(0.0))) > Pack<double, W>(0.5);
}

template <class T, int W>
STICTION_FN T get_lane(const Pack<T, W>& a, int lane) {
  T x;
  std::memcpy(&x, reinterpret_cast<const char*>(&a) + lane * static_cast<int>(sizeof(T)), sizeof x);
  return x;
}
template <class T, int W>
STICTION_FN void set_lane(Pack<T, W>& a, int lane, T x) {
  std::memcpy(reinterpret_cast<char*>(&a) + lane * static_cast<int>(sizeof(T)), &x, sizeof x);
}
template <class T, int W>
STICTION_FN bool get_lane(const PackMask<T, W>& m, int lane) {
  typename std::conditional<sizeof(T) == 4, std::int32_t, std::int64_t>::type bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(&m) + lane * static_cast<int>(sizeof bits),
              sizeof bits);
  return bits != 0;
}

STICTION_PHYSICS_END
