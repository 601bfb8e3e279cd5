internal import JSON

// Excerpts are taken while the message is on the reader's tape, so that no message is parsed again to be explained.

extension FeedDecoder {
    /// Returns an excerpt of an element that is rejected.
    borrowing func excerpt(ofElement element: Int, _ texts: Span<UInt8>) -> MessageExcerpt {
        var excerpt = MessageExcerpt()
        excerpt.kind = kind(of: element, texts)
        excerpt.city = reader.find(format.city, in: element).map { shown($0, texts) }
        excerpt.value = reader.find(format.value, in: element).map { shown($0, texts) }
        if !format.time.path.isEmpty {
            excerpt.time = reader.find(format.time.path, in: element).map { shown($0, texts) }
        }
        if excerpt.kind.members.isEmpty { excerpt.value = shown(element, texts) }
        return excerpt
    }

    /// Returns an excerpt of the message that the reader holds: of its first JSON text, or that one's first element.
    borrowing func excerpt(ofMessage positions: Range<Int>, _ texts: Span<UInt8>) -> MessageExcerpt {
        var excerpt = MessageExcerpt()
        var first = positions.lowerBound
        if case .array(let elements) = reader.value(at: first), !elements.isEmpty { first = elements.lowerBound }
        excerpt.kind = kind(of: first, texts)
        if case .text(let range) = reader.value(at: first) {
            excerpt.serverWords = beginning(of: texts.extracting(range), bytes: MessageExcerpt.maximumWordBytes)
        } else {
            excerpt.serverWords = serverWords(in: first, texts, depth: 1)
        }
        return excerpt
    }

    private borrowing func kind(of value: Int, _ texts: Span<UInt8>) -> MessageExcerpt.Kind {
        var kind = MessageExcerpt.Kind()
        forEachMember(of: value, texts) { name, member in
            let name = beginning(of: name, bytes: MessageExcerpt.maximumBytes)
            if ["type", "event"].contains(name), case .text = reader.value(at: member) {
                kind.type = shown(member, texts)
            }
            kind.members.append(name)
        }
        return kind
    }

    /// Returns the first text named `error`, `message` or `reason` in an object, or `depth` levels below it.
    private borrowing func serverWords(in object: Int, _ texts: Span<UInt8>, depth: Int) -> String? {
        var words: String?
        forEachMember(of: object, texts) { name, member in
            guard words == nil else { return }
            let name = beginning(of: name, bytes: MessageExcerpt.maximumBytes)
            if case .text(let range) = reader.value(at: member), ["error", "message", "reason"].contains(name) {
                words = beginning(of: texts.extracting(range), bytes: MessageExcerpt.maximumWordBytes)
            } else if depth > 0 {
                words = serverWords(in: member, texts, depth: depth - 1)
            }
        }
        return words
    }

    /// Calls `body` with the names and the positions of an object's first members; not at all for another value.
    private borrowing func forEachMember(
        of value: Int, _ texts: Span<UInt8>, _ body: (_ name: Span<UInt8>, _ member: Int) -> Void
    ) {
        guard case .object(let members) = reader.value(at: value) else { return }
        var position = members.lowerBound
        var count = 0
        while position < members.upperBound, count < MessageExcerpt.maximumMembers,
            case .text(let name) = reader.value(at: position)
        {
            body(texts.extracting(name), position + 1)
            position = reader.next(after: position + 1)
            count += 1
        }
    }

    /// Returns the beginning of a value as a person would write it, without the content of an array or object.
    private borrowing func shown(_ position: Int, _ texts: Span<UInt8>) -> String {
        switch reader.value(at: position) {
        case .null: "null"
        case .boolean(let isTrue): "\(isTrue)"
        case .number(let number):
            reader.wholeNumber(at: position).map { String(decoding: $0, as: UTF8.self) } ?? "\(number)"
        case .text(let range): beginning(of: texts.extracting(range), bytes: MessageExcerpt.maximumBytes)
        case .array(let elements): elements.isEmpty ? "[]" : "[…]"
        case .object(let members): members.isEmpty ? "{}" : "{…}"
        }
    }
}

/// Returns the first characters of UTF-8 that take at most this many bytes, and `…` if there are more.
func beginning(of text: Span<UInt8>, bytes maximum: Int) -> String {
    guard text.count > maximum else { return String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    var end = maximum
    // Not within a character: its further bytes are 10xxxxxx.
    while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
    return String(decoding: (0..<end).map { text[$0] }, as: UTF8.self) + "…"
}
