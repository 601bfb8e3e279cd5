import Bytes
import CommandLine

extension ValueFormat<String> {
    static var telemetryPath: Self {
        let reserved = ExporterPath.allCases.map(\.rawValue).joined(separator: " ")
        return Self(
            "PATH", expected: "a path that begins with \"/\", without ? # %, and is none of \(reserved)",
            text: \.self
        ) { path in
            let isPath = path.first == "/" && isVisible(path) && !path.utf8.contains { "?#%".utf8.contains($0) }
            let isFree = !ExporterPath.allCases.contains {
                $0.isFolder ? path.hasPrefix($0.rawValue) : path == $0.rawValue
            }
            return isPath && isFree ? path : nil
        }
    }

    static var origin: Self {
        Self("ORIGIN", expected: "an origin such as https://grafana.example, or *") { text in
            let host = withoutScheme(text) ?? ""
            let isHost = !host.isEmpty && isVisible(host) && !host.contains { "/?#,".contains($0) }
            return isHost || text == "*" ? text : nil
        }
    }

    static var grafanaAddress: Self {
        Self("ADDRESS", expected: "an http:// or https:// address without a query") { text in
            guard let rest = withoutScheme(text), !rest.isEmpty, rest.first != "/", isVisible(text),
                !text.utf8.contains(where: { "?#\"".utf8.contains($0) })
            else { return nil }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }

    private static func withoutScheme(_ text: String) -> String? {
        ["http://", "https://"].lazy.compactMap { text.dropping(prefix: $0) }.first
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
}
