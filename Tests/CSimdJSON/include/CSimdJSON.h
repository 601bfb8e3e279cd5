#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What simdjson says of a document: 0 valid, 1 invalid, 2 refused for a limit of its own that is none of JSON's
/// (numbers beyond the range of its types, unpaired surrogates, depth).
int CSimdJSON_judge(const uint8_t *bytes, size_t count);

/// The number that `bytes` is, by simdjson's correctly rounded conversion; NaN when it is none.
double CSimdJSON_number(const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
