public import AirQuality
import Bytes

/// The state that the pages show, and the frame around their content.
///
/// All links are relative, so that the pages work behind a proxy that serves them below another path.
///
///     let page = Page(settings, store.snapshot(withHistories: true), at: now)
///     let document = try page.list("sort=name")
public struct Page {
    let settings: PageSettings
    let snapshot: StoreSnapshot
    let now: Timestamp
    let causes: [String]

    /// - Parameters:
    ///   - snapshot: with histories.
    ///   - now: milliseconds since the Unix epoch.
    ///   - causes: why no new readings come, without addresses of feeds; shown if that is so.
    public init(_ settings: PageSettings, _ snapshot: StoreSnapshot, at now: Timestamp, causes: [String] = []) {
        self.settings = settings
        self.snapshot = snapshot
        self.now = now
        self.causes = causes
    }

    var scale: Scale { snapshot.rules.scale }

    /// Renders a document around `content`, a `main` element with the id `content`. `root` is the relative path to `/`.
    /// `refresh` says after how many seconds browsers without script load the page again, and which.
    func render(
        _ content: Markup, title: String, root: String, isKiosk: Bool = false, refresh: Markup = "10"
    ) -> [UInt8] {
        let time = ClockPattern.time.text(of: now)
        let clock: Markup = "\n<p class=\"wall-clock\"><span class=\"now\">\(time)</span></p>"
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="description" content="Air quality of cities, live: index, category, trend and health advice.">
            <noscript><meta http-equiv="refresh" content="\(refresh)"></noscript>
            <title>\(title)</title>
            <link rel="icon" type="image/svg+xml" href="\(root)\(settings.assets)icon.svg">
            <link rel="apple-touch-icon" href="\(root)\(settings.assets)icon.png">
            <link rel="stylesheet" href="\(root)\(settings.assets)page.css">
            <script src="\(root)\(settings.assets)page.js" defer></script>
            </head>
            <body\(" class=\"kiosk\"", if: isKiosk) data-events="\(root)events" data-now="\(now)">
            \(Self.faces)
            <a class="skip" href="#content">Skip to content</a>
            <header class="top">
            <p class="brand"><a href="\(root)">Air quality</a> <span class="scale">\(scale.title)</span></p>
            \(feedLine)\(clock, if: isKiosk)
            </header>
            \(banner(root))\(content)<footer>
            \(credits)<p>\(scale.title): \(scale.authority). <a href="\(root)about">About this page</a></p>
            </footer>
            </body>
            </html>

            """
        return page.bytes
    }

    /// The title of a tab: a city's AQI first, because tabs are narrow.
    func title(_ state: CityState?) -> String {
        (state.map { "\(Int($0.aqi)) \(String(decoding: $0.name, as: UTF8.self)) · " } ?? "") + "Air quality"
    }

    /// An age in words, which the script keeps up to date.
    func ago(_ time: Timestamp, isOverdue: Bool = false) -> Markup {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        let age = age(of: time, isOverdue ? "old" : "ago")
        return "<time class=\"ago\(" old", if: isOverdue)\" datetime=\"\(text[...])\">\(age)</time>"
    }

    /// When the city's newest reading came; if that is longer ago than usual, how old it is.
    func updated(_ state: CityState, isOverdue: Bool) -> Markup {
        "<span class=\"updated\">\("updated ", if: !isOverdue)\(ago(state.updatedAt, isOverdue: isOverdue))</span>"
    }

    /// The country, if the feed sends it.
    func country(_ state: CityState) -> Markup {
        guard let country = state.extras?.place?.country, !country.isEmpty else { return "" }
        return "<small class=\"country\"><bdi>\(country[...])</bdi></small>"
    }

    private func age(of time: Timestamp, _ word: String) -> String {
        let seconds = max(0, now - time) / 1000
        switch seconds {
        case ..<5: return "just now"
        case ..<60: return "\(seconds) s \(word)"
        case ..<3600: return "\(seconds / 60) min \(word)"
        case ..<172_800: return "\(seconds / 3600) h \(word)"
        default: return "\(seconds / 86_400) days \(word)"
        }
    }
}
