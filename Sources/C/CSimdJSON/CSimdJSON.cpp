#include "CSimdJSON.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

using namespace simdjson;

namespace {

constexpr size_t recordsAtOnce = 128;
/// Buffers for longer messages are given back once they are read: they take some fifteen times the message.
constexpr size_t keptCapacity = 256 << 10;
constexpr size_t maximumUnknown = 16;

std::string string(const uint8_t *bytes, size_t count) {
    return count == 0 ? std::string() : std::string(reinterpret_cast<const char *>(bytes), count);
}

/// RFC 6901 section 4: digits without a leading zero.
std::optional<size_t> arrayIndex(std::string_view token) {
    if (token.size() > 1 && token.front() == '0') return std::nullopt;
    size_t index = 0;
    auto [end, error] = std::from_chars(token.begin(), token.end(), index);
    if (error != std::errc() || end != token.end()) return std::nullopt;
    return index;
}

bool isBetweenTexts(uint8_t byte) {
    // U+001E begins each text of a sequence (RFC 7464).
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == 0x1E;
}

/// The end of the JSON text that begins at `start`, as far as quotation marks and brackets tell; the texts are checked
/// later. Nothing where it does not end, or where something else than white space stands behind it.
std::optional<size_t> textEnd(const uint8_t *message, size_t count, size_t start) {
    size_t depth = 0;
    for (auto place = start; place < count; ++place) {
        const auto byte = message[place];
        if (byte == '"') {
            for (++place; place < count && message[place] != '"'; ++place) {
                if (message[place] == '\\') ++place;
            }
        } else if (byte == '[' || byte == '{') {
            ++depth;
        } else if (byte == ']' || byte == '}') {
            if (depth == 0) return std::nullopt;
            --depth;
        } else if (depth == 0 && (byte == ',' || byte == ':')) {
            return std::nullopt;
        }
        if (depth == 0 && (place + 1 >= count || isBetweenTexts(message[place + 1]))) return std::min(place + 1, count);
    }
    return std::nullopt;
}

/// Several JSON texts as one array of them.
std::optional<std::string> joinedTexts(const uint8_t *message, size_t count) {
    std::string joined;
    for (size_t place = 0; place < count;) {
        if (isBetweenTexts(message[place])) {
            ++place;
            continue;
        }
        const auto end = textEnd(message, count, place);
        if (!end) return std::nullopt;
        joined += joined.empty() ? '[' : ',';
        joined.append(reinterpret_cast<const char *>(message) + place, *end - place);
        place = *end;
    }
    if (joined.empty()) return std::nullopt;
    return joined + ']';
}

}  // namespace

struct CSimdJSON_reader {
    const size_t maximumDepth;
    std::vector<std::string> tokens;
    struct Member {
        std::string name;
        /// Further tokens, of a pointer into what is there.
        std::vector<std::string> rest;
        /// Whether the name is a pointer's first token, which may be the index of an array.
        bool isPointer = false;
    };
    std::vector<Member> members;
    bool hasPointers = false;
    /// What is read of a member that is an object; the values stand behind the members' in each record.
    struct Inner {
        std::vector<std::string> names;
        size_t first = 0;
        bool notesUnknown = false;
    };
    /// By member.
    std::vector<Inner> inner;
    size_t innerCount = 0;
    /// Names of other members of those objects, each once.
    std::vector<CSimdJSON_value> unknown;
    dom::parser parser;
    std::vector<CSimdJSON_value> values;
    /// The JSON texts of the message, or what the pointer finds in each of them.
    std::vector<dom::element> parts;
    size_t nextPart = 0;
    struct Array {
        dom::array::iterator next, end;
    };
    /// The part whose elements are being given.
    std::optional<Array> array;
    size_t textEnd = 0;

    explicit CSimdJSON_reader(size_t maximumDepth) : maximumDepth(maximumDepth) {}

    CSimdJSON_outcome read(const uint8_t *message, size_t count) {
        parts.clear();
        nextPart = 0;
        array = std::nullopt;
        textEnd = 0;
        unknown.clear();
        const auto outcome = parse(message, count);
        if (outcome != CSimdJSON_outcome_records) {
            parts.clear();
            shrink();
        }
        return outcome;
    }

    /// Frees the memory of a long message; its texts are gone.
    void shrink() {
        if (parser.capacity() <= keptCapacity) return;
        parser = dom::parser();
        parts.clear();
        nextPart = 0;
        textEnd = 0;
        unknown.clear();
    }

