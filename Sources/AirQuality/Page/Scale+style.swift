extension Scale {
    /// Rules of CSS that give the class of each category, `c1` …, its colour and one that can be read on it.
    public var styleRules: String {
        categories.map { category in
            ".c\(category.number){--category:\(category.color);--on-category:\(category.textColor)}\n"
        }.joined()
    }
}

extension Category {
    /// What can be read on the category's colour: by the colour's brightness (W3C's formula for colour visibility).
    var textColor: String {
        guard let number = UInt32(color.dropFirst(), radix: 16) else { return "#000" }
        let brightness = (299 * (number >> 16 & 0xFF) + 587 * (number >> 8 & 0xFF) + 114 * (number & 0xFF)) / 1000
        return brightness > 130 ? "#000" : "#fff"
    }
}
