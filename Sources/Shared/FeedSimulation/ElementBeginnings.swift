import Bytes

/// `{"city":"Mumbai","aqi":` of each simulated city, rendered once, in one array.
struct ElementBeginnings: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [UInt32] = [0]

    init(cities: Int) {
        ends.reserveCapacity(cities + 1)
        for city in 0..<cities {
            bytes += "{\"city\":".utf8
            bytes.appendJSONString(CityNames.name(city).utf8.span)
            bytes += ",\"aqi\":".utf8
            ends.append(UInt32(bytes.count))
        }
    }

    func append(_ city: Int, to message: inout [UInt8]) { message += bytes[Int(ends[city])..<Int(ends[city + 1])] }
}
