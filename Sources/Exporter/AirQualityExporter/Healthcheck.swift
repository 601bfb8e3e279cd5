import System
import WebConfiguration

/// `healthcheck`: requests `/-/healthy` or `/-/ready` from the configuration's first listen address. Returns the exit
/// status.
func healthcheck(_ options: HealthcheckOptions) -> Int32 {
    do throws(SystemError) {
        let server = options.configuration.web
        let address = server.listenAddresses[0]
        // Covers everything that may block: a file, a name lookup, the server.
        _ = try ServiceThread(name: "watchdog") {
            pauseThread(for: .seconds(5))
            writeUnhealthy("\(address): no response in time")
            endProcess(status: 1)
        }
        let web = try server.configFile.map(WebConfiguration.init(file:))
        let path = options.asksForReadiness ? ExporterPath.ready : .healthy
        let line = try HealthProbe(address: address, tls: web?.tls).get(path.rawValue)
        // Without a client certificate, nothing more can be checked.
        let shown = line ?? "the server speaks TLS and requires a client certificate"
        StandardStream.output.write("\(shown)\n", within: .seconds(1))
        return 0
    } catch {
        writeUnhealthy(error.reason)
        return 1
    }
}

private func writeUnhealthy(_ reason: String) {
    StandardStream.error.write("air-quality-exporter: unhealthy: \(reason)\n", within: .seconds(1))
}
