extension StoreState {
    /// Whether the city was already in this message, or came from another feed within that feed's idle time-out.
    func isDuplicate(_ city: Int, _ messageID: UInt64, feed: Int, at now: Timestamp) -> Bool {
        let states = cities.states.span
        if states[city].messageID == messageID { return true }
        let other = Int(states[city].feed)
        guard other != feed, feeds.indices.contains(other), !feeds[other].isRemoved else { return false }
        return feeds[other].idleTimeout == 0 || now - states[city].heardAt <= feeds[other].idleTimeout
    }

    /// Notes that another feed than the city's own sent it: it takes over after the own feed's idle time-out without
    /// the city.
    @inline(never)
    mutating func noteOther(_ feed: Int, of city: Int, at now: Timestamp) {
        guard mayTakeOver(feed, city, at: now) else {
            cities.states[city].otherFeed = Int32(feed)
            return
        }
        give(city, to: feed)
        cities.states[city].heardFromOwnFeedAt = now
    }

    private func mayTakeOver(_ feed: Int, _ city: Int, at now: Timestamp) -> Bool {
        let state = cities.states[city]
        if state.feedLabel.isEmpty { return true }
        // After a restart, only the label is known.
        let known = feeds.firstIndex { !$0.isRemoved && $0.labelBytes == state.feedLabel }
        guard let own = known, own != feed else { return true }
        return feeds[own].idleTimeout > 0 && now - state.heardFromOwnFeedAt > feeds[own].idleTimeout
    }

    mutating func give(_ city: Int, to feed: Int) {
        cities.states[city].ownFeed = Int32(feed)
        cities.states[city].feedLabel = feeds[feed].labelBytes
        cities.states[city].otherFeed = -1
    }
}
