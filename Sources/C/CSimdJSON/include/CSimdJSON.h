// The part of simdjson that the message reader needs, as C: Swift imports C++ only with C++ interoperability enabled
// in every dependent target. Nothing here throws; running out of memory ends the process, as in Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A simdjson parser with its buffers. For one thread at a time.
typedef struct CSimdJSON_parser CSimdJSON_parser;

/// A message in the format of simdjson's doc/tape.md. Owned by the parser, and valid until its next call.
typedef struct CSimdJSON_document {
    /// The first value is at index 1.
    const uint64_t *_Nullable tape;
    size_t tapeCount;
    /// Strings of the tape, each a 32-bit byte count followed by UTF-8 without escapes.
    const uint8_t *_Nullable texts;
    size_t textsCount;
    /// Whether the message is a single JSON text; otherwise the first value is an array of its texts.
    bool isOneText;
} CSimdJSON_document;

#pragma clang assume_nonnull begin

/// Makes a parser, to be freed with ``CSimdJSON_free``. Messages nested deeper than `maximumDepth` are invalid.
CSimdJSON_parser *CSimdJSON_make(size_t maximumDepth);
void CSimdJSON_free(CSimdJSON_parser *parser);

/// Parses and validates a message of at most 1 GiB. Returns false if it is not JSON, has a number that no double can
/// hold, an integer beyond 64 bits or an unpaired surrogate, or is nested too deeply.
bool CSimdJSON_read(
    CSimdJSON_parser *parser, const uint8_t *_Nullable message, size_t count, CSimdJSON_document *document);

/// Frees the buffers of a long message.
void CSimdJSON_shrink(CSimdJSON_parser *parser);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
