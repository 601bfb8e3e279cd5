import AirQuality
import Expectations
import Glibc
import Storage

/// Opens a storage file of these bytes, which is restored, moved aside or rejected. Restored cities must be valid, and
/// a city written then must be there at the next start.
func checkStorage(_ input: [UInt8]) {
    let path = "\(directory)/history.db"
    removeFiles()
    write(input, to: path)
    do {
        let store = makeStore()
        let file = try StorageFile(path, store: store) { arrival }
        for city in cities(of: store) { check(city) }
        for points in points(of: store) { check(points) }
        if !cities(of: store).contains(where: { $0.name == name }) {
            let point = HistoryPoint(time: arrival, aqi: 7)
            store.restore(
                [City(id: 0, name: name, aqi: 7, updatedAt: arrival, receivedAt: arrival, points: [point])],
                at: arrival)
        }
        file.stop()
        file.run { _ in }
        let copy = makeStore()
        let again = try StorageFile(path, store: copy) { arrival }
        again.stop()
        again.run { _ in }
        guard case .restored(_, let leftOut) = again.outcome else {
            fatalError("\(file.outcome), then \(again.outcome)")
        }
        expect(cities(of: copy).contains { $0.name == name }, "the city is gone: \(file.outcome)")
        expect(cities(of: copy).count == cities(of: store).count, "cities are gone: \(file.outcome)")
        expect(leftOut == 0, "\(leftOut) cities left out")
    } catch {
        expectOneLine("\(error)")
    }
    do {
        try StorageFile.check(path)
    } catch {
        expectOneLine("\(error)")
    }
}

private let name = Array("Pune".utf8)
private let arrival: Int64 = 1_795_236_585_252

private func makeStore() -> ReadingStore {
    ReadingStore(rules: StoreRules(), feeds: [], at: arrival)
}

private func cities(of store: ReadingStore) -> [CityState] {
    let snapshot = store.snapshot()
    return snapshot.states
}

private func points(of store: ReadingStore) -> [[HistoryPoint]] {
    store.snapshot(withHistories: true).histories.map(\.points)
}

private func check(_ city: CityState) {
    expect((1...128).contains(city.name.count), "name \(city.name)")
    expect(String(validating: city.name, as: UTF8.self) != nil, "UTF-8 of \(city.name)")
    expect((0...9999).contains(city.aqi), "AQI \(city.aqi)")
    expect((1...6).contains(city.category), "category \(city.category)")
}

private func check(_ points: [HistoryPoint]) {
    expect(points.count <= 25, "\(points.count) points")
    for (one, next) in zip(points, points.dropFirst()) { expect(one.time < next.time, "order of points") }
    for point in points { expect((0...9999).contains(point.aqi) && point.time >= 0, "\(point)") }
}

// MARK: Files

/// In memory where the system offers that, because each input makes some thirty system calls on files.
private let directory: String = {
    var template = Array(
        "\(unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")/fuzz-storage-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { fatalError("no directory: errno \(errno)") }
    atexit {
        removeFiles()
        unsafe rmdir(directory)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()

private func removeFiles() {
    for name in fileNames(in: directory) { unsafe unlink("\(directory)/\(name)") }
}
