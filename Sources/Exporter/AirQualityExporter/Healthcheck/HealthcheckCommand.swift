import System
import WebConfiguration

/// `healthcheck`: asks `/-/ready` of the first listen address of this configuration.
///
/// - Returns: the exit status.
func healthcheck(_ configuration: Configuration) -> Int32 {
    do throws(SystemError) {
        guard let address = configuration.web.listenAddresses.first else {
            throw SystemError(.address, "no listen address")
        }
        let web = try configuration.web.configFile.map { (path) throws(SystemError) in
            try WebConfiguration(file: path)
        }
        let probe = HealthProbe(address: address, tls: web?.tls)
        switch try probe.get(Routes.readyPath, within: .seconds(5)) {
        case .http(status: 200, let line):
            StandardStream.output.write("\(line)\n")
            return 0
        case .http(let status, let line):
            throw SystemError(.peer, "\(address): status \(status): \(line)")
        case .tls:
            // Without a client certificate there is no more to learn.
            StandardStream.output.write("the server answers TLS and wants a client certificate\n")
            return 0
        }
    } catch {
        StandardStream.error.write("air-quality-exporter: unhealthy: \(error.reason)\n")
        return 1
    }
}
