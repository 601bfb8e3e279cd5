import System
import Testing

@Suite("A line that others can cause") struct LineLimitTests {
    @Test("is written once in each period, with the number of those that were not") func once() {
        var limit = LineLimit(.seconds(60))
        let lines = [5, 5.1, 30, 64.9, 65, 65.1, 200].map { limit.suppressed(before: .seconds($0)) }
        #expect(lines == [0, nil, nil, nil, 3, nil, 1])
    }
}
