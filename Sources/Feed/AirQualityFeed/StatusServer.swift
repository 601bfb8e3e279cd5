import AirQuality
import CommandLine
import Exposition
import HTTPServer
import Synchronization
import System

/// The log of the program. It has the level and the format of the flags as soon as they are known.
private let logger = Mutex(Logger())

func beginLog(of flags: ParsedFlags, level: Logger.Level = .info, format: LogFormat = .logfmt) {
    logger.withLock { logger in
        logger = Logger(level: level, format: format)
        flags.logUnknownVariables(to: logger)
    }
}

/// One line of the log.
func log(_ line: String, level: Logger.Level = .info) { logger.withLock(\.self).log(level: level, line) }

/// Serves what Prometheus and a supervisor ask of `poll`: `/metrics`, `/-/healthy`, `/-/ready`.
/// - Parameters:
///   - healthProblem: `nil` while all threads work, else what does not.
///   - readinessProblem: `nil` when clients get something, else what is missing.
/// - Returns: what ends the server; nothing is served without addresses.
func serveStatus(
    on addresses: [ListenAddress], metrics: @escaping @Sendable (ExpositionFormat) -> [UInt8],
    healthProblem: @escaping @Sendable () -> String?, readinessProblem: @escaping @Sendable () -> String?
) throws -> () -> Void {
    guard !addresses.isEmpty else { return {} }
    let routes = [
        Route("/") { _ in HTTPResponse(status: 200, line: "/metrics /-/healthy /-/ready") },
        Route("/metrics") { request in
            let accepted = AcceptedFormat.negotiate(request.header("Accept"))
            return HTTPResponse(
                status: 200, headers: [("Content-Type", accepted.contentType), ("Vary", "Accept")],
                body: .bytes(metrics(accepted.format)))
        },
        Route("/-/healthy") { _ in response(healthProblem(), otherwise: "healthy") },
        Route("/-/ready") { _ in response(healthProblem() ?? readinessProblem(), otherwise: "ready") },
    ]
    var configuration = HTTPServerConfiguration(addresses: addresses, routes: routes)
    configuration.notFound = "not found; see / for available paths"
    let server = try HTTPServer(configuration: configuration)
    for address in server.addresses { log("Serving metrics on \(address)") }
    return { server.stop(within: .seconds(1)) }
}

private func response(_ problem: String?, otherwise fine: String) -> HTTPResponse {
    HTTPResponse(status: problem == nil ? 200 : 503, line: problem ?? fine)
}

/// When a thread last went through its loop.
final class Heartbeat: Sendable {
    private let name: String
    private let limit: Duration
    private let beatAt = Mutex(monotonicTime())

    /// - Parameter limit: no turn of the loop takes longer.
    init(of name: String, limit: Duration) {
        self.name = name
        self.limit = limit
    }

    func beat() { beatAt.withLock { $0 = monotonicTime() } }

    /// A line about a thread that is stuck, `nil` while it beats.
    var problem: String? {
        let age = monotonicTime() - beatAt.withLock(\.self)
        return age <= limit ? nil : "\(name) has been stuck for \(age.components.seconds) s"
    }
}
