/// A checked element of a message: a city and its index.
///
/// The name is a run of the bytes that the decoder lends, so that a reading costs no allocation.
struct Reading: Sendable {
    var nameOffset: UInt32
    var nameCount: UInt8
    /// The index is beyond 0 … 9999. Such a reading is refused only by the store: if the time is bad as well, that is
    /// the reason to give, and a time may be bad by what the store knows.
    var isOutOfRange: Bool
    /// Of the name, as ``JSON/JSONRecordReader`` hashes.
    var nameHash: UInt64
    var index: Double
    var time: Timestamp

    var nameRange: Range<Int> {
        Int(nameOffset)..<Int(nameOffset) + Int(nameCount)
    }
}
