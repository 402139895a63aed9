// How the physics text is compiled: by which compiler, for which instruction set.
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

// A function of the text: runs on the host and, under nvcc, on the device.
#ifdef __CUDACC__
#define STICTION_FN __host__ __device__ __forceinline__
#elif defined(STICTION_FORCE_INLINE)
// The units that the product runs: g++ leaves operations on packs out of line in large stages.
#define STICTION_FN inline __attribute__((always_inline))
#else
#define STICTION_FN inline
#endif
// A loop as it stands: unrolled it would only be more code, and what a kernel executes must fit into the
// caches of instructions.
#ifdef __CUDACC__
#define STICTION_ROLLED _Pragma("unroll 1")
#else
#define STICTION_ROLLED
#endif
// A loop of constant length over sums in registers: an index that is no constant would put them into memory.
#ifdef __CUDACC__
#define STICTION_UNROLLED _Pragma("unroll")
#else
#define STICTION_UNROLLED _Pragma("GCC unroll 16")
#endif
// Large and seldom needed: on a device a function of its own, whose registers nobody else pays for.
#ifdef __CUDACC__
#define STICTION_RARE __host__ __device__ __noinline__ inline
#else
#define STICTION_RARE STICTION_FN
#endif
// One of many instances that a switch chooses from: inline they would fill each other's registers.
#ifdef __CUDACC__
#define STICTION_OUTLINE __host__ __device__ __noinline__
#else
#define STICTION_OUTLINE __attribute__((noinline))
#endif
// Compiled once in a translation unit of a CPU: copies that were inlined may fuse other products and sums, and a lane's bits
// would depend on which of them it goes through.
#ifdef __CUDACC__
#define STICTION_SINGLE STICTION_FN
#else
#define STICTION_SINGLE __attribute__((noinline))
#endif
// Seldom run inside a hot loop: out of line it leaves the loop its registers. On a GPU a call would
// move them to the stack.
#ifdef __CUDACC__
#define STICTION_COLD STICTION_FN
#else
#define STICTION_COLD STICTION_OUTLINE
#endif
