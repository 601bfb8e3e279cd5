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
/// Of what describes a refused element.
constexpr size_t maximumNames = 12, maximumNameBytes = 48, itemsDepth = 3;

std::string string(const uint8_t *bytes, size_t count) {
    return count == 0 ? std::string() : std::string(reinterpret_cast<const char *>(bytes), count);
}

/// A token of a pointer as it is written.
std::string escaped(std::string_view token) {
    std::string text;
    for (const char character : token) {
        if (character == '~') text += "~0";
        else if (character == '/') text += "~1";
        else text += character;
    }
    return text;
}

/// RFC 6901 section 4: digits without a leading zero.
std::optional<size_t> arrayIndex(std::string_view token) {
    if (token.size() > 1 && token.front() == '0') return std::nullopt;
    size_t index = 0;
    auto [end, error] = std::from_chars(token.begin(), token.end(), index);
    if (error != std::errc() || end != token.end()) return std::nullopt;
    return index;
}

}  // namespace

struct CSimdJSON_reader {
    const size_t maximumDepth;
    std::vector<std::string> tokens;
    struct Member {
        std::string name;
        /// Further tokens, of a pointer into what is there.
        std::vector<std::string> rest;
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
    struct Array {
        /// Of the records given last.
        dom::array::iterator first;
        dom::array::iterator next, end;
    };
    /// The items, if they are an array.
    std::optional<Array> array;
    /// The one item, if it stands in no array.
    std::optional<dom::element> object;
    bool isObjectGiven = false;
    size_t textEnd = 0;
    /// Of the element that was described last.
    std::vector<std::string> names;
    std::string pointer;

    explicit CSimdJSON_reader(size_t maximumDepth) : maximumDepth(maximumDepth) {}

    CSimdJSON_outcome read(const uint8_t *message, size_t count) {
        array = std::nullopt;
        object = std::nullopt;
        isObjectGiven = false;
        textEnd = 0;
        unknown.clear();
        const auto outcome = count == 0 ? CSimdJSON_outcome_notJSON : parse(message, count);
        if (outcome != CSimdJSON_outcome_records) shrink();
        return outcome;
    }

    /// Frees the memory of a long message; its texts are gone.
    void shrink() {
        if (parser.capacity() <= keptCapacity) return;
        parser = dom::parser();
        textEnd = 0;
        unknown.clear();
    }

    CSimdJSON_outcome parse(const uint8_t *message, size_t count) {
        if (parser.capacity() == 0) {
            // The document itself is a level for simdjson, and it refuses at the limit, not beyond it.
            if (parser.allocate(dom::MINIMAL_DOCUMENT_CAPACITY, maximumDepth + 1)) return CSimdJSON_outcome_notJSON;
        }
        dom::element items;
        // true: copies the message to where it has room behind it.
        if (parser.parse(message, count, true).get(items)) return CSimdJSON_outcome_notJSON;
        for (const auto &token : tokens) {
            if (!descend(items, token)) return notAnArray();
        }
        dom::array elements;
        if (items.is_object()) {
            object = items;
        } else if (!items.get(elements)) {
            array = Array{elements.begin(), elements.begin(), elements.end()};
        } else {
            return notAnArray();
        }
        return CSimdJSON_outcome_records;
    }

    CSimdJSON_outcome notAnArray() {
        describe(parser.doc.root(), true);
        return CSimdJSON_outcome_notAnArray;
    }

    /// Notes the names of the value's members and, for a message without an array of items, where there is one.
    void describe(dom::element value, bool isMessage) {
        names.clear();
        pointer.clear();
        if (isMessage && !findItems(parser.doc.root(), itemsDepth)) pointer.clear();
        dom::object members;
        if (value.get(members)) return;
        for (auto field : members) {
            if (names.size() == maximumNames) break;
            names.emplace_back(field.key.substr(0, maximumNameBytes));
        }
    }

    /// Goes on with the pointer to the first array of objects in the value.
    bool findItems(dom::element value, size_t depth) {
        dom::array elements;
        if (!value.get(elements)) return elements.begin() != elements.end() && (*elements.begin()).is_object();
        dom::object members;
        if (depth == 0 || value.get(members)) return false;
        size_t count = 0;
        for (auto field : members) {
            if (++count > maximumNames) break;
            if (field.key.size() > maximumNameBytes) continue;
            const auto length = pointer.size();
            pointer += "/" + escaped(field.key);
            if (findItems(field.value, depth - 1)) return true;
            pointer.resize(length);
        }
        return false;
    }

    void describe(size_t record) {
        if (object) return describe(*object, true);
        auto element = array->first;
        for (; record > 0; --record) ++element;
        describe(*element, false);
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
        if (object && !isObjectGiven) {
            fill(values.data(), *object);
            isObjectGiven = true;
            return 1;
        }
        if (!array || array->next == array->end) {
            array = std::nullopt;
            object = std::nullopt;
            shrink();
            return 0;
        }
        array->first = array->next;
        size_t count = 0;
        auto *record = values.data();
        const auto size = recordSize();
        for (; array->next != array->end && count < recordsAtOnce; ++array->next, ++count, record += size) {
            fill(record, *array->next);
        }
        return count;
    }

    void fill(CSimdJSON_value *record, dom::element element) {
        dom::object object;
        const auto kind = element.get(object) ? CSimdJSON_kind_notAnObject : CSimdJSON_kind_absent;
        const auto count = members.size();
        for (size_t member = 0; member < count; ++member) record[member].kind = kind;
        if (kind == CSimdJSON_kind_notAnObject) return;
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

    void fill(CSimdJSON_value &value, dom::element element) {
        switch (element.type()) {
        case dom::element_type::STRING: fillText(value, element.get_string().value_unsafe()); break;
        case dom::element_type::DOUBLE:
        case dom::element_type::INT64:
        case dom::element_type::UINT64:
            value.kind = CSimdJSON_kind_number;
            value.number = element.get_double().value_unsafe();
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
    reader->hasPointers = !reader->members.empty();
}

void CSimdJSON_addMember(CSimdJSON_reader *reader, const uint8_t *bytes, size_t count) {
    reader->members.push_back({string(bytes, count), {}});
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

size_t CSimdJSON_describe(CSimdJSON_reader *reader, size_t record) {
    if (reader->array || reader->object) reader->describe(record);
    return reader->names.size();
}

const char *CSimdJSON_name(const CSimdJSON_reader *reader, size_t index, size_t *count) {
    const auto &text = index < reader->names.size() ? reader->names[index] : reader->pointer;
    *count = text.size();
    return text.data();
}

const uint8_t *CSimdJSON_texts(const CSimdJSON_reader *reader, size_t *count) {
    *count = reader->textEnd;
    return reader->texts();
}

}
