import AirQuality
import Bytes

/// HTML or SVG as bytes. Interpolated text is escaped.
///
///     let title: Markup = "<h1><bdi>\(name)</bdi></h1>"
struct Markup: ExpressibleByStringInterpolation, Sendable {
    let bytes: [UInt8]

    init(stringLiteral value: String) { bytes = Array(value.utf8) }

    init(stringInterpolation: Interpolation) { bytes = stringInterpolation.bytes }

    init<Items: Sequence>(each items: Items, _ markup: (Items.Element) -> Markup) {
        bytes = items.flatMap { markup($0).bytes }
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        mutating func appendLiteral(_ literal: String) { bytes.append(contentsOf: literal.utf8) }

        mutating func appendInterpolation(_ text: String) { appendInterpolation(Array(text.utf8)[...]) }

        /// - Parameter text: well-formed UTF-8.
        mutating func appendInterpolation(_ text: ArraySlice<UInt8>) {
            for byte in text {
                switch byte {
                case UInt8(ascii: "&"): appendLiteral("&amp;")
                case UInt8(ascii: "<"): appendLiteral("&lt;")
                case UInt8(ascii: ">"): appendLiteral("&gt;")
                case UInt8(ascii: "\""): appendLiteral("&quot;")
                default: bytes.append(byte)
                }
            }
        }

        mutating func appendInterpolation(_ number: some BinaryInteger) { appendLiteral(String(number)) }

        mutating func appendInterpolation(_ markup: Markup) { bytes += markup.bytes }

        mutating func appendInterpolation(_ markup: @autoclosure () -> Markup, if isShown: Bool) {
            if isShown { bytes += markup().bytes }
        }

        /// Appends a path segment or query value, percent-encoded.
        mutating func appendInterpolation(percent text: ArraySlice<UInt8>) { appendLiteral(percentEncoded(text)) }

        /// Appends a fraction as a percentage.
        mutating func appendInterpolation(percent share: Double) {
            appendLiteral("\((share * 10_000).rounded() / 100)%")
        }

        /// Appends a number with one decimal below 10, else none: 0.4, 87, 1200.
        mutating func appendInterpolation(amount number: Double) {
            appendLiteral(number < 9.95 ? "\((number * 10).rounded() / 10)" : "\(Int(number.rounded()))")
        }

        /// Appends a time in UTC, which the script shows in the reader's time zone.
        mutating func appendInterpolation(clock time: Timestamp, _ pattern: ClockPattern) {
            appendLiteral("<span class=\"clock\" data-ms=\"\(time)\" data-pattern=\"\(pattern.rawValue)\">")
            appendLiteral("\(pattern.text(of: time))</span>")
        }
    }
}
