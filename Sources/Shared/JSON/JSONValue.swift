/// A value in a message that a ``JSONReader`` has read.
public enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// The nearest `Double`.
    case number(Double)
    /// Range of the UTF-8, escapes replaced, in ``JSONReader/texts``.
    case text(Range<Int>)
    /// Places of the elements.
    case array(Range<Int>)
    /// Places of names, which are texts, and of values, in turn.
    case object(Range<Int>)
}
