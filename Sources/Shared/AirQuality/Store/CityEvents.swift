import Bytes

/// The events of `/events`: that cities have changed.
public enum CityEvents {
    /// One event with at most `maximum` of the cities that changed since a version of the store.
    ///
    /// - Parameters:
    ///   - position: 0 at first, then what the answer before gave.
    ///   - id: the event's, for a listener to go on from; nil when it cannot go on from here.
    /// - Returns: the event, nil when no city is left; and where to go on, nil when all have been looked at.
    public static func next(
        _ snapshot: StoreSnapshot, changedSince version: UInt64, position: Int, maximum: Int, id: (Bool) -> String?
    ) -> (event: [UInt8]?, position: Int?) {
        let (cities, position) = snapshot.cities(changedSince: version, from: position, maximum: maximum)
        guard !cities.isEmpty else { return (nil, position) }
        var text: [UInt8] = []
        text.append("event: change\n")
        if let id = id(position == nil) { text.append("id: \(id)\n") }
        text.append("data: {}\n\n")
        return (text, position)
    }
}
