extension [UInt8] {
    @inlinable
    package mutating func append(_ text: String) { append(text.utf8Span.span) }

    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        // Would write the count of the empty array that all threads share, which the thread sanitizer reports.
        if bytes.isEmpty { return }
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}
