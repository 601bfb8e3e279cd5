import AirQuality

/// The smallest part of the world with all cities in it, in degrees.
struct MapArea {
    private(set) var south, north, west, east: Double

    init(_ other: MapArea?, with coordinates: (latitude: Double, longitude: Double)) {
        south = min(other?.south ?? 90, coordinates.latitude)
        north = max(other?.north ?? -90, coordinates.latitude)
        west = min(other?.west ?? 180, coordinates.longitude)
        east = max(other?.east ?? -180, coordinates.longitude)
    }
}

/// Cities as dots over the countries of the world, as large as all cities leave room for.
///
/// A picture only, with links for a pointer: the list below it has the same cities for the keyboard and for those who
/// have it read aloud. The countries are a file of their own, which a browser keeps, and which takes its colours and
/// its place from here.
struct CityMap {
    /// More would hide each other.
    static let maximumDots = 1000

    private struct Dot {
        var city: Int
        var x, y: Double
    }

    /// All lengths are in hundredths of a degree of latitude, south down.
    private let dots: [Dot]
    private let left, top, width, height: Double
    /// How much narrower a degree of longitude is in the middle of the map.
    private let shrinkage: Double
    /// The height of letters on a large screen.
    private let em: Double
    private let snapshot: StoreSnapshot
    private let settings: PageSettings

    init(_ cities: [Int], in area: MapArea, _ page: Page) {
        (snapshot, settings) = (page.snapshot, page.settings)
        // Rounded as the page says it.
        let shrinkage = (cosine(degrees: (area.south + area.north) / 2) * 100).rounded() / 100
        self.shrinkage = shrinkage
        dots = cities.compactMap { city in
            page.snapshot.states[city].extras?.place?.coordinates.map {
                Dot(city: city, x: $0.longitude * 100 * shrinkage, y: $0.latitude * -100)
            }
        }
        // Around a single city so much that a coast or a border is in view.
        width = max(800, (area.east - area.west) * 100 * shrinkage * 1.2)
        height = max(800, (area.north - area.south) * 100 * 1.2)
        left = (area.west + area.east) * 50 * shrinkage - width / 2
        top = (area.south + area.north) * -50 - height / 2
        // Of a map of 1120 by 560 pixels.
        em = 13 * max(width / 1120, height / 560)
    }

    var markup: Markup {
        // The worst one on top.
        let circles = Markup(each: dots.reversed()) { dot in
            let category = settings.scale.category(snapshot.states[dot.city].category)
            return """
                <a class="c\(category.number)" href="city/\(Page.pathStep(snapshot.name(of: dot.city)))" tabindex="-1">\
                <title>\(caption(dot)) \(settings.scale.title), \(category.name)</title>\
                <circle cx="\(Int(dot.x))" cy="\(Int(dot.y))"/></a>

                """
        }
        return """
            <svg class="map" viewBox="\(Int(left)) \(Int(top)) \(Int(width)) \(Int(height))" aria-hidden="true">
            <use href="./\(settings.map.path)#land" transform="scale(\(decimals: shrinkage) 1)"/>
            <g font-size="\(Int(em))"><g class="dots">
            \(circles)\(labels)</g></g>
            </svg>

            """
    }

    /// A name in brackets of Unicode's, which keep its direction to itself, and the index.
    private func caption(_ dot: Dot) -> Markup {
        "\u{2068}\(snapshot.name(of: dot.city))\u{2069} \(Int(snapshot.states[dot.city].index))"
    }

    // MARK: Names

    private struct Box {
        var left, top, right, bottom: Double

        func meets(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    /// Names beside the worst cities, where there is room for them.
    private var labels: Markup {
        var labels: Markup = ""
        var found: [(dot: Dot, isLeft: Bool)] = []
        // First those for which there is room on a phone, whose letters are larger, then the others: on a large screen.
        // A wide map is too small on a phone for any.
        for isPhone in width < height * 1.4 ? [true, false] : [false] {
            let (scale, kind) = isPhone ? (1.5, "") : (1, "odd")
            let room = isPhone ? width : max(width, height * 2)
            let screen = Box(
                left: left + (width - room) / 2, top: top, right: left + (width + room) / 2, bottom: top + height)
            var taken = dots.map { dot in
                let radius = em * scale / 2
                return Box(left: dot.x - radius, top: dot.y - radius, right: dot.x + radius, bottom: dot.y + radius)
            }
            taken += found.map { box(of: $0.dot, isLeft: $0.isLeft, scale) }
            for dot in dots.prefix(100) where !found.contains(where: { $0.dot.city == dot.city }) {
                for isLeft in [false, true] {
                    let box = box(of: dot, isLeft: isLeft, scale)
                    guard box.left > screen.left, box.right < screen.right, !taken.contains(where: box.meets) else {
                        continue
                    }
                    taken.append(box)
                    found.append((dot, isLeft))
                    let anchor: Markup = isLeft ? "text-anchor=\"end\" dx=\"-.7em\"" : "dx=\".7em\""
                    labels += """
                        <text class="\(kind)" x="\(Int(dot.x))" y="\(Int(dot.y))" \(anchor) dy=".35em">\(caption(dot))</text>

                        """
                    break
                }
            }
        }
        return labels
    }

    /// - Parameter scale: how much larger the letters are than on a large screen.
    private func box(of dot: Dot, isLeft: Bool, _ scale: Double) -> Box {
        let em = em * scale
        let letters = String(decoding: snapshot.name(of: dot.city), as: UTF8.self).unicodeScalars.reduce(0) {
            $0 + ($1.value < 0x1100 ? 0.62 : 1)
        }
        let (near, far) = (em * 0.6, em * (0.7 + letters + 2.5))
        return Box(
            left: dot.x + (isLeft ? -far : near), top: dot.y - em * 0.6, right: dot.x + (isLeft ? -near : far),
            bottom: dot.y + em * 0.6)
    }
}

/// Of an angle from -90° to 90°: off by less than 0.001. The core has no library of functions.
private func cosine(degrees: Double) -> Double {
    let square = (degrees * .pi / 180) * (degrees * .pi / 180)
    return max(0.1, 1 - square / 2 * (1 - square / 12 * (1 - square / 30)))
}
