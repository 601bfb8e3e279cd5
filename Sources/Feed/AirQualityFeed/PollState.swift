/// The state of `poll`: changed by its loop, read by the feed's server for new clients and by the status server.
struct PollState: Sendable {
    var latest: LatestAir
    var figures = PollFigures()
}
