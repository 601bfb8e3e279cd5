#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>

// Swift does not import this macro, which expands to other macros.
static const unsigned int CISAL_LEVEL_1_BUFFER_BYTES = ISAL_DEF_LVL1_SMALL;

#if defined(__x86_64__)
__attribute__((target("avx"))) static inline void cisal_vzeroupper(void) { __builtin_ia32_vzeroupper(); }

/// Ends the thread's use of AVX. ISA-L leaves the upper halves of the vector registers in use; until they are
/// cleared, SSE instructions wait for one another, and text is written at less than half the speed (Intel's
/// Optimization Reference Manual, "Mixing AVX Code with SSE Code").
static inline void cisal_leave_avx(void) {
    if (__builtin_cpu_supports("avx")) cisal_vzeroupper();
}

/// Whether the upper halves are in use, for a test. Corresponds to `XGETBV` with ECX = 1, which all processors with
/// AVX-512 have; false on others.
__attribute__((target("xsave"))) static inline bool cisal_uses_avx(void) {
    return __builtin_cpu_supports("avx512f") && (__builtin_ia32_xgetbv(1) & 4) != 0;
}
#else
static inline void cisal_leave_avx(void) {}
static inline bool cisal_uses_avx(void) { return false; }
#endif
