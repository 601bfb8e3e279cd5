internal import Bytes

/// A city's name as a key, compared byte for byte.
struct CityKey: Hashable, Sendable {
    /// The name's hash, by ``CityName/hash(_:)``: the feed's thread makes it before it takes the store's lock.
    var nameHash: UInt64
    var name: [UInt8]

    init(_ name: [UInt8]) {
        nameHash = CityName.hash(name.span)
        self.name = name
    }

    init(hash: UInt64, capacity: Int) {
        nameHash = hash
        name = []
        name.reserveCapacity(capacity)
    }

    static func == (left: CityKey, right: CityKey) -> Bool {
        left.nameHash == right.nameHash && bytesEqual(left.name.span, right.name.span)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(nameHash) }
}
