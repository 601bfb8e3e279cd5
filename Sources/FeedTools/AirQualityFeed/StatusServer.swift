import Exposition
import HTTPServer
import System

/// Serves `/metrics`, `/-/healthy` and `/-/ready`; returns `nil` without addresses.
func startStatusServer(
    on addresses: [ListenAddress], _ state: Monitor<PollState>, log: Logger
) throws -> HTTPServer? {
    guard !addresses.isEmpty else { return nil }
    let routes = [
        Route("/") { _ in HTTPResponse(status: 200, line: "/metrics /-/healthy /-/ready") },
        Route("/metrics") { request in
            let accepted = AcceptedFormat.negotiate(request.header("Accept"))
            let text = accepted.format.text(of: PollFigures.families, from: state.read(\.figures))
            let headers = [("Content-Type", accepted.contentType), ("Vary", "Accept")]
            return HTTPResponse(status: 200, headers: headers, body: .bytes(text + accepted.format.end.utf8))
        },
        Route("/-/healthy") { _ in HTTPResponse(status: 200, line: "healthy") },
        Route("/-/ready") { _ in
            state.read { $0.latest.isEmpty(at: monotonicTime()) }
                ? HTTPResponse(status: 503, line: "no city has data yet") : HTTPResponse(status: 200, line: "ready")
        },
    ]
    var configuration = HTTPServerConfiguration(addresses: addresses, routes: routes)
    configuration.notFound = "not found; see / for available paths"
    let server = try HTTPServer(configuration: configuration)
    for address in server.addresses { log.info("Serving metrics on \(address)") }
    return server
}
