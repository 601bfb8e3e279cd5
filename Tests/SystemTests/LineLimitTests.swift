import System
import Testing

struct LineLimitTests {
    @Test func `A limited line is written once in each period, with the number of suppressed ones`() {
        var limit = LineLimit(.seconds(60))
        let lines = [5, 5.1, 30, 64.9, 65, 65.1, 200].map { limit.suppressed(before: .seconds($0)) }
        #expect(lines == [0, nil, nil, nil, 3, nil, 1])
    }
}
