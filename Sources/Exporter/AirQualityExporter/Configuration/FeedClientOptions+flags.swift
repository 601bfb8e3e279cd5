import CommandLine
import FeedOptions
import System
import WebSocket

extension Configuration {
    /// The member with that option of the connection to a feed.
    static func member(_ option: PartialKeyPath<FeedClientOptions>) -> PartialKeyPath<Self> {
        (\Self.feed as PartialKeyPath<Self>).appending(path: option)!
    }

    /// The flag of an option of the connection to a feed.
    static let feedFlag: FeedClientOptions.FlagName = { flag(member($0)) }
}

extension FeedClientOptions {
    /// Looks whether the next connection can be made with the files as they are now.
    ///
    /// - Returns: `nil`, or what is wrong in one line, which is logged as well.
    func reload(logger: Logger) -> String? {
        do throws(FeedOptionError) {
            try checkFiles()
            return nil
        } catch {
            let line = error.line(Configuration.feedFlag)
            logger.error("Cannot connect to feeds: unusable file", metadata: ["err": line])
            return line
        }
    }
}
