#pragma once
#include <zlib.h>

/* deflateInit2 is a macro. */
static inline int CZlib_deflateInit2(z_streamp stream, int level, int method, int windowBits, int memLevel, int strategy)
{
    return deflateInit2(stream, level, method, windowBits, memLevel, strategy);
}
