import CommandLine

extension Program {
    static let exporter = Program(
        name: "air-quality-exporter",
        version: BuildVersion.text,
        summary: "Consumes a live WebSocket feed of Air Quality Index readings and serves them to Prometheus.",
        commands: [
            Command(summary: "Run the exporter.", options: Configuration.self),
            Command(
                name: "healthcheck",
                summary:
                    "Request /-/healthy, or with --ready /-/ready, from the first listen address of this configuration; "
                    + "exit with status 0 or 1.",
                options: HealthcheckOptions.self, showing: ["ready", "web.listen-address", "web.config.file"]),
            Command(
                name: "probe",
                summary:
                    "Connect to a feed, print what it sends, what the given flags read and why the rest is not read, and "
                    + "command lines that would read more; exit with status 0 if the given flags read something.",
                operands: ["URL"], options: ProbeOptions.self),
        ],
        advice: Advice.rows(flags: PackageResources.flag_advice_txt, others: PackageResources.command_advice_txt))
}
