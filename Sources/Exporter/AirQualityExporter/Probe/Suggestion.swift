import AirQuality
import Bytes
import CommandLine
import JQ
import JSON
import System

/// The result of `suggest.jq` for messages: candidates, best first, or what is missing. Its texts are a feed's.
struct Suggestion {
    struct Candidate {
        /// Values of field flags, or the program of `--feed.jq`.
        var flags: [(name: String, value: String)] = []
        var scale: String?
        var cautions: [String] = []
    }

    private(set) var candidates: [Candidate] = []
    private(set) var missing: [String] = []
    private(set) var fields: [(path: String, example: String)] = []
    /// The protocol that the server speaks, and its section of FEEDS.md.
    private(set) var section: (name: String, title: String)?
    /// The wish that the server seems to have, with the flag.
    private(set) var wants: String?

    private static let wishes = [
        "password": "password: --feed.header-file, or user and password in the address",
        "subscription": "subscription: --feed.subscribe, --feed.reply", "reply": "conversation: --feed.reply",
    ]

    /// Flags that a candidate replaces.
    static let replacedFlags: Set = [
        "feed.items", "feed.jq", "feed.city-field", "feed.value-field", "feed.time-field", "feed.pollutants-field",
        "feed.subindices-field", "feed.place-field", "aqi.scale",
    ]

    /// Runs `suggest.jq` in a worker with its limits: a second of processor time. `nil` if it fails.
    init?(for messages: [[UInt8]]) {
        let program = JQProgram(String(decoding: PackageResources.suggest_jq, as: UTF8.self))
        let input = Array("[".utf8) + messages.map(Self.json).joined(separator: [UInt8(ascii: ",")]) + "]".utf8
        guard var process = try? JQProcess([program]), let output = try? process.elements(0, of: input.span, as: .json),
            let object = JSONTree.texts(of: output.span)?.first?.elements?.first
        else { return nil }
        candidates = (object["candidates"]?.elements ?? []).map(Candidate.init)
        missing = (object["missing"]?.elements ?? []).compactMap(\.text)
        fields = (object["fields"]?.elements ?? []).compactMap { field in
            guard let path = field["path"]?.text, let example = field["example"] else { return nil }
            return (path, example.text ?? example.json)
        }
        let titles = object["protocol"]
        if let name = titles?["name"]?.text, let title = titles?["section"]?.text { section = (name, title) }
        wants = object["wants"]?.text.flatMap { Self.wishes[$0] }
    }

    /// Returns a message as values of the program's input; of a long one the beginning.
    private static func json(_ message: [UInt8]) -> [UInt8] {
        var reader = JSONReader()
        switch reader.content(of: message.span) {
        case .json(_, let replacement):
            let json = replacement ?? message
            let trees = JSONTree.texts(of: json.span, limit: 1 << 16) ?? [.null]
            return Array(trees.map(\.json).joined(separator: ",").utf8)
        case .text, .blank: return Array(jsonLiteral(String(decoding: message, as: UTF8.self)).utf8)
        case .invalidUTF8: return Array("{\"binary\":\"\(encodeBase64(Array(message.prefix(64))))\"}".utf8)
        }
    }
}

extension Suggestion.Candidate {
    init(_ object: JSONTree) {
        if case .object(let members)? = object["flags"] {
            flags = members.compactMap { member in member.value.text.map { (member.name, $0) } }
        }
        if let program = object["jq"]?.text { flags = [("feed.jq", program)] }
        scale = object["scale"]?.text
        cautions = (object["cautions"]?.elements ?? []).compactMap(\.text)
    }

    /// Returns the flags as words of a command line; `nil` if a terminal could not show them.
    func words(inPlaceOf settings: Configuration) -> [String]? {
        var words = flags.map { "--\($0.name)=\($0.value)" }
        if let scale = scale ?? (settings.scale.name == Scale.india.name ? nil : settings.scale.name) {
            words.append("--aqi.scale=\(scale)")
        }
        return words.joined().unicodeScalars.contains(where: breaksLine) ? nil : words
    }

    /// Returns the settings with the candidate's flags in place of those given; `nil` if they cannot be used.
    func settings(inPlaceOf given: Configuration) -> Configuration? {
        var settings = given
        settings.feed.format = FeedFormat(timeZone: given.feed.format.timeZone)
        settings.feed.program = nil
        for (name, value) in flags + (scale.map { [("aqi.scale", $0)] } ?? []) {
            let flag = Configuration.flags.first { $0.name == name && Suggestion.replacedFlags.contains(name) }
            guard let flag, (try? flag.set([value], in: &settings)) != nil else { return nil }
        }
        return (try? settings.feed.check()) == nil ? nil : settings
    }
}
