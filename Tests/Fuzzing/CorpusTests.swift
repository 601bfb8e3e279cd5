import TestSupport
import Testing

@Suite("the inputs that fuzzing begins with, and those that it found") struct CorpusTests {
    @Test("messages of a feed", arguments: inputs("FuzzMessages")) func messages(_ path: String) {
        checkMessages(contents(of: path))
    }

    @Test("messages of elements that are spelled in every way", arguments: 1...8 as ClosedRange<UInt64>)
    func spelledMessages(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let parts =
            [
                "[", "]", "{", "}", ",", ":", " ", "\n", #"{"city":"A","aqi":1}"#, #"{"city":"B","aqi":2.5},"#,
                #""city":"C""#,
                #""city": "\u0101b""#, #""city":"ā\t""#, #""aqi":-0"#, #""aqi":01"#, #""aqi":1e5"#, #""aqi":1E-400"#,
                #""aqi":"7""#,
                #""x":{"y":[1,{"z":null}]}"#, #""x":"\ud83d\ude00""#, #""x":"\ud83d""#, "true", "nul",
                "12345678901234567890", "\"",
                #""x":"\\\"""#, #"{"city":"A","aqi":"NA","city":"C"}"#, "[[[[[[[[[[", #""city":["A"]"#, "\u{7F}",
                #""city":"a\u007f""#,
            ].map { Array($0.utf8) } + [[0xFF], [0x00]]
        for _ in 0..<2000 {
            // Mostly elements of an array, so that many a message is good.
            let isWild = Bool.random(using: &random)
            var message = isWild ? [] : Array("[".utf8)
            for place in 0..<Int.random(in: 0..<8, using: &random) {
                if isWild {
                    message += parts.randomElement(using: &random)!
                } else {
                    let members = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                        parts.randomElement(using: &random)!
                    }
                    message += (place == 0 ? "{" : ",{").utf8
                    message += members.joined(separator: [UInt8(ascii: ",")])
                    message += "}".utf8
                }
            }
            checkMessages(isWild ? message : message + "]".utf8)
        }
    }

    @Test("messages for programs of jq", arguments: inputs("FuzzJQ")) func programs(_ path: String) {
        checkPrograms(contents(of: path))
    }

    @Test("frames", arguments: inputs("FuzzFrames")) func frames(_ path: String) {
        checkFrames(contents(of: path))
    }

    @Test("requests", arguments: inputs("FuzzRequests")) func requests(_ path: String) {
        checkRequests(contents(of: path))
    }

    @Test("fields", arguments: inputs("FuzzFields")) func fields(_ path: String) {
        checkFields(contents(of: path))
    }

    @Test("addresses", arguments: inputs("FuzzAddresses")) func addresses(_ path: String) {
        checkAddresses(contents(of: path))
    }

    @Test("values", arguments: inputs("FuzzValues")) func values(_ path: String) {
        checkValues(contents(of: path))
    }

    @Test("pages", arguments: inputs("FuzzCompression")) func compression(_ path: String) {
        checkCompression(contents(of: path))
    }

    @Test("web configurations", arguments: inputs("FuzzWebConfiguration")) func webConfigurations(_ path: String) {
        checkWebConfiguration(contents(of: path))
    }

    @Test("storage files", .serialized, arguments: inputs("FuzzStorage")) func storage(_ path: String) {
        checkStorage(contents(of: path))
    }
}

private let corpus = "\(#filePath)".replacing("CorpusTests.swift", with: "corpus")

private func inputs(_ fuzzer: String) -> [String] {
    let names = fileNames(in: "\(corpus)/\(fuzzer)")
    precondition(!names.isEmpty, "\(corpus)/\(fuzzer) has inputs")
    return names.map { "\(corpus)/\(fuzzer)/\($0)" }
}
