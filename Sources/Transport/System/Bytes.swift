extension ArraySlice<UInt8> {
    /// The first place where these bytes are. `firstRange` is the standard library's, but it lives with the regular
    /// expressions, whose parser and engine every start of the program would pay for.
    func range(of bytes: [UInt8]) -> Range<Int>? {
        guard count >= bytes.count else { return nil }
        return (startIndex...endIndex - bytes.count).first { self[$0...].starts(with: bytes) }
            .map { $0..<$0 + bytes.count }
    }
}