    CSimdJSON_outcome parse(const uint8_t *message, size_t count) {
        if (parser.capacity() == 0) {
            // The document itself is a level for simdjson, and it refuses at the limit, not beyond it.
            if (parser.allocate(dom::MINIMAL_DOCUMENT_CAPACITY, maximumDepth + 1)) return CSimdJSON_outcome_notJSON;
        }
        dom::element text;
        // true: copies the message to where it has room behind it.
        if (count > 0 && !parser.parse(message, count, true).get(text)) {
            add(text);
            if (parts.empty()) return CSimdJSON_outcome_nothing;
            const auto isReadable = parts[0].is_array() || parts[0].is_object();
            return isReadable ? CSimdJSON_outcome_records : CSimdJSON_outcome_notAnArray;
        }
        const auto joined = joinedTexts(message, count);
        dom::array texts;
        if (!joined || parser.parse(*joined).get(texts)) return CSimdJSON_outcome_notJSON;
        for (const auto each : texts) add(each);
        return parts.empty() ? CSimdJSON_outcome_nothing : CSimdJSON_outcome_records;
    }

    /// Adds what the pointer finds in a JSON text, if anything.
    void add(dom::element value) {
        for (const auto &token : tokens) {
            if (!descend(value, token)) return;
        }
        if (tokens.empty() || !value.is_null()) parts.push_back(value);
    }

    /// Goes on to the value that the token names. Of a member that is given twice it is the last one.
    static bool descend(dom::element &value, std::string_view token) {
        dom::object object;
        dom::array array;
        if (!value.get(object)) {
            bool isFound = false;
            for (auto field : object) {
                if (field.key != token) continue;
                value = field.value;
                isFound = true;
            }
            return isFound;
        }
        auto index = arrayIndex(token);
        return index && !value.get(array) && !array.at(*index).get(value);
    }

    size_t fill() {
        size_t count = 0;
        auto *record = values.data();
        const auto size = recordSize();
        while (count < recordsAtOnce) {
            if (array && array->next != array->end) {
                fill(record, *array->next);
                ++array->next;
            } else if (nextPart == parts.size()) {
                break;
            } else {
                const auto part = parts[nextPart++];
                dom::array elements;
                array = std::nullopt;
                if (!part.get(elements)) {
                    array = Array{elements.begin(), elements.end()};
                    continue;
                }
                fill(record, part);
            }
            ++count;
            record += size;
        }
        if (count == 0) shrink();
        return count;
    }

    void fill(CSimdJSON_value *record, dom::element element) {
        dom::object object;
        dom::array array;
        const auto isObject = !element.get(object);
        const auto isArray = hasPointers && !element.get(array);
        const auto count = members.size();
        for (size_t member = 0; member < count; ++member) {
            const auto isReadable = isObject || (isArray && members[member].isPointer);
            record[member].kind = isReadable ? CSimdJSON_kind_absent : CSimdJSON_kind_notAnObject;
        }
        if (isArray) return fillFromArray(record, element);
        if (!isObject) return;
        for (auto field : object) {
            for (size_t member = 0; member < count; ++member) {
                if (field.key != members[member].name) continue;
                // Of a member that is given twice the last one counts, as in JavaScript.
                if (!hasPointers) {
                    fill(record[member], field.value);
                    break;
                }
                // Several may lead through one member.
                fill(record[member], field.value, members[member].rest);
            }
        }
    }

    void fillFromArray(CSimdJSON_value *record, dom::element element) {
        for (size_t member = 0; member < members.size(); ++member) {
            auto value = element;
            if (!members[member].isPointer || !descend(value, members[member].name)) continue;
            fill(record[member], value, members[member].rest);
        }
    }

    void fill(CSimdJSON_value &value, dom::element element, const std::vector<std::string> &rest) {
        for (const auto &token : rest) {
            if (descend(element, token)) continue;
            value.kind = CSimdJSON_kind_absent;
            return;
        }
        fill(value, element);
    }

    /// Reads the members of an object, if it is a record's member of which some are to be read.
    void open(CSimdJSON_value &value, dom::object object) {
        const auto place = static_cast<size_t>(&value - values.data()) % recordSize();
        if (place >= members.size() || inner[place].names.empty()) return;
        const auto &names = inner[place].names;
        value.kind = CSimdJSON_kind_object;
        auto *first = &value - place + inner[place].first;
        for (size_t member = 0; member < names.size(); ++member) first[member].kind = CSimdJSON_kind_absent;
        for (auto field : object) {
            const auto name = std::find(names.begin(), names.end(), field.key);
            if (name != names.end()) {
                fill(first[name - names.begin()], field.value);
            } else if (inner[place].notesUnknown) {
                note(field.key);
            }
        }
    }

