extension BuildVersion {
    /// The output of `--version`, in the form of other exporters.
    static var text: String {
        """
        air-quality-exporter, version \(version) (branch: \(branch), revision: \(revision))
          swift version:    \(swift)
          platform:         linux/\(architecture)

        """
    }

    /// The compiler's version, as far as a program can know it.
    static var swift: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #else
            "6.3"
        #endif
    }

    /// As Go names it, because that is what other exporters print.
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
