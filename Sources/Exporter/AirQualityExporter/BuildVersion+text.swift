extension BuildVersion {
    static var userAgent: String { "air-quality-exporter/\(version)" }

    /// The output of `--version`, in the format of other exporters.
    static var text: String {
        """
        air-quality-exporter, version \(version) (branch: \(branch), revision: \(revision))
          swift version:    \(swift)
          platform:         linux/\(architecture)

        """
    }

    /// The compiler's version, as far as a program can tell.
    static var swift: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #else
            "6.3"
        #endif
    }

    /// Go's name for the architecture, which other exporters print.
    private static var architecture: String {
        #if arch(x86_64)
            "amd64"
        #elseif arch(arm64)
            "arm64"
        #else
            "unknown"
        #endif
    }
}
