import AirQuality
import Foundation
import Testing

@testable import Page

struct CategoryColourTests {
    /// WCAG 2.2, 1.4.3; https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    @Test(arguments: Scale.all) func `Text on the colour of each category is readable`(_ scale: Scale) throws {
        for category in scale.categories {
            let luminance = try relativeLuminance(category.color)
            let text = category.textColor == "#000" ? 0.0 : 1.0
            let contrast = (max(text, luminance) + 0.05) / (min(text, luminance) + 0.05)
            #expect(contrast >= 4.5, "\(category.name)")
        }
    }

    private func relativeLuminance(_ color: String) throws -> Double {
        let number = try #require(UInt32(color.dropFirst(), radix: 16))
        func linear(_ shift: UInt32) -> Double {
            let value = Double(number >> shift & 0xFF) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}
