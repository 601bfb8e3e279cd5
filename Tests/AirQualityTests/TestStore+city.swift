import TestSupport

@testable import AirQuality

extension TestStore {
    func state(of name: String) -> CityState? { city(name).map { store.snapshot().states[$0] } }

    func changes(of name: String) -> CategoryChanges? { state(of: name)?.changes }

    /// The kept points of a city, oldest first.
    func points(of name: String) -> [HistoryPoint] { history(of: name)?.points ?? [] }

    func history(of name: String) -> History? {
        city(name).map { store.snapshot(withHistories: true).histories[$0] }
    }

    private func city(_ name: String) -> Int? { store.snapshot().find(Array(name.utf8)) }
}
