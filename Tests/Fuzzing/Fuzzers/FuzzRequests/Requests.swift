import AirQuality
import Bytes
import Expectations
import Exposition
import Glibc
import HTTPText
import Page
import Synchronization

@testable import HTTPServer

/// Sends the bytes of a client and closes its half of the connection. The server must respond in HTTP or end the
/// connection in time, and go on. One process serves all inputs.
func checkRequests(_ input: [UInt8]) {
    let response = exchange(input)
    // Only responses of HTTP/0.9 have no status, and there must be none.
    if !response.isEmpty {
        expect(isStatusLine(response), "no status line: \(String(decoding: response.prefix(200), as: UTF8.self))")
    }
    // After every sixteenth, because this takes as long as the input does, or when there was no response.
    let count = inputs.add(1, ordering: .relaxed).newValue
    guard response.isEmpty || count.isMultiple(of: 16) else { return }
    let healthy = exchange(Array("GET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
    expect(healthy.starts(with: "HTTP/1.1 200 ".utf8), "afterwards: \(String(decoding: healthy, as: UTF8.self))")
}

private let inputs = Atomic(0)

private func isStatusLine(_ response: [UInt8]) -> Bool {
    guard response.count > 12, response.starts(with: "HTTP/1.1 ".utf8) || response.starts(with: "HTTP/1.0 ".utf8),
        let status = Int(String(decoding: response[9..<12], as: UTF8.self))
    else { return false }
    return status == 100 || status == 200 || (400...499).contains(status) || status == 501 || status == 505
}

private let path = "/tmp/fuzz-requests-\(getpid()).sock"

private let server: HTTPServer = {
    let methods = ["GET", "HEAD", "POST"]
    let limit = RequestLimit(40, perClient: 40, rejection: .busy("too many"))
    var configuration = HTTPServerConfiguration(
        addresses: [.unix(path: path)],
        routes: [
            Route("/secret", methods: methods, respond: respond),
            Route(
                "/metrics", methods: methods, isExempt: true, limit: limit, meter: HTTPMeter(), respond: respond),
            Route("/history.json", methods: methods, isExempt: true, respond: respond),
            Route("", isFolder: true, methods: methods, isExempt: true, respond: respondWithPage),
        ])
    configuration.access.users = HTTPAccess.Users(hashes: [:]) { credentials in
        credentials == Credentials(user: Array("user".utf8), password: Array("pass".utf8))
    }
    configuration.access.headers = [HTTPField(name: "X-Frame-Options", value: "deny")]
    do {
        return try HTTPServer(configuration: configuration)
    } catch {
        fatalError("\(error)")
    }
}()

/// Reads what the exporter reads of a request.
@Sendable private func respond(to request: HTTPRequest) -> HTTPResponse {
    let accepted = AcceptedFormat.negotiate(request.header("Accept"))
    do {
        let query = try HistoryQuery(request.query)
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        let body = Array("\(request.method) \(request.path) \(query) \(isGzip)\n".utf8)
        return HTTPResponse(status: 200, headers: [("Content-Type", accepted.contentType)], body: .bytes(body))
    } catch {
        expectOneLine(error.line)
        return HTTPResponse(status: 400, line: error.line)
    }
}

private let store: ReadingStore = {
    let store = ReadingStore(rules: StoreRules(), feeds: ["demo"], at: 0)
    var decoder = FeedDecoder(format: FeedFormat())
    for time in [1, 60_000, 1_700_000_000_000] as [Timestamp] {
        let message = Array(#"[{"city": "Mumbai", "aqi": \#(time % 900)}]"#.utf8)
        store.record(decoder.decode(message.span, receivedAt: time), feed: 0)
    }
    return store
}()

/// The chart of the one city below `/city`, the list elsewhere.
@Sendable private func respondWithPage(to request: HTTPRequest) -> HTTPResponse {
    let settings = PageSettings(version: "1", assets: "assets/", grafanaURL: nil, paths: [], isLifecycleEnabled: true)
    let page = Page(settings, store.snapshot(withHistories: true), at: 1_700_000_000_000)
    do {
        let isCity = request.path.utf8.starts(with: "/city".utf8)
        let body = isCity ? try page.city(Array("Mumbai".utf8), request.query) : try page.list(request.query)
        return HTTPResponse(status: 200, headers: [], body: .bytes(body ?? []))
    } catch {
        expectOneLine(error.line)
        return HTTPResponse(status: 400, line: error.line)
    }
}

/// The server's whole response to these bytes.
private func exchange(_ bytes: [UInt8]) -> [UInt8] {
    _ = server
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let isConnected = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
    expect(isConnected, "cannot connect: errno \(errno)")
    var sent = 0
    while sent < bytes.count {
        let count = unsafe bytes[sent...].withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        // The server may end the connection before it has everything.
        guard count > 0 else { break }
        sent += count
    }
    shutdown(descriptor, Int32(SHUT_WR))
    var response: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        // Interrupted by an alarm of libFuzzer.
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
            expect(count == 0 || errno == ECONNRESET, "neither a response nor an end in 30 s: errno \(errno)")
            return response
        }
        response += buffer[..<count]
    }
}
