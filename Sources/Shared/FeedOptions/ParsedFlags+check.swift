public import CommandLine

extension ParsedFlags {
    /// Performs a check, and rethrows its error with the flag or variable as it was given.
    public func check(_ check: () throws(FeedOptionError) -> Void) throws(FlagError) {
        do throws(FeedOptionError) {
            try check()
        } catch {
            throw rejection(of: error.flag, at: error.index, expected: error.expected)
        }
    }
}
