import AirQuality
import Bytes
import CommandLine
import FeedOptions
import JSON
import System

/// Why a message, or the first of its elements that was rejected for a reason, gives no reading; and what would read
/// it.
struct MessageExplanation {
    /// Bytes of a city and a value, of a message and of a server's own words that are shown.
    private static let valueBytes = 64
    private static let messageBytes = 128

    private(set) var fields: [ExplanationField] = []

    /// - Parameters:
    ///   - reason: `nil`: the message is without readings.
    ///   - message: the message as it came.
    ///   - elements: the results of the program, where there is one.
    ///   - words: jq's complaint.
    init(
        _ reason: RejectionReason?, of message: [UInt8], elements: [UInt8]?, decoded: FeedMessage, words: String?,
        settings: Configuration
    ) {
        switch reason {
        case .tooLarge: add("hint", Configuration.flag(\.feed.maximumMessageBytes))
        case .cityLimit: add("hint", Configuration.flag(\.cityLimit))
        case .notJSON: explainMistake(of: message)
        case .jqError: add("err", words)
        case nil, .notAnArray: add("message", shown(message.span, bytes: Self.messageBytes))
        case .some(let reason): explainElement(reason, of: elements ?? message, decoded, settings.format)
        }
        let isOpaque: [RejectionReason?] = [.tooLarge, .cityLimit, .notJSON]
        guard decoded.accepted.isEmpty, !isOpaque.contains(reason) else { return }
        add("says", Self.complaint(in: message))
        let isOfShape: [RejectionReason?] = [
            nil, .jqError, .notAnArray, .notAnObject, .noCity, .badCity, .noValue, .badValue,
        ]
        guard isOfShape.contains(reason), !(reason == .noValue && fields.contains { $0.name == "value" }) else {
            return
        }
        add("hint", Explainer.plan(for: [message]).map(\.arguments))
    }

    private mutating func add(_ name: String, _ text: String?) {
        if let text, !text.isEmpty { fields.append(ExplanationField(name: name, text: text)) }
    }

    private mutating func explainMistake(of message: [UInt8]) {
        let first = Array(message.prefix(Explainer.maximumBytes))
        do throws(JSONMistake) {
            _ = try JSONTree.texts(of: first.span)
            // A nesting, a number or half of a surrogate pair that this reader takes.
            add("message", shown(message.span, bytes: Self.messageBytes))
        } catch {
            add("err", error.description)
        }
    }

    private mutating func explainElement(
        _ reason: RejectionReason, of message: [UInt8], _ decoded: FeedMessage, _ format: FeedFormat
    ) {
        guard message.count <= Explainer.maximumBytes, let texts = try? JSONTree.texts(of: message.span) else { return }
        let elements = texts.compactMap { $0.value(at: format.items) }.flatMap { $0.elements ?? [$0] }
        func value(_ element: JSONTree, _ field: String) -> JSONTree? {
            jsonPointer(member: field).flatMap { element.value(at: $0) }
        }
        let place =
            decoded.firstRejected[reason]
            ?? elements.firstIndex { element in
                reason == .outOfRange
                    && value(element, format.valueField)?.index.map { !IndexRange.isValid($0) } ?? false
            }
        guard let place, elements.indices.contains(place) else { return }
        let element = elements[place]
        add("city", value(element, format.cityField)?.shown(Self.valueBytes))
        add("value", value(element, format.valueField)?.shown(Self.valueBytes))
        if reason == .badTime { add("reading_time", value(element, format.timeField)?.shown(Self.valueBytes)) }
        if case .object(let fields) = element {
            let names = fields.prefix(12).map { String(decoding: $0.name.utf8.prefix(48), as: UTF8.self) }
            add("fields", onOneLine(names.joined(separator: ",")))
        } else {
            add("element", element.shown(Self.valueBytes))
        }
    }

    /// A server's own words, such as `{"error": "auth required"}`.
    static func complaint(in message: [UInt8]) -> String? {
        guard message.count <= Explainer.maximumBytes, let root = try? JSONTree.texts(of: message.span).first else {
            return nil
        }
        for name in ["error", "message", "reason", "errors", "detail", "msg"] {
            guard let value = root[name] else { continue }
            let text = value.text ?? ["message", "reason", "detail", "error"].lazy.compactMap { value[$0]?.text }.first
            if let text, !text.isEmpty { return shown(Array(text.utf8).span, bytes: messageBytes) }
        }
        return nil
    }
}

extension JSONTree {
    /// The value that the tokens of a pointer lead to.
    func value(at pointer: [[UInt8]]) -> JSONTree? {
        var value = self
        for token in pointer {
            let name = String(decoding: token, as: UTF8.self)
            guard let next = value[name] ?? Int(name).flatMap({ value.elements?[safely: $0] }) else { return nil }
            value = next
        }
        return value
    }

    /// The value for people: a text without its quotation marks.
    func shown(_ bytes: Int) -> String {
        switch self {
        case .null: "null"
        case .boolean(let isTrue): "\(isTrue)"
        case .number(let digits): AirQualityExporter.shown(Array(digits.utf8).span, bytes: bytes)
        case .text(let text): AirQualityExporter.shown(Array(text.utf8).span, bytes: bytes)
        case .array(let elements): "an array of \(elements.count)"
        case .object(let fields): "an object with " + (fields.isEmpty ? "nothing" : "\(fields.count) fields")
        }
    }
}

extension Array {
    fileprivate subscript(safely index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension Logger.Metadata {
    /// Tells people of messages that give no readings, in the log and elsewhere.
    ///
    /// - Parameter reason: `nil`: they are without readings.
    init(_ reason: RejectionReason?, of connection: FeedStatistics.Connection) {
        self = [:]
        if let reason {
            self["reason"] = reason.rawValue
            self["rejected"] = "\(connection.rejections[reason])"
            self["accepted"] = "\(connection.readings)"
        }
        for field in connection.explanations[reason] ?? [] { self[field.name] = field.text }
    }
}
