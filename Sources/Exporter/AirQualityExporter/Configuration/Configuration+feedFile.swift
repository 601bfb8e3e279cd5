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

    /// Returns the feeds of the flags, then those of the file as it is now, without the embedded one.
    ///
    /// - Parameter origin: names the file's flag in errors.
    /// - Throws: one line about the first invalid feed, or a secret in a flag that feeds on several hosts would get.
    func configuredFeeds(origin: String = "--feed.file") throws(FlagError) -> [ConfiguredFeed] {
        var found = feeds.map { ConfiguredFeed(label: feedName ?? $0.label, address: $0, settings: self) }
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
            "header": !feed.headers.isEmpty, "header-file": feed.headerFile != nil,
            "subscribe": !feed.client.subscriptions.isEmpty, "reply": feed.reply != nil,
            "cert-file": feed.client.tls.certificateFile != nil,
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
        var document = try YAMLField.parse(text, isOnly: true)
        // An address in place of a list or an entry may have a password.
        document?.isSecret = true
        guard let entries = try document?.list(), !entries.isEmpty || !found.isEmpty || isDemo else {
            throw SystemError(.system, "no feed, expected a list such as \"- url: ws://feed.example/\"")
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
        var settings = self
        settings.feeds = []
        settings.feedName = nil
        var texts: [String: [[UInt8]]] = [:]
        let members = try entry.mapping(expected: "settings such as \"url: ws://feed.example/\"")
        for (key, value) in members {
            if key == "headers" || (key == "header" && value.isMapping) {
                let expected = "the key header with a list of strings such as \"Name: value\""
                throw .yaml(line: value.line, "\(value.path): expected \(expected)")
            }
            let items = value.items
            let given = try items.map { (item) throws(SystemError) in try item.text() }
            texts[key] = given.map { Array($0.utf8) }
            guard !Self.commonSettings.contains(key), let flag = Self.flags.first(where: { $0.name == "feed.\(key)" })
            else { throw value.unknown(among: Self.feedSettings + Self.hint(for: key)) }
            do throws(RejectedText) {
                try flag.set(given, in: &settings)
            } catch {
                var wrong = zip(items, given).first { $1 == error.text }?.0 ?? value
                wrong.isSecret = flag.isSecret
                throw wrong.wrong(expected: error.expected)
            }
        }
        guard let address = settings.feeds.first, settings.feeds.count == 1 else {
            throw .yaml(line: entry.line, "\(entry.path): expected one url, the address of a feed")
        }
        do throws(FeedOptionError) {
            try settings.checkFeed()
        } catch {
            let line = members.first { "feed.\($0.key)" == error.flag }?.value.line ?? entry.line
            throw .yaml(line: line, "--\(error.flag) of this feed: expected \(error.expected)")
        }
        let label = settings.feedName ?? address.label
        return ConfiguredFeed(label: label, address: address, settings: settings, entry: texts)
    }

    /// Returns the advice for the flag with the name of an unknown key; empty if there is none.
    private static func hint(for key: String) -> String {
        let flag = key.hasPrefix("feed.") ? "--\(key)" : "--feed.\(key)"
        guard !commonSettings.contains(key), let hint = Program.exporter.hint(for: flag) else { return "" }
        return "; " + hint.replacing("--feed.", with: "")
    }

    private static var feedSettings: String {
        let names = flags.compactMap { $0.name.dropping(prefix: "feed.") }
        return names.filter { !commonSettings.contains($0) }.joined(separator: ", ")
    }
}

extension YAMLField {
    fileprivate var isMapping: Bool { if case .mapping = content { true } else { false } }

    /// The values of a list, or the value itself.
    fileprivate var items: [YAMLField] { if case .list(let values) = content { values } else { [self] } }
}
