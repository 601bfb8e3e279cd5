public import AirQuality
import Bytes

/// Settings that all pages of an exporter have in common.
public struct PageSettings: Sendable {
    public var version: String
    public var scale: Scale
    /// Of the metrics.
    public var telemetryPath: String
    public var styleSheet: PageAsset
    public var script: PageAsset
    public var icon: PageAsset
    /// An SVG with an element `land`: the countries of the world, in hundredths of a degree, south down.
    public var map: PageAsset
    /// Without a slash at its end.
    public var grafanaURL: String?
    /// Whether the exporter serves `/events`.
    public var hasEvents: Bool
    /// Whether to show a button that reconnects the feeds.
    public var isLifecycleEnabled: Bool

    public init(
        version: String, scale: Scale, telemetryPath: String, styleSheet: PageAsset, script: PageAsset,
        icon: PageAsset, map: PageAsset, grafanaURL: String?, hasEvents: Bool, isLifecycleEnabled: Bool
    ) {
        self.version = version
        self.scale = scale
        self.telemetryPath = telemetryPath
        self.styleSheet = styleSheet
        self.script = script
        self.icon = icon
        self.map = map
        self.grafanaURL = grafanaURL
        self.hasEvents = hasEvents
        self.isLifecycleEnabled = isLifecycleEnabled
    }
}

/// A file that a page loads.
public struct PageAsset: Sendable {
    /// Below the root, without a slash at its beginning.
    public var path: String
    /// For the attribute `integrity`, such as `sha256-…`.
    public var integrity: String

    public init(path: String, integrity: String) {
        self.path = path
        self.integrity = integrity
    }
}

/// What a page shows, and the frame around its content.
///
/// All links are relative, so that the page works behind a proxy that serves it below a path of its own.
public struct Page {
    let settings: PageSettings
    let snapshot: StoreSnapshot
    let outage: Outage?
    let now: Timestamp

    /// - Parameter outage: nil while a feed is fresh, or paused on purpose.
    public init(_ settings: PageSettings, _ snapshot: StoreSnapshot, outage: Outage?, at now: Timestamp) {
        self.settings = settings
        self.snapshot = snapshot
        self.outage = outage
        self.now = now
    }

    var scale: Scale { settings.scale }

