import CommandLine

extension Advice {
    /// Advice for words that users type: flags of other exporters, of earlier versions, of the feed's program.
    static let exporter =
        rows(PackageResources.flag_advice_txt).map { words, text in
            let flags = words.filter { $0.hasPrefix("-") }
            let parts = words.filter { !$0.hasPrefix("-") }
            return Advice(flags.joined(separator: " "), anywhere: parts.joined(separator: " "), instead: text)
        }
        + rows(PackageResources.command_advice_txt).map { words, text in
            Advice(words.joined(separator: " "), instead: text)
        }

    /// The rows of a table: a line with words, and an indented one with the text; `#` begins a comment.
    private static func rows(_ table: [UInt8]) -> [(words: [Substring], text: String)] {
        let lines = String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return stride(from: 0, to: lines.count - 1, by: 2).map { place in
            (lines[place].split(separator: " "), String(lines[place + 1].drop { $0 == " " }))
        }
    }
}
