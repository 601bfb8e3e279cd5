/// What `/metrics` says beside cities and feeds. A value that is not known is nil, and its family left out.
public struct ExporterReport: Sendable, Equatable {
    public var build: Build
    /// nil without `--storage.file`.
    public var storage: Storage?
    /// nil with `--web.disable-exporter-metrics`.
    public var process: Process?
    /// nil with `--web.disable-exporter-metrics`.
    public var handler: Handler?

    public init(build: Build, storage: Storage? = nil, process: Process? = nil, handler: Handler? = nil) {
        self.build = build
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

extension ExporterReport.Build {
    var families: [FamilySamples] {
        [FamilySamples(.buildInfo, [([version, revision, branch, swiftVersion], 1)])]
    }
}

extension ExporterReport.Storage {
    var families: [FamilySamples] {
        [
            FamilySamples(.storageErrors, Double(errors)),
            FamilySamples(.storageLastWriteAt, lastWriteAt.map { Double($0) / 1000 }),
        ]
    }
}

extension ExporterReport.Process {
    var families: [FamilySamples] {
        [
            FamilySamples(.processCPU, cpuSeconds),
            FamilySamples(.processHeap, heapBytes),
            FamilySamples(.processMaxFDs, maxFDs),
            FamilySamples(.processNetworkReceive, networkReceiveBytes),
            FamilySamples(.processNetworkTransmit, networkTransmitBytes),
            FamilySamples(.processOpenFDs, openFDs),
            FamilySamples(.processResidentMemory, residentMemoryBytes),
            FamilySamples(.processStartTime, startTimeSeconds),
            FamilySamples(.processThreads, threads),
            FamilySamples(.processVirtualMemory, virtualMemoryBytes),
            FamilySamples(.processVirtualMemoryMax, virtualMemoryMaxBytes),
        ]
    }
}

extension ExporterReport.Handler {
    var families: [FamilySamples] {
        [
            FamilySamples(.handlerInFlight, Double(inFlight)),
            FamilySamples(.handlerRequests, requests.map { (["\($0.code)"], Double($0.count)) }),
        ]
    }
}

extension Scale {
    var families: [FamilySamples] {
        [
            FamilySamples(
                .categoryInfo,
                categories.map { category in
                    var from: [UInt8] = []
                    from.appendNumber(category.from)
                    return (
                        [
                            name, "\(category.number)", category.name, String(decoding: from, as: UTF8.self),
                            category.color, category.face,
                        ], 1
                    )
                })
        ]
    }
}

extension StoreSnapshot {
    var feedFamilies: [FamilySamples] {
        var families: [FamilySamples] = []
        forEachFeedSample { family, labels, value in
            if families.last?.family != family { families.append(FamilySamples(family, [])) }
            families[families.count - 1].samples.append(.init(labels: labels(), value: value))
        }
        return families
    }

    /// Every sample of the feeds, in the order of the page; its labels for who asks for them.
    func forEachFeedSample(_ body: (_ family: MetricFamily, _ labels: () -> [String], _ value: Double) -> Void) {
        func each(_ family: MetricFamily, _ value: (FeedStatistics) -> Double?) {
            for feed in feeds {
                if let value = value(feed) { body(family, { [feed.label] }, value) }
            }
        }
        each(.feedConnected) { $0.isConnected ? 1 : 0 }
        each(.feedPaused) { $0.isPaused ? 1 : 0 }
        each(.feedConnectionAttempts) { Double($0.connectionAttempts) }
        for feed in feeds {
            for (reason, count) in zip(DisconnectReason.allCases, feed.disconnects) {
                body(.feedDisconnects, { [feed.label, reason.rawValue] }, Double(count))
            }
        }
        each(.feedMessages) { Double($0.messages) }
        each(.feedBytes) { Double($0.bytes) }
        each(.feedReadings) { Double($0.readings) }
        for feed in feeds {
            for reason in RefusalReason.allCases {
                body(.feedRefusals, { [feed.label, reason.rawValue] }, Double(feed.refusals[reason]))
            }
        }
        each(.feedLastMessageAt) { $0.lastMessageAt.map { Double($0) / 1000 } }
    }

    func storeFamilies(rules: StoreRules) -> [FamilySamples] {
        [
            FamilySamples(.cities, Double(cityCount)),
            FamilySamples(.citiesLimit, Double(rules.cityLimit)),
            FamilySamples(.cityExpiry, Double(rules.expireAfter) / 1000),
            FamilySamples(.citiesExpired, Double(expiredCount)),
            FamilySamples(.historyPoints, Double(pointCount)),
            FamilySamples(.historyCapacity, Double(rules.history.capacity)),
        ]
    }
}
