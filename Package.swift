// swift-tools-version: 6.3
import PackageDescription

// Their sources, the entry points of libFuzzer, are excluded from FuzzingTests.
let fuzzers = [
    "FuzzAddresses", "FuzzCompression", "FuzzFields", "FuzzFrames", "FuzzJQ", "FuzzMessages", "FuzzRequests",
    "FuzzStorage",
    "FuzzValues", "FuzzWebConfiguration",
]

let package = Package(
    name: "air-quality-exporter",
    products: [
        .executable(name: "air-quality-exporter", targets: ["AirQualityExporter"]),
        .executable(name: "air-quality-feed", targets: ["AirQualityFeed"]),
        // Libraries only for the nested packages of benchmarks and fuzzers; their API is not stable.
        .library(name: "AirQuality", targets: ["AirQuality"]),
        .library(name: "Bytes", targets: ["Bytes"]),
        .library(name: "HTTPText", targets: ["HTTPText"]),
        .library(name: "CommandLine", targets: ["CommandLine"]),
        .library(name: "Expectations", targets: ["Expectations"]),
        .library(name: "Exposition", targets: ["Exposition"]),
        .library(name: "FeedSimulation", targets: ["FeedSimulation"]),
        .library(name: "JQ", targets: ["JQ"]),
        .library(name: "JSON", targets: ["JSON"]),
        .library(name: "Page", targets: ["Page"]),
        .library(name: "Storage", targets: ["Storage"]),
        .library(name: "HTTPServer", targets: ["HTTPServer"]),
        .library(name: "System", targets: ["System"]),
        .library(name: "WebConfiguration", targets: ["WebConfiguration"]),
        .library(name: "WebSocket", targets: ["WebSocket"]),
    ],
    targets: [
        // Debian's C libraries. Each module's shim.h wraps what Swift cannot import.
        .systemLibrary(
            name: "CLibWebSockets", path: "Sources/C/CLibWebSockets", providers: [.apt(["libwebsockets-dev"])]),
        .systemLibrary(
            name: "CLibMicroHTTPD", path: "Sources/C/CLibMicroHTTPD",
            providers: [.apt(["libmicrohttpd-dev", "libgnutls28-dev"])]),
        .systemLibrary(name: "CGnuTLS", path: "Sources/C/CGnuTLS", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(name: "CZlib", path: "Sources/C/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CISAL", path: "Sources/C/CISAL", providers: [.apt(["libisal-dev"])]),
        .systemLibrary(name: "CCrypt", path: "Sources/C/CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CYAML", path: "Sources/C/CYAML", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CJQ", path: "Sources/C/CJQ", providers: [.apt(["libjq-dev"])]),
        .systemLibrary(name: "CCurl", path: "Sources/C/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // What Swift's Glibc module lacks: arguments of the process, names of threads, eventfd and mallopt.
        .target(name: "CLinux", path: "Sources/C/CLinux"),
        // A C interface to simdjson. DWARF 4 is the newest debug information that Debian's valgrind reads.
        .target(
            name: "CSimdJSON", path: "Sources/C/CSimdJSON",
            cxxSettings: [
                .define("SIMDJSON_EXCEPTIONS", to: "0"), .unsafeFlags(["-fno-exceptions", "-gdwarf-4"]),
            ], linkerSettings: [.linkedLibrary("simdjson")]),

        // Digits, text, dates and durations as bytes, used by most modules.
        .target(name: "Bytes", path: "Sources/Shared/Bytes"),
        // Names shared by the feed's client and its statistics.
        .target(name: "FeedProtocol", path: "Sources/Shared/FeedProtocol"),

        // Header fields, `Accept`, queries and `Retry-After`, shared by HTTP clients and servers.
        .target(name: "HTTPText", dependencies: ["Bytes"], path: "Sources/Shared/HTTPText"),

        // The modules that wrap a C library.
        .target(name: "JSON", dependencies: ["Bytes", "CSimdJSON"], path: "Sources/Shared/JSON"),
        .target(name: "JQ", dependencies: ["Bytes", "JSON", "System", "CJQ"], path: "Sources/Shared/JQ"),
        .target(
            name: "Storage", dependencies: ["AirQuality", "Bytes", "System", "CSQLite"],
            path: "Sources/Exporter/Storage"),
        .target(name: "System", dependencies: ["Bytes", "CLinux"], path: "Sources/Shared/System"),
        .target(
            name: "WebSocket",
            dependencies: ["Bytes", "FeedProtocol", "HTTPText", "System", "CLibWebSockets", "CZlib"],
            path: "Sources/Shared/WebSocket"),
        .target(name: "YAML", dependencies: ["Bytes", "System", "CYAML"], path: "Sources/Exporter/YAML"),
        .target(
            name: "WebConfiguration", dependencies: ["Bytes", "HTTPServer", "HTTPText", "System", "YAML", "CCrypt"],
            path: "Sources/Exporter/WebConfiguration"),
        .target(
            name: "HTTPClient", dependencies: ["HTTPText", "System", "CCurl"],
            path: "Sources/FeedTools/HTTPClient"),
        .target(
            name: "HTTPServer",
            dependencies: ["Bytes", "HTTPText", "System", "CGnuTLS", "CISAL", "CLibMicroHTTPD"],
            path: "Sources/Shared/HTTPServer"),

        // The pure core: bytes → readings → store → exposition.
        .target(
            name: "AirQuality", dependencies: ["Bytes", "FeedProtocol", "JSON"],
            path: "Sources/Shared/AirQuality"),
        // The store rendered as HTML: the list, a city, and the page about it.
        .target(
            name: "Page", dependencies: ["AirQuality", "Bytes", "HTTPText"], path: "Sources/Exporter/Page"),
        // Snapshots in Prometheus's exposition formats.
        .target(
            name: "Exposition", dependencies: ["AirQuality", "Bytes", "FeedProtocol", "HTTPText"],
            path: "Sources/Shared/Exposition"),
        // Messages in the format of the real feed.
        .target(name: "FeedSimulation", dependencies: ["Bytes", "JSON"], path: "Sources/Shared/FeedSimulation"),
        // Flags, environment variables and their errors, for both programs.
        .target(
            name: "CommandLine", dependencies: ["Bytes", "System"], path: "Sources/Shared/CommandLine"),

        // The flags for a connection to a feed, for both programs.
        .target(
            name: "FeedOptions", dependencies: ["Bytes", "CommandLine", "HTTPText", "JQ", "System", "WebSocket"],
            path: "Sources/Shared/FeedOptions"),

        // Compiles version, revision and branch into a program.
        .plugin(name: "BuildVersion", capability: .buildTool(), path: "Sources/BuildVersion"),

        // Concentrations → index by the rules of CPCB, EPA and EEA, without I/O.
        .target(name: "AirQualityIndex", dependencies: ["AirQuality"], path: "Sources/Shared/AirQualityIndex"),
        // Requests to public sources of air quality data, and the decoding of their responses.
        .target(
            name: "AirSources", dependencies: ["AirQuality", "AirQualityIndex", "Bytes", "JSON"],
            path: "Sources/FeedTools/AirSources"),

        // The programs, which wire the modules together.
        .executableTarget(
            name: "AirQualityExporter",
            dependencies: [
                "AirQuality", "AirQualityIndex", "Bytes", "CommandLine", "Exposition", "FeedOptions", "FeedProtocol",
                "FeedSimulation", "HTTPServer", "HTTPText", "JQ", "JSON", "Page", "Storage", "System",
                "WebConfiguration", "WebSocket", "YAML",
            ],
            path: "Sources/Exporter/AirQualityExporter",
            exclude: ["README.md"],
            // Embedded as bytes: assets of the page, and advice about unknown flags and commands.
            resources: [
                "Configuration/Resources/command-advice.txt", "Configuration/Resources/flag-advice.txt",
                "Probe/Resources/suggest.jq",
                "Web/Resources/favicon.ico", "Web/Resources/icon.png", "Web/Resources/icon.svg",
                "Web/Resources/page.css", "Web/Resources/page.js",
            ].map { .embedInCode($0) },
            plugins: ["BuildVersion"]),
        .executableTarget(
            name: "AirQualityFeed",
            dependencies: [
                "AirQuality", "AirQualityIndex", "AirSources", "Bytes", "CommandLine", "Exposition", "FeedOptions",
                "FeedProtocol", "FeedSimulation", "HTTPClient", "HTTPServer", "HTTPText", "JQ", "JSON", "System",
                "WebSocket",
            ],
            path: "Sources/FeedTools/AirQualityFeed",
            exclude: ["Cities/make-sets", "README.md"],
            // Embedded as bytes: lists of cities, and advice about unknown flags and commands.
            resources: [
                "Cities/capitals.csv", "Cities/india.csv", "Cities/seeds.csv", "Resources/command-advice.txt",
                "Resources/flag-advice.txt",
            ].map { .embedInCode($0) },
            plugins: ["BuildVersion"]),

        .target(name: "TestSupport", dependencies: ["AirQuality", "System"], path: "Tests/TestSupport"),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
        .testTarget(name: "JQTests", dependencies: ["AirQualityExporter", "JQ", "TestSupport"]),
        .testTarget(name: "StorageTests", dependencies: ["AirQuality", "Bytes", "Storage", "System", "TestSupport"]),
        .testTarget(name: "BytesTests", dependencies: ["Bytes", "TestSupport"]),
        .testTarget(name: "HTTPTextTests", dependencies: ["HTTPText"]),
        .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"]),
        .testTarget(
            name: "WebSocketTests",
            dependencies: ["Bytes", "FeedProtocol", "HTTPText", "System", "WebSocket", "TestSupport", "CLibWebSockets"]),
        .testTarget(
            name: "WebConfigurationTests",
            dependencies: ["Bytes", "HTTPServer", "HTTPText", "System", "WebConfiguration", "TestSupport"],
            exclude: ["Fixtures"]),
        .testTarget(name: "YAMLTests", dependencies: ["System", "YAML", "TestSupport"]),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "HTTPText", "System", "TestSupport"]),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "Bytes", "HTTPServer", "HTTPText", "System", "TestSupport", "CGnuTLS", "CISAL", "CZlib",
            ]),
        .testTarget(
            name: "AirQualityTests", dependencies: ["AirQuality", "Bytes", "TestSupport"]),
        .testTarget(
            name: "ExpositionTests",
            dependencies: ["AirQuality", "Bytes", "Exposition", "FeedProtocol", "HTTPText", "TestSupport"],
            exclude: ["Golden"]),
        .testTarget(
            name: "PageTests", dependencies: ["AirQuality", "Bytes", "Page", "TestSupport"], exclude: ["Golden"]),
        .testTarget(
            name: "CommandLineTests", dependencies: ["Bytes", "CommandLine", "System", "TestSupport"]),
        .testTarget(
            name: "AirQualityIndexTests", dependencies: ["AirQualityIndex", "JQ", "System", "TestSupport"],
            exclude: ["Oracle"]),
        .testTarget(name: "AirSourcesTests", dependencies: ["AirQualityIndex", "AirSources"]),
        // The properties that the fuzzers check, which FuzzingTests check on the corpus.
        .target(name: "Expectations", path: "Tests/Fuzzing/Expectations"),
        .testTarget(
            name: "FuzzingTests",
            dependencies: [
                "AirQuality", "Bytes", "CommandLine", "CZlib", "Expectations", "Exposition",
                "FeedSimulation", "HTTPServer", "HTTPText", "JQ", "JSON", "Page", "Storage", "System", "TestSupport",
                "WebConfiguration", "WebSocket",
            ],
            path: "Tests/Fuzzing",
            exclude: ["Expectations", "corpus", "Package.swift", "README.md", "run"]
                + fuzzers.map { "Fuzzers/\($0)/\($0).swift" },
            sources: ["Fuzzers", "CorpusTests.swift"]),
        .testTarget(
            name: "AirQualityFeedTests",
            dependencies: [
                "AirQuality", "AirQualityFeed", "AirQualityIndex", "AirSources", "Bytes", "CommandLine", "FeedProtocol",
                "FeedSimulation", "HTTPClient", "HTTPText", "System", "WebSocket", "TestSupport",
            ]),
        .testTarget(
            name: "FeedSimulationTests", dependencies: ["FeedSimulation", "TestSupport"], exclude: ["Golden"]),
        .testTarget(
            name: "AirQualityExporterTests",
            dependencies: [
                "AirQuality", "AirQualityExporter", "Bytes", "CommandLine", "Exposition", "FeedOptions", "FeedProtocol",
                "HTTPServer", "HTTPText", "Storage", "System", "WebConfiguration", "WebSocket", "TestSupport",
            ]),
    ],
    cxxLanguageStandard: .cxx20
)

