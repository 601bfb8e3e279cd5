import CommandLine
import FeedOptions

extension Configuration {
    /// The member with that option of the connection to a feed.
    static func member(_ option: PartialKeyPath<FeedClientOptions>) -> PartialKeyPath<Self> {
        (\Self.feed as PartialKeyPath<Self>).appending(path: option)!
    }

    /// The flag of an option of the connection to a feed.
    static let feedFlag: FeedClientOptions.FlagName = { flag(member($0)) }
}
