import AirQuality
import WebSocket

extension FeedEvent {
    /// Keeps the part of a connection's event that the store needs.
    init(_ event: WebSocketEvent) {
        self =
            switch event {
            case .connecting: .connecting
            case .connected(let fields, let expiry): .connected(FeedSource(fields), certificateExpiry: expiry)
            case .disconnected(let reason, let detail, _, _): .disconnected(reason.rawValue, detail: detail)
            case .paused: .paused
            case .resumed: .resumed
            }
    }
}
