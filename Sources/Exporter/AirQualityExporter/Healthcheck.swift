import System
import WebConfiguration

/// `healthcheck`: requests `/-/ready` from the configuration's first listen address. Returns the exit status.
func healthcheck(_ configuration: Configuration) -> Int32 {
    do throws(SystemError) {
        let address = configuration.web.listenAddresses[0]
        // Covers everything that may block: a file, a name lookup, the server.
        _ = try ServiceThread(name: "watchdog") {
            pauseThread(for: .seconds(5))
            writeUnhealthy("\(address): no response in time")
            endProcess(status: 1)
        }
        let web = try configuration.web.configFile.map(WebConfiguration.init(file:))
        let line = try HealthProbe(address: address, tls: web?.tls).get(ExporterPath.ready.rawValue)
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
