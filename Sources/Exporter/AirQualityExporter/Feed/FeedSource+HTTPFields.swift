import AirQuality
import Bytes
import HTTPText

/// The source as the handshake's response says it: `Air-Quality-Source: open-meteo; kind=model; license="CC BY 4.0"`.
/// The parameters are written as those of `Accept` are.
extension FeedSource {
    /// Bytes of each value; a longer one counts as not there.
    static let maximumBytes = 128

    /// Reads the first such field; `nil` when the response names no source.
    init?(_ fields: HTTPFields) {
        guard let text = fields.first(Self.fieldName), let parameters = AcceptElement.list(text).first else {
            return nil
        }
        let name = String(trimmed(text.prefix { $0 != ";" }))
        guard !name.isEmpty, Self.isAccepted(name) else { return nil }
        self.init(name: name)
        if let kind = parameters["kind"], ["model", "stations"].contains(kind) { self.kind = kind }
        if let license = parameters["license"], Self.isAccepted(license) { self.license = license }
    }

    private static func isAccepted(_ value: String) -> Bool {
        value.utf8.count <= maximumBytes && !value.unicodeScalars.contains(where: breaksLine)
    }
}
