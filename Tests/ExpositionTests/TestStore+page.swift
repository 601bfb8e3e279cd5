import AirQuality
import Exposition
import TestSupport

extension TestStore {
    /// The page as a scrape of the store alone would get it.
    func page(_ format: ExpositionFormat = .text004) -> [UInt8] {
        var page: [UInt8] = []
        Exposition().render(store.snapshot(), in: format, to: &page)
        return page + format.end.utf8
    }

    func text(_ format: ExpositionFormat = .text004) -> String { String(decoding: page(format), as: UTF8.self) }

    /// Sample lines of a family.
    func lines(_ family: String) -> [String] {
        text().split(separator: "\n").filter { $0.hasPrefix(family + "{") }.map(String.init)
    }
}
