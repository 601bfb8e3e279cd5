/// A value in a message read by a ``JSONReader``.
public enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// The nearest `Double`.
    case number(Double)
    /// Range in ``JSONReader/texts`` of the UTF-8, with escapes replaced.
    case text(Range<Int>)
    /// Positions of the elements.
    case array(Range<Int>)
    /// Positions of names, which are texts, alternating with values.
    case object(Range<Int>)
}
