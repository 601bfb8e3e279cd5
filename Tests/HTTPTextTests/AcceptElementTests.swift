import Testing

@testable import HTTPText

@Suite struct AcceptElementTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1000), ("0.", 0), ("0.5", 500), ("0.05", 50), ("0.123", 123), ("0.1239", nil),
            ("1.000", 1000), ("1.0000", nil), ("1.001", nil), ("2", nil), ("", nil), (".5", nil), ("0,5", nil),
            ("0.5x", nil), ("0.1.2", nil), ("-0", nil), ("+0", nil), ("00", nil),
        ] as [(String, Int?)])
    func `A quality value is between 0 and 1 with up to three decimals`(_ text: String, thousandths: Int?) {
        #expect(qualityValue(text) == thousandths)
    }
}
