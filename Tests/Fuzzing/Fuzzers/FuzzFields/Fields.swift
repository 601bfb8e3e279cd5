import Expectations
import Exposition
import HTTPText

@testable import AirQuality
@testable import Bytes
@testable import HTTPServer

/// Checks values in the first line and the fields of a request. A value that can be written again must be read back as
/// the same.
func checkFields(_ input: [UInt8]) {
    check(input, withOneOf: checks)
}

private let checks: [Check] = [
    requestTarget, accept, authorization, historyQuery, base64,
]

@Sendable private func requestTarget(_ bytes: [UInt8], _: String) {
    guard let target = try? HTTPRequest(method: "GET", target: bytes) else { return }
    expect(!target.path.isEmpty && !target.path.utf8.contains(0), "path \(target.path)")
    expect(target.path.utf8.count + target.query.utf8.count <= bytes.count + 1, "\(target) grew")
}

@Sendable private func accept(_: [UInt8], _ text: String) {
    let accepted = AcceptedFormat.negotiate(text)
    expectOneLine(accepted.contentType)
    let offer = accepted.contentType
    // Prometheus repeats what it was sent, so our name for a format must select that format.
    expect(AcceptedFormat.negotiate(offer).format == accepted.format, "\(offer) is not what it says")
    _ = prefersGzip(acceptEncoding: text)
}

@Sendable private func authorization(_: [UInt8], _ text: String) {
    guard let sent = Credentials(authorization: text) else { return }
    let again = Credentials(authorization: "Basic " + encodeBase64(sent.user + [UInt8(ascii: ":")] + sent.password))
    expect(again == sent, "\(sent) and \(String(describing: again))")
}

@Sendable private func historyQuery(_: [UInt8], _ text: String) {
    do throws(QueryError) {
        let query = try HistoryQuery(text)
        expect(query.limit ?? 1 >= 1 && query.since ?? 0 >= 0, "\(query)")
    } catch {
        expectOneLine(error.line)
    }
}

@Sendable private func base64(_ bytes: [UInt8], _: String) {
    guard let decoded = decodeBase64(bytes[...]) else { return }
    expect(decodeBase64(Array(encodeBase64(decoded).utf8)[...]) == decoded, "\(decoded) is another in base64")
}
