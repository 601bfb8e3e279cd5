internal import Bytes

/// Whether to answer with gzip, from the request's `Accept-Encoding` (RFC 9110 section 12.5.3).
///
/// Yes when gzip is acceptable and not liked less than an identity that is named. Elements with a malformed weight do
/// not count.
public func prefersGzip(acceptEncoding: String?) -> Bool {
    guard let acceptEncoding else { return false }
    var gzip: Int?
    var identity: Int?
    var others: Int?
    var list = acceptEncoding.utf8[...]
    while !list.isEmpty {
        let element = list.prefix { $0 != UInt8(ascii: ",") }
        list = list[element.endIndex...].dropFirst()
        let coding = element.prefix { $0 != UInt8(ascii: ";") }
        guard let weight = weight(element[coding.endIndex...]) else { continue }
        let name = trimmed(coding)
        if equalsIgnoringCase(name, "gzip") || equalsIgnoringCase(name, "x-gzip") {
            gzip = max(gzip ?? 0, weight)
        } else if equalsIgnoringCase(name, "identity") {
            identity = weight
        } else if name.elementsEqual("*".utf8) {
            others = weight
        }
    }
    let liking = gzip ?? others ?? 0
    return liking > 0 && liking >= identity ?? 0
}

/// The weight behind `;q=` in thousandths, 1000 without one; nil when it is malformed.
private func weight(_ parameters: Substring.UTF8View) -> Int? {
    var rest = parameters
    while rest.first == UInt8(ascii: ";") {
        let parameter = trimmed(rest.dropFirst().prefix { $0 != UInt8(ascii: ";") })
        rest = rest.dropFirst().drop { $0 != UInt8(ascii: ";") }
        let name = parameter.prefix { $0 != UInt8(ascii: "=") }
        if equalsIgnoringCase(trimmed(name), "q") {
            let value = trimmed(parameter[name.endIndex...].dropFirst())
            // At most three decimals (RFC 9110 section 12.4.2).
            return value.count <= 5 ? qualityValue(value.span) : nil
        }
    }
    return rest.isEmpty ? 1000 : nil
}
