/// The first of the names that are to be told to people, each once.
struct FirstNames: Sendable {
    static let maximumCount = 10

    private var names: [[UInt8]] = []
    private var takenCount = 0

    mutating func insert(_ name: Span<UInt8>) {
        guard names.count < Self.maximumCount else { return }
        let bytes = (0..<min(name.count, CityName.maximumCount)).map { name[$0] }
        if !names.contains(bytes) { names.append(bytes) }
    }

    /// Those that were not taken before.
    mutating func takeNew() -> [String] {
        defer { takenCount = names.count }
        return names[takenCount...].map { String(decoding: $0, as: UTF8.self) }
    }
}
