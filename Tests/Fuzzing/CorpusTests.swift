import TestSupport
import Testing

struct CorpusTests {
    @Test(arguments: inputs("FuzzMessages")) func `The corpus of messages breaks no property`(_ path: String) {
        checkMessages(contents(of: path))
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Random messages break no property`(_ seed: UInt64) {
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
            // Half of them are elements of an array, so that many messages are valid.
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

    @Test(arguments: inputs("FuzzJQ")) func `The corpus of jq programs breaks no property`(_ path: String) {
        checkPrograms(contents(of: path))
    }

    @Test(arguments: inputs("FuzzFrames")) func `The corpus of frames breaks no property`(_ path: String) {
        checkFrames(contents(of: path))
    }

    @Test(arguments: inputs("FuzzRequests")) func `The corpus of requests breaks no property`(_ path: String) {
        checkRequests(contents(of: path))
    }

    @Test(arguments: inputs("FuzzFields")) func `The corpus of fields breaks no property`(_ path: String) {
        checkFields(contents(of: path))
    }

    @Test(arguments: inputs("FuzzAddresses")) func `The corpus of addresses breaks no property`(_ path: String) {
        checkAddresses(contents(of: path))
    }

    @Test(arguments: inputs("FuzzValues")) func `The corpus of values breaks no property`(_ path: String) {
        checkValues(contents(of: path))
    }

    @Test(arguments: inputs("FuzzCompression")) func `The corpus of pages breaks no property`(_ path: String) {
        checkCompression(contents(of: path))
    }

    @Test(arguments: inputs("FuzzWebConfiguration")) func `The corpus of web configurations breaks no property`(
        _ path: String
    ) {
        checkWebConfiguration(contents(of: path))
    }

    @Test(.serialized, arguments: inputs("FuzzStorage")) func `The corpus of storage files breaks no property`(
        _ path: String
    ) {
        checkStorage(contents(of: path))
    }
}

private let corpus = "\(#filePath)".replacing("CorpusTests.swift", with: "corpus")

private func inputs(_ fuzzer: String) -> [String] {
    let names = fileNames(in: "\(corpus)/\(fuzzer)")
    precondition(!names.isEmpty, "\(corpus)/\(fuzzer) has inputs")
    return names.map { "\(corpus)/\(fuzzer)/\($0)" }
}