let inC = ["CSimdJSON", "CLinux"]
for target in package.targets where [.regular, .executable, .test].contains(target.type) && !inC.contains(target.name) {
    var settings = target.swiftSettings ?? []
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    settings.append(.strictMemorySafety())
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    settings.append(.enableUpcomingFeature("ExistentialAny"))
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    settings.append(.enableUpcomingFeature("InternalImportsByDefault"))
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    // Not for modules that import C libraries, whose headers include those of libc: a libc declaration then belongs to
    // whichever module the compiler reads first, so that importing `Glibc` is sometimes not enough.
    let modulesOfC = [
        "System", "WebSocket", "YAML", "WebConfiguration", "HTTPClient", "HTTPServer", "Storage", "JQ",
    ]
    if !(modulesOfC + modulesOfC.map { $0 + "Tests" } + ["FuzzingTests"]).contains(target.name) {
        settings.append(.enableUpcomingFeature("MemberImportVisibility"))
    }
    settings.append(.treatAllWarnings(as: .error))
    target.swiftSettings = settings
}

for target in package.targets where target.type == .executable {
    // Full RELRO: all symbols are resolved at start-up, so that the GOT can be read-only. This needs the toolchain's
    // linker: Debian 13's leaves everything writable if writable Swift sections precede the GOT.
    target.linkerSettings = [.unsafeFlags(["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "now"])]
}
