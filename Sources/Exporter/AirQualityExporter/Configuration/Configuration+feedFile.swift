import AirQuality
import Bytes
import CommandLine
import FeedOptions
import System
import WebSocket
import YAML

extension Configuration {
    /// Flags that apply to all feeds, without `feed.`.
    private static let commonSettings = ["demo", "file", "pause-when-unused"]

    private static let programSettings = ["jq", "reply"]
    private static let listExample = "a list such as \"- url: ws://feed.example/\""

    /// Returns the feeds of the flags, then those of the file as it is now, without the embedded one.
    ///
    /// - Parameter origin: names the file's flag in errors.
    /// - Throws: one line about the first invalid feed, or a secret in a flag that feeds on several hosts would get.
    func configuredFeeds(origin: String = "--feed.file") throws(FlagError) -> [ConfiguredFeed] {
        var found = feeds.map { ConfiguredFeed(label: feed.name ?? $0.label, address: $0, settings: feed) }
        if let feedFile {
            do throws(SystemError) {
                try addFeeds(of: feedFile, to: &found)
            } catch {
                // The error of a file that cannot be read names it already.
                let name = error.code == .file ? "expected a list of feeds: " : "\(quoted(feedFile)): "
                throw FlagError("\(origin): \(name)\(error.reason)\(quotationMarks(around: feedFile))")
            }
        }
        // Every host would receive them.
        let secrets: KeyValuePairs = [
            "header": !feed.client.headers.isEmpty, "header-file": feed.client.headerFile != nil,
            "subscribe": !feed.client.connection.subscriptions.isEmpty, "reply": feed.client.reply != nil,
            "cert-file": feed.client.connection.tls.certificateFile != nil,
        ]
        if let secret = secrets.first(where: \.value), Set(found.map(\.address.host)).count > 1 {
            throw FlagError(
                "--feed.\(secret.key): expected feeds on one host, or this setting in --feed.file for its feed alone")
        }
        return found
    }

    private func addFeeds(of feedFile: String, to found: inout [ConfiguredFeed]) throws(SystemError) {
        let text = try readFile(feedFile, limit: 256 << 10)
        // A document without a list may be an incomplete file; an empty list is intended.
        var document: YAMLField?
        do throws(SystemError) {
            document = try YAMLField.parse(text, isOnly: true)
        } catch {
            throw SystemError(error.code, error.reason + Self.programAdvice(about: error, in: text))
        }
        // An address in place of a list or an entry may have a password.
        document?.isSecret = true
        let entries = try document?.list(expected: Self.listExample)
        guard let entries, !entries.isEmpty || !found.isEmpty || isDemo else {
            throw SystemError(.content, "no feed, expected \(Self.listExample)")
        }
        for var entry in entries {
            entry.isSecret = true
            let feed = try configuredFeed(entry)
            guard feed.label != Self.demoLabel || !isDemo, !found.contains(where: { $0.label == feed.label }) else {
                throw .yaml(line: entry.line, "two feeds are named \(quoted(feed.label)), expected different names")
            }
            found.append(feed)
        }
    }

    private func configuredFeed(_ entry: YAMLField) throws(SystemError) -> ConfiguredFeed {
        // As if the entry's keys were flags after those of the command line.
        var given = Configuration()
        given.feed = feed
        given.feed.name = nil
        var texts: [String: [[UInt8]]] = [:]
        let members = try entry.mapping(expected: "settings such as \"url: ws://feed.example/\"")
        for (key, value) in members {
            if key == "headers" || (key == "header" && value.isMapping) {
                let expected = "the key header with a list of strings such as \"Name: value\""
                throw .yaml(line: value.line, "\(value.path): expected \(expected)")
            }
            guard !Self.commonSettings.contains(key), let flag = Self.flags.first(where: { $0.name == "feed.\(key)" })
            else { throw value.unknown(among: Self.feedSettings, advice: Self.advice(for: key)) }
            let isProgram = Self.programSettings.contains(key)
            let items = isProgram ? [value] : value.items
            let words = try items.map { (item) throws(SystemError) in
                var item = item
                item.isSecret = flag.isSecret
                let text = try item.text(expected: isProgram ? "a jq program in quotation marks" : "a string")
                guard isProgram || !text.contains(/\$\{[A-Za-z_][A-Za-z0-9_]*\}/) else {
                    throw item.wrong(expected: "the value itself: variables are not expanded")
                }
                return text
            }
            texts[key] = words.map { Array($0.utf8) }
            do throws(RejectedText) {
                try flag.set(words, in: &given)
            } catch {
                var wrong = zip(items, words).first { $1 == error.text }?.0 ?? value
                wrong.isSecret = flag.isSecret
                throw wrong.wrong(expected: error.expected)
            }
        }
        guard let address = given.feeds.first, given.feeds.count == 1 else {
            throw .yaml(line: entry.line, "\(entry.path): expected one url, the address of a feed")
        }
        do throws(FeedOptionError) {
            try given.feed.check()
        } catch {
            let value = members.first { "feed.\($0.key)" == error.flag }?.value
            // YAML ends an unquoted text before a blank and #.
            let isUnquoted = Self.programSettings.contains { "feed.\($0)" == error.flag } && value?.isPlain == true
            let advice = isUnquoted ? "; put the program in quotation marks" : ""
            throw .yaml(
                line: value?.line ?? entry.line,
                "--\(error.flag) of this feed: expected \(error.expected)\(advice)")
        }
        let label = given.feed.name ?? address.label
        return ConfiguredFeed(label: label, address: address, settings: given.feed, entry: texts)
    }

    /// Returns the advice for the flag with the name of an unknown key, if it names another key.
    private static func advice(for key: String) -> String? {
        let flag = key.hasPrefix("feed.") ? "--\(key)" : "--feed.\(key)"
        guard !commonSettings.contains(key), let hint = Program.exporter.hint(for: flag), hint.contains("--feed.")
        else { return nil }
        return hint.replacing("--feed.", with: "")
    }

    /// Returns advice if the line of a YAML error has an unquoted jq program; else an empty text.
    private static func programAdvice(about error: SystemError, in text: [UInt8]) -> String {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard let number = error.reason.firstMatch(of: /^line ([0-9]+):/).flatMap({ Int($0.1) }),
            lines.indices.contains(number - 1), lines[number - 1].contains(/^[ -]*(jq|reply): *[^ '"|>]/)
        else { return "" }
        return "; put the jq program in quotation marks"
    }

    private static var feedSettings: String {
        let names = flags.compactMap { $0.name.dropping(prefix: "feed.") }
        return names.filter { !commonSettings.contains($0) }.joined(separator: ", ")
    }
}

extension YAMLField {
    fileprivate var isPlain: Bool { if case .scalar(_, true) = content { true } else { false } }

    fileprivate var isMapping: Bool { if case .mapping = content { true } else { false } }

    /// The values of a list, or the value itself.
    fileprivate var items: [YAMLField] { if case .list(let values) = content { values } else { [self] } }
}
