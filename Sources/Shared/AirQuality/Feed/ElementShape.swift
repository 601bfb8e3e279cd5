import Bytes

/// The layout of an element: the literal bytes around its numbers and strings. Nearly all feeds write all elements with
/// the same layout. An element that differs from a valid one only in these numbers and strings is valid too, and its
/// name is in the same place.
struct ElementShape {
    enum Place {
        case name, text, number, end
    }

    /// What stands between the places, one behind the other.
    private var literals: [UInt8] = []
    /// Each with the end of the literal before it.
    private var places: [(literalEnd: Int, place: Place)] = []

    /// Of the element that is being read.
    private var start = 0
    private var found: [(place: Place, range: Range<Int>)] = []

    /// The layout of larger elements is not remembered: each of them is scanned in full.
    private static let maximumPlaces = 64
    private static let maximumBytes = 4096

    mutating func begin(at position: Int) {
        start = position
        found.removeAll(keepingCapacity: true)
    }

    mutating func add(_ place: Place, _ range: Range<Int>) {
        if found.count <= Self.maximumPlaces { found.append((place, range)) }
    }

    /// The element is good, and is the pattern for the next ones. It has one member for the city, which is a text.
    mutating func end(at end: Int, in message: Span<UInt8>) {
        guard found.count <= Self.maximumPlaces, end - start <= Self.maximumBytes else { return }
        places.removeAll(keepingCapacity: true)
        literals.removeAll(keepingCapacity: true)
        var literalStart = start
        for (place, range) in found + [(.end, end..<end)] {
            literals.append(message.extracting(literalStart..<range.lowerBound))
            places.append((literals.count, place))
            literalStart = range.upperBound
        }
    }

    /// - Parameter message: well-formed UTF-8.
    /// - Returns: where the name is, how it is spelled, and where the element ends; nil when it has another shape.
    @inline(__always)
    func match(_ message: Span<UInt8>, at position: Int) -> (name: Range<Int>, TextSpelling, end: Int)? {
        let (places, literals) = (places.span, literals.span)
        guard places.count > 0 else { return nil }
        var (index, literalStart) = (position, 0)
        var (name, spelling) = (0..<0, TextSpelling.plain)
        for place in places.indices {
            let (literalEnd, place) = places[place]
            guard bytes(message, at: index, are: literals.extracting(literalStart..<literalEnd)) else { return nil }
            index &+= literalEnd &- literalStart
            literalStart = literalEnd
            switch place {
            case .number:
                guard let end = numberEnd(message, from: index) else { return nil }
                index = end
            case .name, .text:
                // What follows, first of all the quotation mark, is in the next literal.
                guard let (end, textSpelling) = textEnd(message, from: index) else { return nil }
                if place == .name { (name, spelling) = (index..<end, textSpelling) }
                index = end
            case .end: break
            }
        }
        return (name, spelling, index)
    }
}

/// Where the number that begins at `start` ends, if a double holds it for certain: up to 18 digits before the point, an
/// exponent of up to two.
@inline(__always)
func numberEnd(_ message: Span<UInt8>, from start: Int) -> Int? {
    guard start < message.count else { return nil }
    let first = message[start] == UInt8(ascii: "-") ? start &+ 1 : start
    var end = digitsEnd(message, from: first)
    guard 1...18 ~= end &- first, end &- first == 1 || message[first] != UInt8(ascii: "0") else { return nil }
    if end < message.count, message[end] == UInt8(ascii: ".") {
        let decimals = end &+ 1
        end = digitsEnd(message, from: decimals)
        guard end > decimals else { return nil }
    }
    guard end < message.count, message[end] | 0x20 == UInt8(ascii: "e") else { return end }
    return exponentEnd(message, from: end &+ 1)
}

@inline(never)
private func exponentEnd(_ message: Span<UInt8>, from start: Int) -> Int? {
    guard start < message.count else { return nil }
    let isSign = message[start] == UInt8(ascii: "+") || message[start] == UInt8(ascii: "-")
    let first = isSign ? start + 1 : start
    let end = digitsEnd(message, from: first)
    return 1...2 ~= end - first ? end : nil
}

enum TextSpelling {
    /// Printable ASCII without escapes.
    case plain
    /// Others without escapes.
    case unescaped
    case escaped
}

/// Where the text that begins at `start` has its closing quotation mark, and how it is spelled; nil if it is not valid.
///
/// - Parameter message: well-formed UTF-8.
@inline(__always)
func textEnd(_ message: Span<UInt8>, from start: Int) -> (Int, TextSpelling)? {
    let end = plainTextEnd(message, from: start)
    if end < message.count, message[end] == UInt8(ascii: "\"") { return (end, .plain) }
    return oddTextEnd(message, from: end)
}

@inline(never)
private func oddTextEnd(_ message: Span<UInt8>, from start: Int) -> (Int, TextSpelling)? {
    var (index, spelling) = (start, TextSpelling.unescaped)
    while index < message.count {
        switch message[index] {
        case UInt8(ascii: "\""): return (index, spelling)
        case UInt8(ascii: "\\"):
            guard let end = escapeEnd(message, from: index &+ 1) else { return nil }
            (index, spelling) = (end, .escaped)
        case 0x20...: index &+= 1
        default: return nil
        }
    }
    return nil
}

/// Where what follows a backslash ends. Half of a surrogate pair is not valid.
private func escapeEnd(_ message: Span<UInt8>, from start: Int) -> Int? {
    guard start < message.count else { return nil }
    switch message[start] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
        UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        return start &+ 1
    case UInt8(ascii: "u"):
        guard let unit = codeUnit(message, at: start &+ 1) else { return nil }
        guard UTF16.isSurrogate(unit) else { return start &+ 5 }
        guard UTF16.isLeadSurrogate(unit), bytes(message, at: start &+ 5, are: [0x5C, 0x75].span),
            let trail = codeUnit(message, at: start &+ 7), UTF16.isTrailSurrogate(trail)
        else { return nil }
        return start &+ 11
    default: return nil
    }
}

/// The four hexadecimal digits of an escape.
func codeUnit(_ message: Span<UInt8>, at start: Int) -> UInt16? {
    guard start &+ 4 <= message.count else { return nil }
    var unit: UInt16 = 0
    for index in start..<start &+ 4 {
        guard let digit = hexDigit(message[index]) else { return nil }
        unit = unit &<< 4 | UInt16(digit)
    }
    return unit
}
