// How src/physics is compiled: the compiler and the instruction set.
#pragma once

// Everything in src/physics lives in an inline namespace named after the instruction set, so that a
// function compiled for AVX-512 is never linked into code for an older machine.
#ifndef STICTION_ISA
#define STICTION_ISA baseline
#endif
#define STICTION_PHYSICS_BEGIN  \
  namespace stiction::physics { \
  inline namespace STICTION_ISA {
#define STICTION_PHYSICS_END \
  }                          \
  }

// Marks a function of src/physics: it runs on the host and, under nvcc, on the device.
#ifdef __CUDACC__
#define STICTION_FN __host__ __device__ __forceinline__
#elif defined(STICTION_FORCE_INLINE)
// Number types that the product instantiates: g++ leaves operations on packs out of line in large stages.
#define STICTION_FN inline __attribute__((always_inline))
#else
#define STICTION_FN inline
#endif
// Keeps a loop rolled: unrolling would only add code, and the code that a kernel executes must fit into
// the instruction caches.
#ifdef __CUDACC__
#define STICTION_ROLLED _Pragma("unroll 1")
#else
#define STICTION_ROLLED
#endif
// Unrolls a loop of constant length over values in registers: a variable index would move them to memory.
#ifdef __CUDACC__
#define STICTION_UNROLLED _Pragma("unroll")
#else
#define STICTION_UNROLLED _Pragma("GCC unroll 16")
#endif
// Large and rarely needed: on a device a separate function, so that its registers do not burden its callers.
#ifdef __CUDACC__
#define STICTION_RARE __host__ __device__ __noinline__ inline
#else
#define STICTION_RARE STICTION_FN
#endif
// One of many template instances selected by a switch: inlined, they would compete for registers.
#ifdef __CUDACC__
#define STICTION_OUTLINE __host__ __device__ __noinline__
#else
#define STICTION_OUTLINE __attribute__((noinline))
#endif
// Compiled once per CPU translation unit: inlined copies may contract different products and sums into FMAs,
// and then the bits of a lane would depend on which copy the lane went through.
#ifdef __CUDACC__
#define STICTION_SINGLE STICTION_FN
#else
#define STICTION_SINGLE __attribute__((noinline))
#endif
// Rarely executed inside a hot loop: out of line, it leaves the loop its registers. On a GPU a call would
// spill them to the stack.
#ifdef __CUDACC__
#define STICTION_COLD STICTION_FN
#else
#define STICTION_COLD STICTION_OUTLINE
#endif
