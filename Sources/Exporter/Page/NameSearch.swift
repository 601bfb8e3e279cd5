import Bytes

/// Looks for a part of a name, whatever the case of its letters and the marks on them.
struct NameSearch {
    private let part: [UInt8]

    init(_ part: [UInt8]) { self.part = Self.folded(part) }

    func matches(_ name: [UInt8]) -> Bool {
        // Most names are ASCII, which takes no copy.
        guard name.allSatisfy({ $0 < 0x80 }) else { return isIn(Self.folded(name)) }
        return isIn(name)
    }

    private func isIn(_ name: [UInt8]) -> Bool {
        guard name.count >= part.count else { return false }
        return (0...name.count - part.count).contains { start in
            part.indices.allSatisfy { lowercase(name[start + $0]) == part[$0] }
        }
    }

    /// A text in lower case, its Latin letters without their marks.
    private static func folded(_ name: [UInt8]) -> [UInt8] {
        var folded = ""
        for scalar in String(decoding: name, as: UTF8.self).lowercased().unicodeScalars {
            switch scalar.value {
            // Combining marks.
            case 0x300...0x36F: continue
            case 0xC0...0x24F, 0x1E00...0x1EFF: folded.unicodeScalars.append(unmarked(scalar))
            default: folded.unicodeScalars.append(scalar)
            }
        }
        return Array(folded.utf8)
    }

    /// The letter that a Latin letter's name in Unicode begins with: "LATIN SMALL LETTER O WITH STROKE" is an o.
    private static func unmarked(_ letter: Unicode.Scalar) -> Unicode.Scalar {
        guard let words = letter.properties.name?.split(separator: " "), words.count > 4, words[3].utf8.count == 1,
            words[4] == "WITH", let plain = words[3].lowercased().unicodeScalars.first
        else { return letter }
        return plain
    }
}
