// simdjson is C++, which Swift imports only with its C++ interoperability switched on for every target above. This is
// as much of it as the reader of messages needs, behind a C face. Nothing here throws; out of memory ends the process,
// as it does in Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A simdjson parser with its buffers. Used from one thread at a time.
typedef struct CSimdJSON_parser CSimdJSON_parser;

/// A message as simdjson keeps it: its doc/tape.md has the format. The parser's, until its next call.
typedef struct CSimdJSON_document {
    /// The first value is at 1.
    const uint64_t *_Nullable tape;
    size_t tapeCount;
    /// Where the tape's texts are: for each the number of its bytes, 32 bits, and then UTF-8, escapes replaced.
    const uint8_t *_Nullable texts;
    size_t textsCount;
    /// Otherwise the first value is an array of the message's JSON texts.
    bool isOneText;
} CSimdJSON_document;

#pragma clang assume_nonnull begin

/// Given back with ``CSimdJSON_free``. Deeper messages than `maximumDepth` are no JSON.
CSimdJSON_parser *CSimdJSON_make(size_t maximumDepth);
void CSimdJSON_free(CSimdJSON_parser *parser);

/// Checks the whole message, at most 1 GiB. Returns false for no JSON, which is also a number that no double can hold,
/// an unpaired surrogate, and objects and arrays nested too deep.
bool CSimdJSON_read(
    CSimdJSON_parser *parser, const uint8_t *_Nullable message, size_t count, CSimdJSON_document *document);

/// Frees the memory of a long message.
void CSimdJSON_shrink(CSimdJSON_parser *parser);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
