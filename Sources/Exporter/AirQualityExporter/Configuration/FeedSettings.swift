import AirQuality
import AirQualityIndex
import FeedOptions
import JQ
import System

/// How to connect to a feed, and how to read its messages.
struct FeedSettings: Sendable {
    /// The feed's label; `nil` = derived from its address.
    var name: String?
    var client = FeedClientOptions()
    /// Where readings are in a message.
    var format = FeedFormat()
    /// The jq program that turns a message into elements; `nil` = the message contains them.
    var program: String?

    /// Returns the jq programs of the feed: that of its elements, and that of the replies.
    var programs: FeedPrograms { client.programs(elements: elementProgram) }

    private var elementProgram: JQProgram? { program.map { JQProgram($0, prelude: IndexScale.jqDefinitions) } }

    /// Checks the settings in combination.
    func check() throws(FeedOptionError) {
        try client.check()
        if let elementProgram {
            guard format.items.isEmpty else {
                throw FeedOptionError(flag: "feed.items", expected: "--feed.items or --feed.jq, not both")
            }
            do throws(SystemError) {
                try elementProgram.check()
            } catch {
                throw FeedOptionError(flag: "feed.jq", expected: "a valid jq program: \(error)")
            }
        }
        let fields = [
            ("city-field", format.city), ("value-field", format.value), ("time-field", format.time.path),
            ("pollutants-field", format.pollutants), ("subindices-field", format.subindices),
            ("place-field", format.place),
        ]
        var paths: Set<[[UInt8]]> = []
        for (flag, path) in fields where !path.isEmpty && !paths.insert(path).inserted {
            throw FeedOptionError(flag: "feed.\(flag)", expected: "a field that no other flag names")
        }
    }
}
