/// The families of one kind of source, read at each scrape.
public struct FamilyGroup: Sendable {
    private let append: @Sendable (ExpositionFormat, inout [UInt8]) -> Void

    /// - Parameter source: called for each page, on the thread that makes it.
    public init<Source>(_ families: [Family<Source>], of source: @escaping @Sendable () -> Source) {
        append = { format, page in
            let sources = [source()]
            for family in families { family.append(sources, label: { _ in nil }, in: format, to: &page) }
        }
    }

    /// Appends the families that have samples.
    public func append(in format: ExpositionFormat, to page: inout [UInt8]) { append(format, &page) }
}
