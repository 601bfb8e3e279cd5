import AirQuality
import Bytes
import HTTPServer
import HTTPText
import Page

/// The files that the page loads: each at an address with a hash of its content, which may be cached indefinitely.
struct PageAssets: Sendable {
    static let folder = "/assets/"
    /// The path that browsers ask for by themselves.
    static let favicon = "/favicon.ico"

    let styleSheet, script, icon, largeIcon: Asset
    private let favicon: Asset

    struct Asset: Sendable {
        /// With a slash at its beginning.
        let path: String
        let contentType: String
        let bytes: [UInt8]
        /// As `integrity` and `Content-Security-Policy` want it.
        let integrity: String

        init(name: String, type: String, contentType: String, _ bytes: [UInt8]) {
            let digest = sha256(bytes)
            let hash = digest.prefix(6).map { hexadecimal($0, digits: 2) }.joined()
            path = "\(PageAssets.folder)\(name).\(hash).\(type)"
            integrity = "sha256-\(encodeBase64(digest))"
            self.contentType = contentType
            self.bytes = bytes
        }

        var forPage: PageAsset { PageAsset(path: String(path.dropFirst()), integrity: integrity) }
    }

    init(scale: Scale) {
        styleSheet = Asset(
            name: "page", type: "css", contentType: "text/css; charset=utf-8",
            PackageResources.page_css + Array(scale.styleRules.utf8))
        script = Asset(
            name: "page", type: "js", contentType: "text/javascript; charset=utf-8", PackageResources.page_js)
        icon = Asset(name: "icon", type: "svg", contentType: "image/svg+xml", PackageResources.icon_svg)
        largeIcon = Asset(name: "icon", type: "png", contentType: "image/png", PackageResources.icon_png)
        favicon = Asset(
            name: "favicon", type: "ico", contentType: "image/vnd.microsoft.icon", PackageResources.favicon_ico)
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let asset = [styleSheet, script, icon, largeIcon].first(where: { $0.path == request.path }) else {
            return HTTPResponse(status: 404, line: "no such file")
        }
        return respond(to: request, with: asset, caching: "public, max-age=31536000, immutable")
    }

    /// Responds with the icon at the address that does not change with its content.
    func respondWithFavicon(to request: HTTPRequest) -> HTTPResponse {
        respond(to: request, with: favicon, caching: "public, max-age=86400")
    }

    private func respond(to request: HTTPRequest, with asset: Asset, caching: String) -> HTTPResponse {
        let tag = entityTag(of: asset.integrity, isGzip: request.takesGzip)
        let headers = [("Cache-Control", caching), ("Vary", "Accept-Encoding"), ("ETag", tag)]
        if request.has(tag) { return HTTPResponse(status: 304, headers: headers, body: .bytes([])) }
        // Compressed for each browser's first visit: that takes a millisecond at most, and most exporters are scraped
        // and never looked at.
        return HTTPResponse(headers: headers + [("Content-Type", asset.contentType)], to: request, asset.bytes)
    }
}