    /// - Parameters:
    ///   - root: what leads from the page to the root.
    ///   - target: where the content begins.
    ///   - newestReading: of what is shown.
    func render(
        _ content: Markup, title: String, root: String, skipTo target: String, isKiosk: Bool = false,
        newestReading: Timestamp? = nil
    ) -> [UInt8] {
        let clock: Markup =
            "\n<p class=\"wall-clock\"><span class=\"now\">\(ClockPattern.time.text(of: now))</span></p>"
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <noscript><meta http-equiv="refresh" content="10"></noscript>
            <title>\(title)</title>
            <link rel="icon" type="image/svg+xml" href="\(root)\(settings.icon.path)">
            <link rel="stylesheet" href="\(root)\(settings.styleSheet.path)" integrity="\(settings.styleSheet.integrity)">
            <script src="\(root)\(settings.script.path)" integrity="\(settings.script.integrity)" defer></script>
            </head>
            <body\(" class=\"kiosk\"", if: isKiosk)\(" data-events=\"\(root)events\"", if: settings.hasEvents) data-now="\(now)">
            \(Self.faces)
            <a class="skip" href="#\(target)">Skip to the content</a>
            <header class="top">
            <p class="brand"><a href="\(root)">Air quality</a> <span class="scale">\(scale.title)</span></p>
            \(feedLine)\(clock, if: isKiosk)
            </header>
            \(banner(root))\(content)<footer>
            \(sources)\("<p>Newest reading: \(moment(newestReading ?? 0)).</p>\n", if: newestReading != nil)\
            <p>\(scale.title): \(scale.authority). <a href="\(root)about">About this page</a></p>
            </footer>
            </body>
            </html>

            """
        return page.bytes
    }

    // MARK: Feeds

    private var feeds: [FeedStatistics] { snapshot.feeds }

    /// The state of all feeds in one line, without their addresses: everyone may read the page.
    private var feedLine: Markup {
        let isPaused = feeds.allSatisfy(\.isPaused)
        let state = isPaused ? "paused" : outage == nil ? "live" : "stale"
        let connected = feeds.count(where: \.isConnected)
        let word: Markup =
            isPaused
            ? "Paused while nobody reads" : outage == nil ? "Live" : interruption == nil ? "Waiting" : "Interrupted"
        let message: Markup =
            feeds.compactMap(\.lastMessageAt).max().map { ", last message \(ago($0))" } ?? ", no message yet"
        return """
            <p class="feed \(state)"><span class="dot" aria-hidden="true"></span> <span>\(word)\
            \(" (\(connected) of \(feeds.count) feeds)", if: feeds.count > 1)\(message)</span></p>
            """
    }

    /// When readings ceased to come; nil while the first one is awaited.
    private var interruption: Timestamp? { snapshot.cityCount > 0 ? outage?.since : nil }

    private func banner(_ root: String) -> Markup {
        guard let outage else { return "<div class=\"banner\" role=\"alert\" hidden></div>\n" }
        let text: Markup =
            if let interruption {
                """
                <strong>Live data interrupted since \(moment(interruption)).</strong> \
                The last known readings are shown.
                """
            } else {
                "<strong>Waiting for the first reading.</strong>"
            }
        let retry: Markup = """
            <form class="retry" method="post" action="\(root)-/reconnect"><button>Retry</button></form>

            """
        // Why is on the page about it.
        return """
            <div class="banner" role="alert">
            <p>\(text)\(" Data is arriving but cannot be used.", if: outage.hint != nil)</p>
            \(retry, if: settings.isLifecycleEnabled)</div>

            """
    }

    /// Where the readings are from, in a line for each source.
    private var sources: Markup {
        Markup(each: Set(feeds.compactMap(\.source)).sorted { $0.name < $1.name }) { source in
            """
            <p>Source: <bdi>\(source.name)</bdi>\(", a computer model", if: source.kind == "model")\
            \(", measured by stations", if: source.kind == "stations")\
            \(", licence \(source.license)", if: !source.license.isEmpty).</p>

            """
        }
    }

    // MARK: Times

    /// A time of day, or a date and a time where it is long ago; the script shows it in the reader's time.
    func moment(_ time: Timestamp) -> Markup {
        // To the minute, even if it was a moment ago.
        let pattern = ClockPattern(span: max(now - time, 600_000))
        return "\(clock: time, pattern)<span class=\"utc\"> UTC</span>"
    }

    /// An age in words, which the script keeps up to date.
    func ago(_ time: Timestamp) -> Markup {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        return "<time class=\"ago\" datetime=\"\(text[...])\">\(Self.age(of: time, at: now))</time>"
    }

    static func age(of time: Timestamp, at now: Timestamp) -> String {
        let seconds = max(0, now - time) / 1000
        switch seconds {
        case ..<5: return "just now"
        case ..<60: return "\(seconds) s ago"
        case ..<3600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3600) h ago"
        case ..<172_800: return "1 day ago"
        default: return "\(seconds / 86_400) days ago"
        }
    }
}

// MARK: - A city, on both pages

extension Page {
    /// The drawings that `disc` refers to, once on each page.
    static let faces: Markup = """
        <svg class="hidden" aria-hidden="true" width="0" height="0">\
        <symbol id="face-1" viewBox="-3.4 -3.4 30.8 30.8"><path d="M8.2 8.6h.01M15.8 8.6h.01M6 13a6 6 0 0 0 12 0z"/></symbol>\
        <symbol id="face-2" viewBox="-3.4 -3.4 30.8 30.8"><path d="M8.2 9h.01M15.8 9h.01M7 14.5q5 4.6 10 0"/></symbol>\
        <symbol id="face-3" viewBox="-3.4 -3.4 30.8 30.8"><path d="M8.2 9h.01M15.8 9h.01M7.5 15.8h9"/></symbol>\
        <symbol id="face-4" viewBox="-3.4 -3.4 30.8 30.8"><path d="M8.2 9h.01M15.8 9h.01M7 17.2q5-4.6 10 0"/></symbol>\
        <symbol id="face-5" viewBox="-3.4 -3.4 30.8 30.8"><path d="M6.5 7.5l3.5 2M17.5 7.5l-3.5 2M6.5 16.5l2.2-1.8 2.2 1.8 2.2-1.8 2.2 1.8 2.2-1.8"/></symbol>\
        <symbol id="face-6" viewBox="-3.4 -3.4 30.8 30.8"><path d="M6.5 7l3.4 3.4M9.9 7l-3.4 3.4M14.1 7l3.4 3.4M17.5 7l-3.4 3.4M9 16.5a3 2.4 0 1 0 6 0a3 2.4 0 1 0-6 0"/></symbol>\
        </svg>
        """

    /// A face on the colour of its category; the category's name stands beside it.
    func disc(_ category: Category) -> Markup {
        "<svg class=\"disc\" aria-hidden=\"true\"><use href=\"#face-\(category.number)\"/></svg>"
    }

    /// Attribute of the link that leads to what is shown.
    static let current: Markup = " aria-current=\"true\""

    /// What a form sends besides what is entered; nothing without a value.
    func hidden(_ name: String, _ value: String?) -> Markup {
        guard let value else { return "" }
        return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// The integer part of the index, by which its category is decided.
    func index(_ index: Double) -> Markup { "<data class=\"index\" value=\"\(decimals: index)\">\(Int(index))</data>" }

    func change(_ changes: CategoryChanges) -> Markup {
        guard let changedAt = changes.changedAt else { return "<span class=\"change\"></span>" }
        let (kind, word) = changes.direction > 0 ? ("better", "Improved") : ("worse", "Worsened")
        return "<span class=\"change \(kind)\">\(word) \(ago(changedAt))</span>"
    }

    /// The pollutant with the greatest index, where the air is worse than the best category.
    func cause(_ city: Int) -> Markup {
        guard snapshot.states[city].category > 1, let pollutant = snapshot.states[city].extras?.subIndices?.greatest
        else { return "" }
        return "<span class=\"cause\">because of \(Pollutant.allCases[pollutant].title)</span>"
    }

    /// The step of the path that leads to a city.
    static func pathStep(_ name: ArraySlice<UInt8>) -> Markup {
        // "." and ".." mean folders even when percent-encoded, so a blank is appended. No name ends with a blank.
        let isFolder = name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        return isFolder ? "\(percent: name)%20" : "\(percent: name)"
    }
}

// MARK: - Colours

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
            // The curve of sRGB by a polynomial that is off by less than 0.002: the core has no pow.
            return value * (value * (value * 0.305306011 + 0.682171111) + 0.012522878)
        }
        return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}

/// The reason why the page has no fresh data.
public struct Outage: Sendable, Equatable {
    /// When the last reading came; nil before the first one.
    public var since: Timestamp?
    /// What may be wrong with the configuration, in one line for `/about` that names no address; nil when nothing is
    /// known.
    public var hint: String?

    public init(since: Timestamp?, hint: String? = nil) {
        self.since = since
        self.hint = hint
    }
}
