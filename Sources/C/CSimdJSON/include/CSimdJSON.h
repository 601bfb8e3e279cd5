// simdjson is C++, which Swift imports only with its C++ interoperability switched on for every target above. This is
// as much of it as the reader of records needs, behind a C face. Nothing here throws; out of memory ends the process,
// as it does in Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

/// A simdjson parser with its buffers, and what it is to look for. Used from one thread at a time.
typedef struct CSimdJSON_reader CSimdJSON_reader;

typedef enum __attribute__((enum_extensibility(closed))) CSimdJSON_outcome : uint32_t {
    CSimdJSON_outcome_records,
    /// Also a number that no double can hold, an unpaired surrogate, and objects and arrays nested too deep.
    CSimdJSON_outcome_notJSON,
    /// Valid JSON, but neither an array nor an object at the place of the items.
    CSimdJSON_outcome_notAnArray,
    /// Valid JSON in which there is nothing, or null, at the place of the items.
    CSimdJSON_outcome_nothing,
} CSimdJSON_outcome;

typedef enum __attribute__((enum_extensibility(closed))) CSimdJSON_kind : uint32_t {
    CSimdJSON_kind_absent,
    CSimdJSON_kind_null,
    CSimdJSON_kind_text,
    CSimdJSON_kind_number,
    /// A number without fraction and exponent: `offset` and `count` are the halves of its magnitude.
    CSimdJSON_kind_integer,
    /// true, false, an array, or an object that is not opened.
    CSimdJSON_kind_other,
    /// An object whose members were asked for.
    CSimdJSON_kind_object,
    /// The record itself is no object.
    CSimdJSON_kind_notAnObject,
} CSimdJSON_kind;

/// A member of a record.
typedef struct CSimdJSON_value {
    double number;
    /// Where the text is in what ``CSimdJSON_texts`` lends: UTF-8, escapes replaced.
    uint32_t offset;
    uint32_t count;
    CSimdJSON_kind kind;
} CSimdJSON_value;

/// Given back with ``CSimdJSON_free``. Deeper messages than `maximumDepth` are no JSON.
CSimdJSON_reader *CSimdJSON_make(size_t maximumDepth);
void CSimdJSON_free(CSimdJSON_reader *reader);

/// The next reference token of a pointer (RFC 6901): before any member is added of the one to the items, which is empty
/// without any; else of the one from the member that was added last to the value that is read, which is the member's
/// own without any.
void CSimdJSON_addToken(CSimdJSON_reader *reader, const uint8_t *_Nullable bytes, size_t count);
/// The name of the next member of each record; of a pointer its first token, which may be the index of a record that is
/// an array.
void CSimdJSON_addMember(CSimdJSON_reader *reader, bool isPointer, const uint8_t *_Nullable bytes, size_t count);

/// Adds a member to read from the object that is the record's member `member`. The values of such members follow those of
/// the record's own members, object by object in the order of this call, and are valid only if the kind of their object is
/// `CSimdJSON_kind_object`. All members of the record are added before, and those of an object one after another.
void CSimdJSON_addInnerMember(
    CSimdJSON_reader *reader, size_t member, bool notesUnknown, const uint8_t *_Nullable bytes, size_t count);

/// Checks the whole message, at most 1 GiB, and finds the items in it; forgets the message before.
CSimdJSON_outcome CSimdJSON_read(CSimdJSON_reader *reader, const uint8_t *_Nullable message, size_t count);

/// The next records of the message, so many at most that they fit a processor's nearest cache.
///
/// Sets `count`, which is 0 at the end. Each record has as many values as members were added, of both sorts. They are
/// the reader's until the next call. At the end the memory of a long message is given back, its texts included.
const CSimdJSON_value *_Nullable CSimdJSON_nextRecords(CSimdJSON_reader *reader, size_t *count);

/// The first names of members of opened objects that were not asked for, each once, of the records read so far of this
/// message. The reader's until the next call of any other function.
const CSimdJSON_value *_Nullable CSimdJSON_unknownMembers(const CSimdJSON_reader *reader, size_t *count);

/// What the texts of all records read so far of this message point into. The reader's until the
/// next message, or until there are no more records.
const uint8_t *_Nullable CSimdJSON_texts(const CSimdJSON_reader *reader, size_t *count);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
