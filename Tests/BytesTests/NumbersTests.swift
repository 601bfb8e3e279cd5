import TestSupport
import Testing

@testable import Bytes

struct NumbersTests {
    private func text(_ append: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        append(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            (0, "0"), (1, "1"), (152, "152"), (183.2, "183.2"), (0.1, "0.1"), (0.0001, "0.0001"), (9999, "9999"),
            (190.77381882356204, "190.77381882356204"), (0.30000000000000004, "0.30000000000000004"), (1e-7, "1e-07"),
            (1_000_000, "1000000"), (12.3456, "12.3456"), (12.34567, "12.34567"), (9999.9999, "9999.9999"),
            (1000.0001, "1000.0001"), (10.01, "10.01"), (0.02, "0.02"), (10_000.5, "10000.5"),
            (99_999_999.25, "99999999.25"), (899_999_999_999.5, "899999999999.5"), (1e12, "1000000000000"),
            (9_007_199_254_740_992, "9007199254740992"), (18_446_744_073_709_551_616, "1.8446744073709552e+19"),
            (1e300, "1e+300"),
            (-1, "-1"), (-0.25, "-0.25"), (-1e-7, "-1e-07"), (-1.7976931348623157e308, "-1.7976931348623157e+308"),
            (2.2250738585072014e-308, "2.2250738585072014e-308"),
        ] as [(Double, String)])
    func `A number is written with the fewest digits that parse back to it`(_ number: Double, _ expected: String) {
        #expect(text { $0.appendNumber(number) } == expected)
    }

    @Test func `Any number parses back and is written no longer than its description`() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<50_000 {
            let digits = Double([1, 10, 100, 1000, 10_000, 1_000_000].randomElement(using: &random) ?? 1)
            let number = (Double.random(in: 0...9999, using: &random) * digits).rounded() / digits
            let text = text { $0.appendNumber(number) }
            #expect(Double(text) == number)
            #expect(text.count <= number.description.count)
        }
    }

    @Test func `An integer of any length is written like its description`() {
        var powers: [UInt64] = [0, .max]
        for _ in 0..<19 { powers.append((powers.count == 2 ? 1 : powers[powers.count - 1]) * 10) }
        for number in powers.flatMap({ [$0 &- 1, $0, $0 &+ 1] }) {
            #expect(text { $0.appendInteger(number) } == number.description)
        }
    }

    @Test(arguments: [(152, "152.0"), (1.5, "1.5"), (0, "0.0"), (1e-7, "1e-07")] as [(Double, String)])
    func `A decimal number is written with a point or an exponent`(_ number: Double, _ expected: String) {
        #expect(text { $0.appendDecimal(number) } == expected)
    }

    @Test(
        arguments: [
            (0, "0.000"), (12_345, "12.345"),
            (999_999_999_999, "999999999.999"),
            (1_000_000_000_000, "1000000000.000"),
            (9_999_999_999_999, "9999999999.999"),
            (10_000_000_000_000, "10000000000.000"),
            (951_782_400_000, "951782400.000"),
            (1_795_236_585_252, "1795236585.252"),
            (4_107_542_399_999, "4107542399.999"),
            (4_107_542_400_000, "4107542400.000"),
        ] as [(UInt64, String)])
    func `Milliseconds are written as seconds with three decimals`(_ milliseconds: UInt64, _ seconds: String) {
        #expect(text { $0.appendInteger(milliseconds, decimals: 3) } == seconds)
    }
}
