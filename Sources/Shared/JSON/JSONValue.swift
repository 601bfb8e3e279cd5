/// One member of a record, as far as a reader of records needs to know it.
@frozen
public enum JSONValue: Sendable, Equatable {
    case absent
    case null
    /// Range of the UTF-8, escapes replaced, in the bytes that ``JSONRecordReader/withTexts(_:)`` lends.
    case text(Range<Int>)
    /// The nearest `Double`.
    case number(Double)
    /// `true`, `false`, an array, or an object that is not opened.
    case other
    /// An object whose members follow as values of their own.
    case object
    /// The record is no object, so that it has no members.
    case notAnObject
}
