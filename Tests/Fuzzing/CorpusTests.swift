import Testing

@Suite("the inputs that fuzzing begins with, and those that it found") struct CorpusTests {
    @Test("messages of a feed", arguments: inputs("FuzzMessages")) func messages(_ path: String) {
        checkMessages(contents(of: path))
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
