internal import AirQuality
internal import Bytes

extension StoreSnapshot {
    static let scaleFamilies: [Family<StoreSnapshot>] = [
        Family(
            "airquality_category_info", .gauge, labels: ["scale", "category", "name", "from", "color", "face"],
            "Categories of the scale in use; each starts at the index in the label from."
        ) { snapshot, add in
            let scale = snapshot.rules.scale
            for category in scale.categories {
                var from: [UInt8] = []
                from.appendNumber(category.from)
                add(
                    [
                        scale.name, String(category.number), category.name, String(decoding: from, as: UTF8.self),
                        category.color, category.face,
                    ], 1)
            }
        }
    ]
}
