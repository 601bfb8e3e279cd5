import AirQuality
import Bytes
import HTTPServer
import Page

/// The files that browsers load for the page, cached indefinitely because their paths have a hash of the content.
struct PageAssets: Sendable {
    /// The path of the files, with a slash at both ends.
    let folder: String
    private let files: [String: File]

    private struct File {
        let contentType: String
        let bytes: [UInt8]
        var age = "31536000, immutable"
    }

    init(scale: Scale) {
        let style = PackageResources.page_css + Array(scale.styleRules.utf8)
        let bytes = style + PackageResources.page_js + PackageResources.icon_svg + PackageResources.icon_png
        folder = "\(ExporterPath.assets.rawValue)\(String(fnv1a(bytes.span), radix: 16))/"
        files = [
            folder + "page.css": File(contentType: "text/css; charset=utf-8", bytes: style),
            folder + "page.js": File(contentType: "text/javascript; charset=utf-8", bytes: PackageResources.page_js),
            folder + "icon.svg": File(contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
            folder + "icon.png": File(contentType: "image/png", bytes: PackageResources.icon_png),
            ExporterPath.favicon.rawValue: File(
                contentType: "image/vnd.microsoft.icon", bytes: PackageResources.favicon_ico, age: "86400"),
        ]
    }

    @Sendable func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let file = files[request.path] else { return HTTPResponse(status: 404, line: "no such file") }
        // Compressed per request, in a millisecond at most: browsers ask once, and most exporters are only scraped.
        let headers = [
            ("Cache-Control", "public, max-age=\(file.age)"), ("Vary", "Accept-Encoding"),
            ("Content-Type", file.contentType),
        ]
        return HTTPResponse(headers: headers, to: request, file.bytes)
    }
}
