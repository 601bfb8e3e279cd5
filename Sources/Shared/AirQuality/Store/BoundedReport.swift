/// The first few distinct names to report, each once.
struct BoundedReport: Sendable {
    static let maximumCount = 10

    private(set) var names: [[UInt8]] = []
    private var reportedCount = 0

    mutating func insert(_ name: Span<UInt8>) {
        guard names.count < Self.maximumCount else { return }
        let bytes = (0..<min(name.count, CityName.maximumCount)).map { name[$0] }
        if !names.contains(bytes) { names.append(bytes) }
    }

    mutating func unreported() -> [String] {
        defer { reportedCount = names.count }
        return names[reportedCount...].map { String(decoding: $0, as: UTF8.self) }
    }
}
