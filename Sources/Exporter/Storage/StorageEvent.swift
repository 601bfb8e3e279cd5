/// A state of the file, reported when it begins. The texts are one line.
public enum StorageEvent: Sendable, Equatable {
    /// There was no file, or an empty one.
    case created
    /// Cities were read; those left out leave the file, because they are of another shard or beyond the limit.
    case restored(cities: Int, leftOut: Int)
    /// Nothing can be written; it is tried again each second.
    case failing(reason: String)
    /// Everything that was missed is written.
    case recovered
    /// The file is damaged, or of an earlier release: it was renamed, and a new file was created.
    case quarantined(movedTo: String, reason: String)
    /// Somebody else removed, replaced or wrote the file: what has its name now got everything from memory.
    case recreated
}
