/// A change of the file's state, each told once. The texts are one line.
public enum StorageEvent: Sendable, Equatable {
    /// Nothing reaches the file any more; it is tried again each second and catches up when it can.
    case failing(reason: String)
    /// All that was missed is written.
    case recovered
    /// The file turned out to be damaged; it has another name now, and a new one has been begun.
    case setAside(movedTo: String, reason: String)
    /// The file was removed or replaced; the one that now has its name has all that is in memory.
    case begunAgain
}
