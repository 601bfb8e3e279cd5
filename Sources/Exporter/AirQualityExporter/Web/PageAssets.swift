import AirQuality
import Bytes
import HTTPServer
import Page

/// The files that the page loads: each at an address with a hash of its content, which may be cached indefinitely.
struct PageAssets: Sendable {
    let styleSheet, script, icon, largeIcon: Asset

    struct Asset: Sendable {
        /// With a slash at its beginning.
        let path: String
        let contentType: String
        let bytes: [UInt8]

        init(name: String, type: String, contentType: String, _ bytes: [UInt8]) {
            let hash = String(fnv1a(bytes.span), radix: 16)
            path = "\(ExporterPath.assets.rawValue)\(name).\(hash).\(type)"
            self.contentType = contentType
            self.bytes = bytes
        }
    }

    init(scale: Scale) {
        styleSheet = Asset(
            name: "page", type: "css", contentType: "text/css; charset=utf-8",
            PackageResources.page_css + Array(scale.styleRules.utf8))
        script = Asset(
            name: "page", type: "js", contentType: "text/javascript; charset=utf-8", PackageResources.page_js)
        icon = Asset(name: "icon", type: "svg", contentType: "image/svg+xml", PackageResources.icon_svg)
        largeIcon = Asset(name: "icon", type: "png", contentType: "image/png", PackageResources.icon_png)
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let asset = [styleSheet, script, icon, largeIcon].first(where: { $0.path == request.path }) else {
            return HTTPResponse(status: 404, line: "no such file")
        }
        // Compressed for each browser's first visit: that takes a millisecond at most, and most exporters are scraped
        // and never looked at.
        let headers = [
            ("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"),
            ("Content-Type", asset.contentType),
        ]
        return HTTPResponse(headers: headers, to: request, asset.bytes)
    }

    /// Responds with the icon at the address that does not change with its content.
    func respondWithFavicon() -> HTTPResponse {
        let headers = [("Cache-Control", "public, max-age=86400"), ("Content-Type", "image/vnd.microsoft.icon")]
        return HTTPResponse(status: 200, headers: headers, body: .bytes(PackageResources.favicon_ico))
    }
}
