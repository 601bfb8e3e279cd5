import TestSupport

@testable import AirQuality

extension TestStore {
    func state(of name: String) -> CityState? { city(name).map { store.snapshot().states[$0] } }

    func changes(of name: String) -> CategoryChanges? { state(of: name)?.changes }

    /// The kept points of a city, oldest first.
    func points(of name: String) -> [HistoryPoint] {
        city(name).map { store.snapshot(withHistories: true).histories[$0].points } ?? []
    }

    /// The history as JSON.
    func history(_ query: HistoryQuery = HistoryQuery()) -> [UInt8] {
        HistoryDocument(store.snapshot(withHistories: true), query: query).render()
    }

    private func city(_ name: String) -> Int? { store.snapshot().find(Array(name.utf8)) }
}
