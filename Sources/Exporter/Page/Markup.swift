import AirQuality
import Bytes

/// HTML or SVG as bytes. Text that is interpolated is escaped.
///
///     markup += "<h1><bdi>\(name)</bdi></h1>"
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(stringLiteral value: String) { bytes = Array(value.utf8) }

    init(stringInterpolation: Interpolation) { bytes = stringInterpolation.bytes }

    /// The markup of each item, one after the other.
    init<Items: Sequence>(each items: Items, _ markup: (Items.Element) -> Markup) {
        for item in items { self += markup(item) }
    }

    static func += (markup: inout Markup, other: Markup) { markup.bytes += other.bytes }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        mutating func appendLiteral(_ literal: String) { bytes.append(contentsOf: literal.utf8) }

        mutating func appendInterpolation(_ text: String) {
            for byte in text.utf8 { appendEscaped(byte) }
        }

        /// - Parameter text: well-formed UTF-8.
        mutating func appendInterpolation(_ text: ArraySlice<UInt8>) {
            for byte in text { appendEscaped(byte) }
        }

        mutating func appendInterpolation(_ number: some BinaryInteger) {
            bytes.append(contentsOf: String(number).utf8)
        }

        mutating func appendInterpolation(_ markup: Markup) { bytes += markup.bytes }

        mutating func appendInterpolation(_ markup: @autoclosure () -> Markup, if isShown: Bool) {
            if isShown { bytes += markup().bytes }
        }

        /// A number with its sign: +12, −3 (U+2212), ±0.
        mutating func appendInterpolation(signed number: Int) {
            switch number {
            case 1...: appendLiteral("+\(number)")
            case 0: appendLiteral("±0")
            default: appendLiteral("−\(number.magnitude)")
            }
        }

        /// A step of a path, or a value in a query.
        mutating func appendInterpolation(percent text: ArraySlice<UInt8>) {
            bytes.append(contentsOf: percentEncoded(text).utf8)
        }

        /// A number with two decimals.
        mutating func appendInterpolation(decimals number: Double) {
            let hundredths = Int((number * 100).rounded())
            let digits = String(hundredths.magnitude % 100)
            if hundredths < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(contentsOf: "\(hundredths.magnitude / 100).\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
        }

        /// A number with as many digits as a reader needs: 0.4, 87, 1200.
        mutating func appendInterpolation(amount number: Double) {
            let tenths = Int((number * 10).rounded())
            appendLiteral(tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(number.rounded()))")
        }

        /// A time of UTC, which the script shows in the reader's time zone.
        mutating func appendInterpolation(clock time: Timestamp, _ pattern: ClockPattern) {
            appendInterpolation(
                "<span class=\"clock\" data-ms=\"\(time)\" data-pattern=\"\(pattern.rawValue)\">" as Markup)
            appendLiteral("\(pattern.text(of: time))</span>")
        }

        /// A place in a drawing, in percent.
        mutating func appendInterpolation(percent share: Double) {
            let hundredths = Int((share * 10_000).rounded())
            appendInterpolation(decimals: Double(hundredths) / 100)
            bytes.append(UInt8(ascii: "%"))
        }

        private mutating func appendEscaped(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\""): bytes.append(contentsOf: "&quot;".utf8)
            default: bytes.append(byte)
            }
        }
    }
}
