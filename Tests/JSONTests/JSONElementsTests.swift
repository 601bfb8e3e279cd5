import TestSupport
import Testing

@testable import JSON

@Suite("The elements of a message") struct JSONElementsTests {
    private func elements(_ text: String) -> [String] {
        let message = Array(text.utf8)
        var elements = JSONElements(of: message.span)
        var found: [String] = []
        while let range = elements.next(in: message.span) {
            found.append(String(decoding: message[range], as: UTF8.self))
        }
        return found
    }

    @Test(
        "stand there byte for byte",
        arguments: [
            ("[]", []), (" [ ] ", []), ("[1]", ["1"]), ("[ 1 , -2.5e3,true,null ]", ["1", "-2.5e3", "true", "null"]),
            ("[\"a\",\"\",\"]\"]", ["\"a\"", "\"\"", "\"]\""]),
            ("[\"\\\"\",\"\\\\\",\"\\\\\\\"]\"]", ["\"\\\"\"", "\"\\\\\"", "\"\\\\\\\"]\""]),
            ("[{},[],{\"a\":[1,{\"b\":\"}\"}]} ]", ["{}", "[]", "{\"a\":[1,{\"b\":\"}\"}]}"]),
            ("\r\n[\t{ \"city\" :\n\"Pune\" }\r,\n{\"aqi\":1.50}]\n", ["{ \"city\" :\n\"Pune\" }", "{\"aqi\":1.50}"]),
            ("{\"city\":\"[Pune]\"}", ["{\"city\":\"[Pune]\"}"]), (" {\"a\":{}} ", ["{\"a\":{}}"]),
            ("\u{FEFF}[1]", ["1"]),
        ] as [(String, [String])])
    func table(text: String, expected: [String]) {
        #expect(elements(text) == expected)
    }

    @Test("are the reader's records, one for one, whatever they are") func sameAsRecords() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let values = (0..<Int.random(in: 0...6, using: &random)).map { _ in value(3, &random) }
            let blank = { [" ", "", "\n", "\t ", "\r"].randomElement(using: &random)! }
            let text = "[" + values.map { blank() + $0 + blank() }.joined(separator: ",") + blank() + "]"
            #expect(elements(text) == values, "\(text)")
            var reader = JSONRecordReader(members: ["a"])
            #expect(reader.read(Array(text.utf8).span) == .records, "\(text)")
            #expect(reader.nextRecords() == values.count)
        }
    }

    private func value(_ depth: Int, _ random: inout SeededRandom) -> String {
        let texts = ["\"\"", "\"a\"", "\"\\\"\"", "\"\\\\\"", "\"{[,]}\"", "\"\\u005d\"", "\"é😀\""]
        let plain = ["0", "-1.5e+9", "true", "false", "null"] + texts
        guard depth > 0 else { return plain.randomElement(using: &random)! }
        let inner = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) }
        switch Int.random(in: 0...2, using: &random) {
        case 0: return "[" + inner.joined(separator: " , ") + "]"
        case 1:
            return "{" + inner.map { texts.randomElement(using: &random)! + ": " + $0 }.joined(separator: ",") + " }"
        default: return plain.randomElement(using: &random)!
        }
    }
}
