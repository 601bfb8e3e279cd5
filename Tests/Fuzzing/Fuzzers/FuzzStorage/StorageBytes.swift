import AirQuality
import Expectations
import Glibc
import Storage

/// A storage file of these bytes: it is restored, moved aside or refused. What is restored makes sense, and a city written
/// then is there at the next start.
func checkStorage(_ input: [UInt8]) {
    let path = "\(directory)/history.db"
    removeFiles()
    write(input, to: path)
    do {
        let store = makeStore()
        let restored = try StorageFile.open(path, store: store) { arrival }
        for city in store.snapshot(withHistories: true).storedCities { check(city) }
        if !store.snapshot(withHistories: true).storedCities.contains(where: { $0.name == name }) {
            store.restore(
                [
                    City(
                        id: 0, name: name, index: 7, updatedAt: arrival, receivedAt: arrival, category: 1,
                        points: [HistoryPoint(time: arrival, index: 7, category: 1)])
                ], at: arrival)
        }
        restored.file.stop()
        restored.file.run { _ in }
        let copy = makeStore()
        let again = try StorageFile.open(path, store: copy) { arrival }
        again.file.stop()
        again.file.run { _ in }
        if case .restored = again.outcome {} else { fatalError("\(restored.outcome), then \(again.outcome)") }
        let before = store.snapshot(withHistories: true).storedCities
        let after = copy.snapshot(withHistories: true).storedCities
        // A file that was not a city's before may have had a row of that name that makes no sense.
        expect(after.contains { $0.name == name }, "the city is gone: \(restored.outcome)")
        expect(after.count == before.count, "\(after.count) of \(before.count) cities")
        expect(again.skippedRows == 0, "\(again.skippedRows) rows that make no sense")
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

private func check(_ city: City) {
    expect((1...128).contains(city.name.count), "name \(city.name)")
    expect(String(validating: city.name, as: UTF8.self) != nil, "UTF-8 of \(city.name)")
    expect((0...9999).contains(city.index), "index \(city.index)")
    expect((1...6).contains(city.category), "category \(city.category)")
    expect(city.points.count <= 25, "\(city.points.count) points")
    for (one, next) in zip(city.points, city.points.dropFirst()) { expect(one.time < next.time, "order of points") }
    for point in city.points { expect((0...9999).contains(point.index) && point.time >= 0, "\(point)") }
}

// MARK: Files

/// In memory where the system offers that, because each input is some thirty system calls on files.
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
