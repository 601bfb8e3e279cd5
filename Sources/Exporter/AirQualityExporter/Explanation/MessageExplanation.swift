import AirQuality
import Bytes
import HTTPText
import JSON
import System

/// Explains why a message, or its first element rejected for a reason, gives no reading, and what would read it.
struct MessageExplanation {
    /// Maximum number of bytes shown of a message, and of a server's own words.
    private static let messageBytes = 128

    private(set) var fields: [ExplanationField] = []
    /// The rejected element as JSON, if any.
    private(set) var element: String?

    /// - Parameter reason: `nil` if the message is without readings.
    init(
        _ reason: RejectionReason?, of message: [UInt8], _ decoded: borrowing FeedMessage, settings: Configuration
    ) {
        let isReadInPart = !decoded.accepted.isEmpty
        switch reason {
        case .tooLarge: add("hint", "--feed.max-message-bytes")
        case .cityLimit: add("hint", "--city.limit")
        case .jqError: add("err", decoded.complaint)
        case nil, .notJSON, .notAnArray:
            let mistake = reason == .notJSON ? jsonMistake(in: message.span) : nil
            add(mistake == nil ? "message" : "err", mistake ?? shown(message.span, bytes: Self.messageBytes))
        case .some(let reason):
            guard let place = decoded.firstRejected[reason] else { break }
            addElement(reason, at: place, of: decoded.elements ?? message, settings.format)
            if reason == .badTime, decoded.isReading(place) { add("err", "older than the newest reading of the city") }
        }
        if isReadInPart || [.tooLarge, .cityLimit, .notJSON].contains(reason) { return }
        add("server_message", Self.serverWords(in: message.span))
        // The flags fit if the value field is there, or if only the time or the range is wrong.
        let hasValue = fields.contains { $0.name == "value" }
        if [.badTime, .outOfRange].contains(reason) || (reason == .noValue && hasValue) { return }
        add("hint", ReadingPlan.best(for: [message], inPlaceOf: settings)?.plan.arguments(inPlaceOf: settings))
    }

    /// Masks secrets that the server has repeated, except where they are names of fields.
    mutating func mask(_ secrets: SentSecrets) {
        fields = fields.map { field in
            if ["fields", "hint"].contains(field.name) { return field }
            return ExplanationField(name: field.name, text: secrets.masked(in: field.text))
        }
    }

    /// Returns a server's own words in a message without readings; `nil` if there are none or it exceeds 4096 bytes.
    static func serverWords(in message: Span<UInt8>) -> String? {
        short(message)?.serverWords().map { shown($0.utf8Span.span, bytes: messageBytes) }
    }

    /// Returns the field names of a message's first object, with its type, if any; empty if it has none or exceeds
    /// 4096 bytes.
    static func shape(of message: Span<UInt8>) -> [String] {
        let text = short(message)
        guard case .object(let fields) = text?.elements?.first ?? text else { return [] }
        return fields.flatMap { ["type", "event"].contains($0.name) ? [$0.name, $0.value.text ?? ""] : [$0.name] }
    }

    private static func short(_ message: Span<UInt8>) -> JSONTree? {
        message.count <= 4096 ? JSONTree.texts(of: message)?.first : nil
    }

    private mutating func add(_ name: String, _ text: String?) {
        if let text, !text.isEmpty { fields.append(ExplanationField(name: name, text: text)) }
    }

    /// Adds the city, the value and the field names of a rejected element.
    private mutating func addElement(
        _ reason: RejectionReason, at place: Int, of message: [UInt8], _ format: FeedFormat
    ) {
        let texts = JSONTree.beginning(of: message) ?? []
        let elements = texts.compactMap { $0.value(at: format.items) }
            .flatMap { $0.elements ?? ($0.isObject ? [$0] : []) }
        guard elements.indices.contains(place) else { return }
        let element = elements[place]
        self.element = element.json
        add("city", element.value(at: format.city)?.shown)
        add("value", element.value(at: format.value)?.shown)
        if reason == .badTime { add("reading_time", element.value(at: format.time)?.shown) }
        if case .object(let fields) = element {
            let names = fields.prefix(12).map { String(decoding: $0.name.utf8.prefix(48), as: UTF8.self) }
            add("fields", onOneLine(names.joined(separator: ",")))
        } else {
            add("element", element.shown)
        }
    }
}

extension JSONTree {
    /// Returns the JSON texts of a message up to 4 MiB, limited to half a million values (about 50 MiB), else `nil`.
    static func beginning(of message: [UInt8]) -> [JSONTree]? {
        message.count <= 4 << 20 ? texts(of: message.span, limit: 1 << 19) : nil
    }

    /// A server's own words, as in `{"error": "auth required"}`. `isError`: an enclosing field is named as an error.
    func serverWords(depth: Int = 0, isError: Bool = false) -> String? {
        switch self {
        case .text(let text): return isError && !text.isEmpty ? text : nil
        case .array(let elements) where depth < 4:
            return elements.prefix(8).lazy.compactMap { $0.serverWords(depth: depth + 1, isError: isError) }.first
        case .object(let fields) where depth < 4:
            let saysError = isError || fields.contains(where: \.saysError)
            // An error may have words in any field: `{"errors": {"token": ["is missing"]}}`.
            let ranked = fields.map { (rank: FieldName($0.name).ranks[.words] ?? 3, field: $0) }
                .filter { $0.rank < 3 || (isError && !$0.field.saysError) }
            for (rank, field) in ranked.sorted(by: { $0.rank < $1.rank }) {
                let hasWords = saysError || rank == 0 || (rank == 1 && depth == 0 && field.value.text != nil)
                if let words = field.value.serverWords(depth: depth + 1, isError: hasWords) { return words }
            }
            return nil
        default: return nil
        }
    }

    /// The first 64 bytes of the value for display, without the quotation marks of a text.
    fileprivate var shown: String { AirQualityExporter.shown((text ?? json).utf8Span.span, bytes: 64) }
}

extension JSONField {
    /// Whether the field marks the values beside it as an error: `"status": "error"`, `"success": false`.
    fileprivate var saysError: Bool {
        switch value {
        case .boolean(false): ["ok", "success"].contains(name)
        case .text(let text) where text.utf8.count <= 32 && (FieldName(name).says(.kind) || name == "status"):
            text.lowercased().contains("error") || text.lowercased().hasPrefix("fail")
        default: false
        }
    }
}

extension FeedStatistics {
    /// Log fields about messages that give no readings, without the hint. Reason `nil`: messages without readings.
    func details(of reason: RejectionReason?, _ fields: [ExplanationField]) -> Logger.Metadata {
        var details: Logger.Metadata = [:]
        if let reason {
            let rejected = "\(connection.rejections[reason])"
            details = ["reason": reason.rawValue, "rejected": rejected, "accepted": "\(connection.readings)"]
        }
        for field in fields where field.name != "hint" { details = details + [field.name: field.text] }
        return details
    }
}
