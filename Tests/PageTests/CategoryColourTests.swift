import AirQuality
import Testing

@testable import Page

@Suite("The colours") struct CategoryColourTests {
    /// WCAG 2.2, 1.4.3; https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    @Test("of each category have text on them that can be read", arguments: Scale.all) func contrast(_ scale: Scale) {
        for category in scale.categories {
            let text = category.textColor == "#000" ? 0.0 : 1.0
            let (light, dark) = (max(text, category.luminance), min(text, category.luminance))
            #expect((light + 0.05) / (dark + 0.05) >= 4.5, "\(category.name)")
        }
    }
}
