import Synchronization
import System
import Testing

@testable import AirQualityExporter

struct SingleFlightTests {
    @Test func `A value is made anew for each question, when they come one by one`() {
        let flight = SingleFlight<Int>()
        #expect(flight.last == nil)
        for number in 1...3 {
            #expect(flight.value { ($0 ?? 0) + 1 } == number)
            #expect(flight.last == number)
        }
    }

    @Test func `All who ask while a value is made get the next one, which is made once`() {
        let flight = SingleFlight<Int>()
        let made = Atomic<Int>(0)
        let isMaking = Monitor(false)
        let mayEnd = Monitor(false)
        let first = thread {
            #expect(
                flight.value { _ in
                    isMaking.change { $0 = true }
                    _ = mayEnd.wait { $0 ? true : nil }
                    return made.add(1, ordering: .relaxed).newValue
                } == 1)
        }
        _ = isMaking.wait { $0 ? true : nil }
        let asked = Atomic<Int>(0)
        let others = (0..<8).map { _ in
            thread {
                asked.add(1, ordering: .relaxed)
                #expect(flight.value { _ in made.add(1, ordering: .relaxed).newValue } >= 2)
            }
        }
        while asked.load(ordering: .relaxed) < 8 {}
        mayEnd.change { $0 = true }
        first?.join()
        for other in others { other?.join() }
        // Whoever asked while the first was made shares the second; one that was slow to wait may have made its own.
        #expect((2...9).contains(made.load(ordering: .relaxed)))
        #expect(flight.last == made.load(ordering: .relaxed))
    }

    private func thread(_ body: @escaping @Sendable () -> Void) -> ServiceThread? {
        try? ServiceThread(name: "test", body: body)
    }
}
