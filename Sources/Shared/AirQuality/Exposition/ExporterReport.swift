internal import Bytes

/// What `/metrics` says beside cities and feeds. A value that is not known is nil, and its family left out.
public struct ExporterReport: Sendable, Equatable {
    public var web: Web?
    public var reload: Reload?
    /// nil without `--storage.file`.
    public var storage: Storage?
    /// nil with `--web.disable-exporter-metrics`.
    public var process: Process?
    /// nil with `--web.disable-exporter-metrics`.
    public var handler: Handler?

    public init(
        web: Web? = nil, reload: Reload? = nil, storage: Storage? = nil, process: Process? = nil,
        handler: Handler? = nil
    ) {
        self.web = web
        self.reload = reload
        self.storage = storage
        self.process = process
        self.handler = handler
    }

    public struct Build: Sendable, Equatable {
        public var version, revision, branch, swiftVersion: String

        public init(version: String, revision: String, branch: String, swiftVersion: String) {
            self.version = version
            self.revision = revision
            self.branch = branch
            self.swiftVersion = swiftVersion
        }
    }

    public struct Web: Sendable, Equatable {
        /// Of `/events`; nil where nobody may listen.
        public var listeners: Int?
        /// nil without TLS.
        public var tlsHandshakeFailures: Int?

        public init(listeners: Int?, tlsHandshakeFailures: Int?) {
            self.listeners = listeners
            self.tlsHandshakeFailures = tlsHandshakeFailures
        }
    }

    /// Of the files that flags name.
    public struct Reload: Sendable, Equatable {
        public var isSuccessful: Bool
        public var succeededAt: Timestamp

        public init(isSuccessful: Bool, succeededAt: Timestamp) {
            self.isSuccessful = isSuccessful
            self.succeededAt = succeededAt
        }
    }

    public struct Storage: Sendable, Equatable {
        public var errors: UInt64
        /// nil before the first write.
        public var lastWriteAt: Timestamp?

        public init(errors: UInt64, lastWriteAt: Timestamp?) {
            self.errors = errors
            self.lastWriteAt = lastWriteAt
        }
    }

    /// As in `process_*`: seconds and bytes.
    public struct Process: Sendable, Equatable {
        public var cpuSeconds: Double?
        public var heapBytes: Double?
        public var openFDs: Double?
        public var maxFDs: Double?
        public var networkReceiveBytes: Double?
        public var networkTransmitBytes: Double?
        public var residentMemoryBytes: Double?
        public var startTimeSeconds: Double?
        public var threads: Double?
        public var virtualMemoryBytes: Double?
        public var virtualMemoryMaxBytes: Double?

        public init() {}
    }

    public struct Handler: Sendable, Equatable {
        /// Scrapes being answered, the one that reads this included.
        public var inFlight: Int
        /// Scrapes answered, by status.
        public var requests: [(code: Int, count: UInt64)]

        public init(inFlight: Int, requests: [(code: Int, count: UInt64)]) {
            self.inFlight = inFlight
            self.requests = requests
        }

        public static func == (left: Handler, right: Handler) -> Bool {
            left.inFlight == right.inFlight && left.requests.elementsEqual(right.requests, by: ==)
        }
    }
}

/// What `/metrics` says about the store as a whole.
struct StoreFigures: Sendable, Equatable {
    var cities: Int
    var cityLimit: Int
    /// Milliseconds.
    var expireAfter: Int64
    var expired: UInt64
    var points: Int
    var capacity: Int
    var shard: Shard?

    init(_ snapshot: StoreSnapshot, rules: StoreRules) {
        cities = snapshot.cityCount
        cityLimit = rules.cityLimit
        expireAfter = rules.expireAfter
        expired = snapshot.expiredCount
        points = snapshot.pointCount
        capacity = rules.history.capacity
        shard = rules.shard
    }
}
