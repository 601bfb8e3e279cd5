import AirQuality
import Bytes
import System

extension MessageExcerpt {
    /// Everything that the excerpt says, as log fields.
    var fields: Logger.Metadata {
        let texts = [("city", city), ("value", value), ("time", time), ("err", problem)]
        return texts.reduce(into: [:]) { fields, text in
            if let value = text.1 { fields = fields + [text.0: value] }
        } + memberFields
    }

    /// The names of the members alone: the values of a message that is no reading may be secrets.
    var memberFields: Logger.Metadata {
        kind.members.isEmpty ? [:] : ["members": onOneLine(kind.members.joined(separator: ","))]
    }
}

extension RejectionReason {
    /// Shows how messages can be read; the address is left for the reader to fill in, because it may hold a secret.
    static let probeHint = "air-quality-exporter probe ADDRESS"

    /// Returns the flag that the case needs, or else the command that shows how the messages can be read.
    func hint(for excerpt: MessageExcerpt?) -> String {
        switch self {
        case .tooLarge: "--feed.max-message-bytes"
        case .cityLimit: "--city.limit"
        // Not of a reading that is only older than the city's newest one.
        case .badTime where excerpt?.problem == nil:
            #"--feed.jq with a form of the time, such as .time |= (strptime("%d/%m/%Y %H:%M") | mktime)"#
        case .notJSON, .jqError, .notAnArray, .notAnObject, .noCity, .badCity, .noValue, .badValue, .badTime,
            .outOfRange:
            Self.probeHint
        }
    }
}
