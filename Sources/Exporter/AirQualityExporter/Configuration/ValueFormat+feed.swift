import AirQuality
import Bytes
import CommandLine
import JSON

extension ValueFormat<[[UInt8]]> {
    static var jsonPointer: Self {
        Self("POINTER") { text throws(RejectedText) in
            if let pointer = JSON.jsonPointer(text) { return pointer }
            let meant = jsonPath(text).map { ": \($0)?" } ?? ""
            throw RejectedText(text, expected: "a JSON Pointer (RFC 6901): empty, or \"/\" before each name" + meant)
        }
    }

    /// A field of an element, or a JSON Pointer into it. Rejects paths with dots, as other programs use.
    static func feedField(orNone isOptional: Bool = false) -> Self {
        Self("NAME", text: shown) { text throws(RejectedText) in
            if let pointer = jsonPath(text) {
                let meant = "\(pointer) for the field in an object, or /\(onOneLine(text)) for a name with dots"
                throw RejectedText(text, expected: "a name or a JSON Pointer: \(meant)")
            }
            if text.isEmpty, isOptional { return [] }
            if !text.isEmpty, let path = JSON.jsonPointer(member: text) { return path }
            let expected = "a name, or a JSON Pointer such as /data/aqi, in which ~0 stands for ~ and ~1 for /"
            throw RejectedText(text, expected: expected + (isOptional ? "; or nothing" : ""))
        }
    }
}

extension ValueFormat<FeedFormat.Time> {
    /// Any text names the field, that of the default as well.
    static var timeField: Self {
        let field = ValueFormat<[[UInt8]]>.feedField(orNone: true)
        @Sendable func text(_ time: FeedFormat.Time) -> String { shown(time.path) }
        return Self("NAME", text: text) { text throws(RejectedText) in
            FeedFormat.Time(path: try field.read(text), isNamed: true)
        }
    }
}

private func shown(_ path: [[UInt8]]) -> String {
    path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
}

/// Returns the JSON Pointer of a path with dots or brackets, such as `data.city` or `$.stations[0].name`, else `nil`.
private func jsonPath(_ text: String) -> String? {
    guard text.contains(where: { ".[".contains($0) }), text.utf8.first != UInt8(ascii: "/") else { return nil }
    let names = onOneLine(text).split { ".[]$\"'".contains($0) }.filter { $0 != "*" }
    return names.isEmpty ? nil : names.map { "/" + $0 }.joined()
}

extension ValueFormat<String> {
    static var feedName: Self {
        Self("NAME", expected: "a name of at most 128 bytes on one line") { name in
            let isName = !name.isEmpty && name.utf8.count <= 128 && !name.unicodeScalars.contains(where: breaksLine)
            return isName ? name : nil
        }
    }
}

extension ValueFormat<Int64> {
    /// Milliseconds east of UTC: `Z`, `+05:30` or `-0300`.
    static var zoneOffset: Self {
        Self("OFFSET", expected: "Z, or an offset from UTC such as +05:30") { text in
            guard let first = text.first, "Zz+-".contains(first) else { return nil }
            var epoch = Array("1970-01-01T00:00:00\(text)".utf8)
            if text.utf8.count == 5 { epoch.insert(UInt8(ascii: ":"), at: epoch.count - 2) }
            return parseRFC3339(epoch.span).map { -$0 }
        }
    }
}
