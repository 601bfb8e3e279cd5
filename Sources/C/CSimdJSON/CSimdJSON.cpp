#include "CSimdJSON.h"

#include <algorithm>
#include <optional>
#include <simdjson.h>
#include <string>

using namespace simdjson;

namespace {

/// Buffers for longer messages are freed after use, because they take about 15 times the message.
constexpr size_t keptCapacity = 256 << 10;

bool isBetweenTexts(uint8_t byte) {
    // U+001E begins each text of a sequence (RFC 7464).
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == 0x1E;
}

/// Returns the end of the JSON text at `start`, judging only by quotation marks and brackets; simdjson validates it
/// later. Returns nothing if brackets are unbalanced, or if a comma or colon is outside them.
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

/// Joins several JSON texts into one array.
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

struct CSimdJSON_parser {
    const size_t maximumDepth;
    dom::parser parser;

    explicit CSimdJSON_parser(size_t maximumDepth) : maximumDepth(maximumDepth) {}

    bool read(const uint8_t *message, size_t count, CSimdJSON_document &document) {
        if (parser.capacity() == 0) {
            // simdjson counts the document as a level, and reports an error at its limit, not beyond it.
            if (parser.allocate(dom::MINIMAL_DOCUMENT_CAPACITY, maximumDepth + 1)) return false;
        }
        // true: copies the message into a buffer with padding.
        document.isOneText = count > 0 && !parser.parse(message, count, true).error();
        if (!document.isOneText) {
            const auto joined = joinedTexts(message, count);
            if (!joined || parser.parse(*joined).error()) return false;
            count = joined->size();
        }
        document.tape = parser.doc.tape.get();
        // The first word contains the number of words.
        document.tapeCount = static_cast<uint32_t>(document.tape[0]);
        document.texts = parser.doc.string_buf.get();
        // As much as `document::allocate` reserves: "", has three bytes in a message, and takes five here.
        document.textsCount = 5 * (count + 3) / 3;
        return true;
    }

    void shrink() {
        if (parser.capacity() > keptCapacity) parser = dom::parser();
    }
};

extern "C" {

CSimdJSON_parser *CSimdJSON_make(size_t maximumDepth) { return new CSimdJSON_parser(maximumDepth); }

void CSimdJSON_free(CSimdJSON_parser *parser) { delete parser; }

bool CSimdJSON_read(
    CSimdJSON_parser *parser, const uint8_t *message, size_t count, CSimdJSON_document *document) {
    return parser->read(message, count, *document);
}

void CSimdJSON_shrink(CSimdJSON_parser *parser) { parser->shrink(); }

}