    void note(std::string_view name) {
        const auto isName = [&](const CSimdJSON_value &other) {
            return std::string_view(reinterpret_cast<const char *>(texts()) + other.offset, other.count) == name;
        };
        if (unknown.size() == maximumUnknown || std::any_of(unknown.begin(), unknown.end(), isName)) return;
        unknown.emplace_back();
        fillText(unknown.back(), name);
    }

    void fillText(CSimdJSON_value &value, std::string_view text) {
        value.kind = CSimdJSON_kind_text;
        value.offset = static_cast<uint32_t>(reinterpret_cast<const uint8_t *>(text.data()) - texts());
        value.count = static_cast<uint32_t>(text.size());
        textEnd = std::max(textEnd, size_t(value.offset) + value.count);
    }

    static void fillNumber(CSimdJSON_value &value, dom::element element, CSimdJSON_kind kind, uint64_t magnitude) {
        value.kind = kind;
        value.number = element.get_double().value_unsafe();
        value.offset = static_cast<uint32_t>(magnitude >> 32);
        value.count = static_cast<uint32_t>(magnitude);
    }

    void fill(CSimdJSON_value &value, dom::element element) {
        switch (element.type()) {
        case dom::element_type::STRING: fillText(value, element.get_string().value_unsafe()); break;
        case dom::element_type::DOUBLE: fillNumber(value, element, CSimdJSON_kind_number, 0); break;
        case dom::element_type::INT64: {
            const auto number = element.get_int64().value_unsafe();
            const auto magnitude = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
            fillNumber(value, element, CSimdJSON_kind_integer, magnitude);
            break;
        }
        case dom::element_type::UINT64:
            fillNumber(value, element, CSimdJSON_kind_integer, element.get_uint64().value_unsafe());
            break;
        case dom::element_type::NULL_VALUE: value.kind = CSimdJSON_kind_null; break;
        case dom::element_type::OBJECT:
            value.kind = CSimdJSON_kind_other;
            open(value, element.get_object().value_unsafe());
            break;
        default: value.kind = CSimdJSON_kind_other; break;
        }
    }

    size_t recordSize() const { return members.size() + innerCount; }

    /// Where simdjson puts all strings of a document, one behind the other.
    const uint8_t *texts() const { return parser.doc.string_buf.get(); }
};

extern "C" {

CSimdJSON_reader *CSimdJSON_make(size_t maximumDepth) {
    return new CSimdJSON_reader(maximumDepth);
}

void CSimdJSON_free(CSimdJSON_reader *reader) { delete reader; }

void CSimdJSON_addToken(CSimdJSON_reader *reader, const uint8_t *bytes, size_t count) {
    auto &tokens = reader->members.empty() ? reader->tokens : reader->members.back().rest;
    tokens.push_back(string(bytes, count));
}

void CSimdJSON_addMember(CSimdJSON_reader *reader, bool isPointer, const uint8_t *bytes, size_t count) {
    reader->members.push_back({string(bytes, count), {}, isPointer});
    reader->hasPointers = reader->hasPointers || isPointer;
    reader->inner.emplace_back();
    reader->values.resize(reader->recordSize() * recordsAtOnce);
}

void CSimdJSON_addInnerMember(
    CSimdJSON_reader *reader, size_t member, bool notesUnknown, const uint8_t *bytes, size_t count) {
    auto &inner = reader->inner[member];
    if (inner.names.empty()) inner.first = reader->recordSize();
    inner.names.push_back(string(bytes, count));
    inner.notesUnknown = notesUnknown;
    reader->innerCount += 1;
    reader->values.resize(reader->recordSize() * recordsAtOnce);
}

CSimdJSON_outcome CSimdJSON_read(CSimdJSON_reader *reader, const uint8_t *message, size_t count) {
    return reader->read(message, count);
}

const CSimdJSON_value *CSimdJSON_nextRecords(CSimdJSON_reader *reader, size_t *count) {
    *count = reader->fill();
    return reader->values.data();
}

const CSimdJSON_value *CSimdJSON_unknownMembers(const CSimdJSON_reader *reader, size_t *count) {
    *count = reader->unknown.size();
    return reader->unknown.data();
}

const uint8_t *CSimdJSON_texts(const CSimdJSON_reader *reader, size_t *count) {
    *count = reader->textEnd;
    return reader->texts();
}

}
