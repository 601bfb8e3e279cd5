/// The state of `poll`, written by its loop and read by the feed's server (for new clients) and the status server.
struct PollState: Sendable {
    var latest: LatestAir
    var figures = PollFigures()
}
