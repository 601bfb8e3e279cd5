public import AirQuality

extension Scale {
    func category(_ number: UInt8) -> Category { categories[Int(number) - 1] }

    /// Rules of CSS that give the class of each category, `c1` …, its colour and one that can be read on it.
    public var styleRules: String {
        categories.map { category in
            ".c\(category.number){--category:\(category.color);--on-category:\(category.textColor)}\n"
        }.joined()
    }
}

extension Category {
    /// Black or white, whichever has the higher contrast on the category's colour (WCAG 2.2, relative luminance).
    var textColor: String {
        // Where black and white have the same contrast.
        luminance > 0.179 ? "#000" : "#fff"
    }

    /// 0 … 1.
    var luminance: Double {
        let number = UInt32(color.dropFirst(), radix: 16) ?? 0xFF_FFFF
        func linear(_ shift: UInt32) -> Double {
            let value = Double(number >> shift & 0xFF) / 255
            // The curve of sRGB by a polynomial that is off by less than 0.002: there is no pow without a C library.
            return value * (value * (value * 0.305306011 + 0.682171111) + 0.012522878)
        }
        return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}
