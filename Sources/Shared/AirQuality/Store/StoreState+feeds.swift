extension StoreState {
    /// Returns the index of the feed with this label; a new feed takes the index of a removed one if there is any.
    mutating func index(ofFeed label: String) -> Int {
        if let known = feeds.firstIndex(where: { $0.label.utf8.elementsEqual(label.utf8) }) { return known }
        let new = FeedStatistics(label: label)
        let index = feeds.firstIndex(where: \.isRemoved) ?? feeds.count
        if index < feeds.count { feeds[index] = new } else { feeds.append(new) }
        return index
    }

    /// Removes a feed with its cities, except those that another feed sends.
    mutating func remove(feed: Int, at now: Timestamp) {
        feeds[feed].isRemoved = true
        dropExtras(ofFeed: feed)
        // A new feed may reuse the index.
        for city in cities.states.indices {
            if cities.states[city].feed == feed { cities.states[city].feed = -1 }
            if cities.states[city].otherFeed == feed { cities.states[city].otherFeed = -1 }
        }
        var kept: [Int] = []
        for city in cities.states.indices {
            let state = cities.states[city]
            // After a restart, only the label is known.
            let isOwn =
                state.ownFeed == feed || (state.ownFeed < 0 && state.feedLabel == feeds[feed].labelBytes)
            let isLeft = isOwn && state.otherFeed < 0
            if !isLeft { kept.append(city) }
            if !isLeft, isOwn { give(city, to: Int(state.otherFeed)) }
        }
        guard kept.count < cities.count else { return }
        cities.keep(kept)
        pointCount = cities.histories.reduce(0) { $0 + $1.points.count }
        expiredAt = now
    }

    /// Removes the details that came from the feed: it may no longer send them, while other feeds or fields keep its
    /// cities current.
    mutating func dropExtras(ofFeed feed: Int) {
        for city in cities.states.indices where cities.states[city].extrasFeed == feed {
            cities.states[city].extras = nil
        }
    }
}
