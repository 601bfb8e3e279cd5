/// A change in the state of the file, reported when it occurs. All texts are one line.
public enum StorageEvent: Sendable, Equatable {
    /// The file did not exist or was empty.
    case created
    /// Cities were read. Those left out are beyond the limit or not UTF-8, and will be deleted from the file.
    case restored(cities: Int, leftOut: Int)
    /// Nothing can be written; retried every second.
    case failing(reason: String)
    /// Everything missed while failing has been written.
    case recovered
    /// The file was damaged or from an earlier release; it was renamed and a new one created.
    case quarantined(movedTo: String, reason: String)
    /// Another process removed, replaced or wrote the file; its replacement has everything from memory.
    case recreated
}
