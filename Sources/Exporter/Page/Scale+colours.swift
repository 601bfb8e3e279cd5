public import AirQuality

extension Scale {
    func category(_ number: UInt8) -> Category { categories[Int(number) - 1] }

    /// CSS rules that set the colour of each category's class (`c1` …) and a legible text colour on it.
    public var styleRules: String {
        categories.map { category in
            ".c\(category.number){--category:\(category.color);--on-category:\(category.textColor)}\n"
        }.joined()
    }
}

extension Category {
    /// Black on bright colours, white on dark ones. Brightness is weighted as in ITU-R BT.601.
    var textColor: String {
        let number = UInt32(color.dropFirst(), radix: 16) ?? 0xFF_FFFF
        let brightness = 299 * (number >> 16) + 587 * (number >> 8 & 0xFF) + 114 * (number & 0xFF)
        return brightness > 128_000 ? "#000" : "#fff"
    }
}
