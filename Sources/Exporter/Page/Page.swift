public import AirQuality
import Bytes

/// The state that the pages show, and the frame around their content.
///
/// All links are relative, so that the page works behind a proxy that serves it below a path of its own.
///
///     let page = Page(settings, store.snapshot(withHistories: true), outage: nil, at: now)
///     let document = page.list(ListQuery())
public struct Page {
    let settings: PageSettings
    let snapshot: StoreSnapshot
    let outage: Outage?
    let now: Timestamp

    /// - Parameters:
    ///   - snapshot: with histories.
    ///   - outage: `nil` while a feed is fresh, or paused on purpose.
    ///   - now: milliseconds since the Unix epoch.
    public init(_ settings: PageSettings, _ snapshot: StoreSnapshot, outage: Outage?, at now: Timestamp) {
        self.settings = settings
        self.snapshot = snapshot
        self.outage = outage
        self.now = now
    }

    var scale: Scale { settings.scale }

    /// The whole document.
    ///
    /// - Parameters:
    ///   - root: what leads from the page to the root.
    ///   - target: the identifier of the element where the content begins.
    ///   - newest: time of the newest reading that is shown.
    func render(
        _ content: Markup, title: String, root: String, skipTo target: String, isKiosk: Bool = false,
        newest: Timestamp? = nil
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
            <noscript><meta http-equiv="refresh" content="10"></noscript>
            <title>\(title)</title>
            <link rel="icon" type="image/svg+xml" href="\(root)\(settings.icon.path)">
            <link rel="apple-touch-icon" href="\(root)\(settings.largeIcon.path)">
            <link rel="stylesheet" href="\(root)\(settings.styleSheet.path)" integrity="\(settings.styleSheet.integrity)">
            <script src="\(root)\(settings.script.path)" integrity="\(settings.script.integrity)" defer></script>
            </head>
            <body\(" class=\"kiosk\"", if: isKiosk) data-events="\(root)events" data-now="\(now)">
            \(Self.faces)
            <a class="skip" href="#\(target)">Skip to the content</a>
            <header class="top">
            <p class="brand"><a href="\(root)">Air quality</a> <span class="scale">\(scale.title)</span></p>
            \(feedLine(newest: newest))\(clock, if: isKiosk)
            </header>
            \(banner(root))\(content)<footer>
            \(credits)\("<p>Newest reading: \(moment(newest ?? 0)).</p>\n", if: newest != nil)\
            <p>\(scale.title): \(scale.authority). <a href="\(root)about">About this page</a></p>
            </footer>
            </body>
            </html>

            """
        return page.bytes
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

    private static func age(of time: Timestamp, at now: Timestamp) -> String {
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
