import Bytes

/// What all pages of an exporter have in common.
public struct PageSettings: Sendable {
    public var version: String
    public var scale: Scale
    /// Of the metrics.
    public var telemetryPath: String
    public var styleSheet: PageAsset
    public var script: PageAsset
    public var icon: PageAsset
    /// Without a slash at its end.
    public var grafanaURL: String?
    /// Whether the exporter serves `/events`.
    public var hasEvents: Bool
    /// Whether to show a button that reconnects the feeds.
    public var isLifecycleEnabled: Bool

    public init(
        version: String, scale: Scale, telemetryPath: String, styleSheet: PageAsset, script: PageAsset,
        icon: PageAsset, grafanaURL: String?, hasEvents: Bool, isLifecycleEnabled: Bool
    ) {
        self.version = version
        self.scale = scale
        self.telemetryPath = telemetryPath
        self.styleSheet = styleSheet
        self.script = script
        self.icon = icon
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

/// What stands around the content of a page.
///
/// All links are relative, so that the page works behind a proxy that serves it below a path of its own.
struct PageFrame {
    var settings: PageSettings
    /// What leads from the page to the root.
    var root: String
    var title: String
    var isKiosk: Bool
    var now: Timestamp
    /// Why there is no fresh data, in one line; nil when there is.
    var problem: String?
    var snapshot: PageSnapshot

    func render(_ content: Markup, skipTo target: String) -> [UInt8] {
        var page: Markup = """
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
            <body\(attributes) data-now="\(now)">
            <a class="skip" href="#\(target)">Skip to the content</a>
            <header class="top">
            <p class="brand"><a href="\(root)">Air quality</a></p>
            \(feedLine)
            </header>

            """
        page += banner
        page += content
        page += footer
        page += "</body>\n</html>\n"
        return page.bytes
    }

    private var attributes: Markup {
        let kind: Markup = isKiosk ? " class=\"kiosk\"" : ""
        let events: Markup = settings.hasEvents ? " data-events=\"\(root)events\"" : ""
        return "\(kind)\(events)"
    }

    // MARK: Feeds

    private var feeds: [FeedStatistics] { snapshot.feeds }

    /// The state of all feeds in one line.
    private var feedLine: Markup {
        let connected = feeds.count { $0.isConnected }
        let paused = feeds.count { $0.isPaused }
        let name = feeds.count == 1 ? feeds[0].label : "\(connected) of \(feeds.count) feeds"
        let isPaused = paused == feeds.count
        let state = isPaused ? "paused" : problem == nil ? "live" : "stale"
        let word = isPaused ? "paused while nobody reads" : connected > 0 ? "connected" : "not connected"
        let last = feeds.compactMap(\.lastMessageAt).max()
        let message: Markup = last.map { ", last message \(ago($0))" } ?? ", no message yet"
        return """
            <p class="feed \(state)"><span class="dot" aria-hidden="true"></span> \
            <span><bdi>\(name)</bdi> \(word)\(message)</span></p>
            """
    }

    private var banner: Markup {
        guard let problem else { return "<div class=\"banner\" role=\"alert\" hidden></div>\n" }
        let claim: Markup =
            snapshot.store.cityCount > 0
            ? "<strong>The data is stale.</strong> The last known readings are shown"
            : "<strong>There is no data yet</strong>"
        var banner: Markup = """
            <div class="banner" role="alert">
            <p>\(claim): \(problem).</p>

            """
        if settings.isLifecycleEnabled {
            banner += """
                <form class="retry" method="post" action="\(root)-/reconnect"><button>Retry</button></form>

                """
        }
        banner += "</div>\n"
        return banner
    }

    private var footer: Markup {
        var footer: Markup = """
            <footer>
            <details id="feeds">
            <summary>Feeds</summary>
            <div class="scroll" tabindex="0" role="group" aria-label="Feeds">
            <table>
            <thead><tr><th scope="col">Feed</th><th scope="col">State</th><th scope="col">Last message</th>\
            <th scope="col" class="number">Messages</th><th scope="col" class="number">Readings</th>\
            <th scope="col" class="number">Refusals</th></tr></thead>
            <tbody>

            """
        for feed in feeds {
            let state = feed.isPaused ? "⏸ paused" : feed.isConnected ? "● connected" : "○ not connected"
            let problem = feed.isConnected || feed.isPaused ? nil : feed.lastProblem
            let refusals = RefusalReason.allCases.reduce(0) { $0 + feed.refusals[$1] }
            let detail: Markup = problem.map { "<br><small>\($0)</small>" } ?? ""
            let last: Markup = feed.lastMessageAt.map(ago) ?? "none yet"
            footer += """
                <tr><th scope="row"><bdi>\(feed.label)</bdi></th><td>\(state)\(detail)</td><td>\(last)</td>\
                <td class="number">\(feed.messages)</td><td class="number">\(feed.readings)</td>\
                <td class="number">\(refusals)</td></tr>

                """
        }
        footer += """
            </tbody>
            </table>
            </div>
            </details>
            <nav aria-label="Paths"><ul>
            <li><a href="\(link(settings.telemetryPath))">\(settings.telemetryPath)</a> metrics for Prometheus</li>
            <li><a href="\(root)history.json">/history.json</a> the points as JSON</li>
            <li><a href="\(root)-/healthy">/-/healthy</a> whether the exporter works</li>
            <li><a href="\(root)-/ready">/-/ready</a> whether the data is fresh</li>

            """
        if settings.hasEvents {
            footer += "<li><a href=\"\(root)events\">/events</a> changes as they come</li>\n"
        }
        footer += """
            </ul></nav>
            <p>Air Quality Exporter, version \(settings.version). Scale: \(settings.scale.name).</p>
            </footer>

            """
        return footer
    }

    /// A path that begins with a slash, from this page.
    private func link(_ path: String) -> Markup { "\(root)\(String(path.dropFirst()))" }

    // MARK: Times

    /// A time as people say it; the script counts on.
    func ago(_ time: Timestamp) -> Markup {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        return "<time class=\"ago\" datetime=\"\(text[...])\" data-ms=\"\(time)\">\(Self.age(of: time, at: now))</time>"
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

extension PageFrame {
    /// A face on the colour of its category; the category's name stands beside it.
    func disc(_ category: Category) -> Markup {
        "<span class=\"disc\" aria-hidden=\"true\">\(category.face)</span>"
    }

    /// The index, with its decimals small.
    func index(_ index: Double) -> Markup {
        let text = Markup("\(decimals: index)").bytes
        return """
            <data class="index" value="\(decimals: index)">\(text.dropLast(3))<small>\(text.suffix(3))</small></data>
            """
    }

    func change(_ changes: CategoryChanges) -> Markup {
        guard let changedAt = changes.changedAt else { return "<span class=\"change\"></span>" }
        let isBetter = changes.direction > 0
        return """
            <span class="change \(isBetter ? "better" : "worse")"><span aria-hidden="true">\(isBetter ? "▲" : "▼")</span> \
            \(isBetter ? "better" : "worse") \(ago(changedAt))</span>
            """
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
