internal import AirQuality
internal import Bytes

extension Scale {
    static let families: [Family<Scale>] = [
        Family(
            "airquality_category_info", .gauge, labels: ["scale", "category", "name", "from", "color", "face"],
            "Categories of the scale in use; each starts at the index in the label from."
        ) { scale, add in
            for category in scale.categories {
                var from: [UInt8] = []
                from.appendNumber(category.from)
                add(
                    [
                        LabelValue(scale.name), LabelValue(String(category.number)), LabelValue(category.name),
                        LabelValue(from), LabelValue(category.color), LabelValue(category.face),
                    ], .number(1))
            }
        }
    ]
}
