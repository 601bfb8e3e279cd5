// swift-tools-version: 6.3
import PackageDescription

/// Settings of all Swift targets.
///
/// - Parameter importsC: whether the target sees headers of C libraries, which include those of libc: a declaration of
///   libc then belongs to whichever module the compiler reads first, so that importing `Glibc` is sometimes not enough
///   for member import visibility.
func settings(importsC: Bool) -> [SwiftSetting] {
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    let visibility: [SwiftSetting] = importsC ? [] : [.enableUpcomingFeature("MemberImportVisibility")]
    return visibility + [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
        .strictMemorySafety(),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
    ]
}

/// A module in a folder of `Sources`.
func module(_ name: String, in folder: String, _ dependencies: [String] = [], importsC: Bool = false) -> Target {
    .target(
        name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "Sources/\(folder)/\(name)",
        swiftSettings: settings(importsC: importsC))
}

/// A program in a folder of `Sources`, with files embedded as bytes.
func program(_ name: String, in folder: String, _ dependencies: [String], exclude: [String], embedding files: [String])
    -> Target
{
    .executableTarget(
        name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "Sources/\(folder)/\(name)",
        exclude: exclude, resources: files.map { .embedInCode($0) }, swiftSettings: settings(importsC: false),
        // Full RELRO: all symbols are resolved at start-up, so that the GOT can be read-only. This needs the
        // toolchain's linker: Debian 13's leaves everything writable if writable Swift sections precede the GOT.
        linkerSettings: [.unsafeFlags(["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "now"])],
        plugins: ["BuildVersion"])
}

/// The tests of a module, in the folder of their name.
func tests(
    of name: String, _ dependencies: [String], exclude: [String] = [], importsC: Bool = false
) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: ([name] + dependencies).map { .byName(name: $0) }, exclude: exclude,
        swiftSettings: settings(importsC: importsC))
}

/// A C library of Debian; its `shim.h` wraps what Swift cannot import.
func library(_ name: String, packages: String...) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", providers: [.apt(packages)])
}

/// Their sources, the entry points of libFuzzer, are excluded from FuzzingTests.
let fuzzers = [
    "FuzzAddresses", "FuzzCompression", "FuzzFields", "FuzzFrames", "FuzzJQ", "FuzzMessages", "FuzzRequests",
    "FuzzStorage", "FuzzValues", "FuzzWebConfiguration",
]

/// Modules that the nested packages of benchmarks and fuzzers use; their API is not stable.
let nested = [
    "AirQuality", "Bytes", "CommandLine", "Expectations", "Exposition", "FeedSimulation", "HTTPServer", "HTTPText",
    "JQ", "JSON", "Page", "Storage", "System", "WebConfiguration", "WebSocket",
]

let package = Package(
    name: "air-quality-exporter",
    products: [
        .executable(name: "air-quality-exporter", targets: ["AirQualityExporter"]),
        .executable(name: "air-quality-feed", targets: ["AirQualityFeed"]),
    ] + nested.map { .library(name: $0, targets: [$0]) },
    targets: [
        library("CLibWebSockets", packages: "libwebsockets-dev"),
        library("CLibMicroHTTPD", packages: "libmicrohttpd-dev", "libgnutls28-dev"),
        library("CGnuTLS", packages: "libgnutls28-dev"),
        library("CZlib", packages: "zlib1g-dev"),
        library("CISAL", packages: "libisal-dev"),
        library("CCrypt", packages: "libcrypt-dev"),
        library("CYAML", packages: "libyaml-dev"),
        library("CSQLite", packages: "libsqlite3-dev"),
        library("CJQ", packages: "libjq-dev"),
        library("CCurl", packages: "libcurl4-openssl-dev"),
        // What Swift's Glibc module lacks: arguments of the process, names of threads, eventfd and mallopt.
        .target(name: "CLinux", path: "Sources/C/CLinux"),
        // A C interface to simdjson. DWARF 4 is the newest debug information that Debian's valgrind reads.
        .target(
            name: "CSimdJSON", path: "Sources/C/CSimdJSON",
            cxxSettings: [
                .define("SIMDJSON_EXCEPTIONS", to: "0"), .unsafeFlags(["-fno-exceptions", "-gdwarf-4"]),
            ], linkerSettings: [.linkedLibrary("simdjson")]),

        // For both programs. The lowest modules: bytes, text of HTTP, the system.
        module("Bytes", in: "Shared"),
        module("HTTPText", in: "Shared", ["Bytes"]),
        module("System", in: "Shared", ["Bytes", "CLinux"], importsC: true),
        // The modules that wrap a C library.
        module("JSON", in: "Shared", ["Bytes", "CSimdJSON"]),
        module("JQ", in: "Shared", ["Bytes", "JSON", "System", "CJQ"], importsC: true),
        module(
            "WebSocket", in: "Shared", ["Bytes", "HTTPText", "System", "CLibWebSockets", "CZlib"], importsC: true),
        module(
            "HTTPServer", in: "Shared", ["Bytes", "HTTPText", "System", "CGnuTLS", "CISAL", "CLibMicroHTTPD"],
            importsC: true),
        // The pure core: bytes → readings → store → exposition.
        module("AirQuality", in: "Shared", ["Bytes", "JSON"]),
        module("AirQualityIndex", in: "Shared", ["AirQuality"]),
        module("Exposition", in: "Shared", ["AirQuality", "Bytes", "HTTPText"]),
        module("FeedSimulation", in: "Shared", ["Bytes", "JSON"]),
        // Flags, environment variables and their errors; the flags of a connection to a feed.
        module("CommandLine", in: "Shared", ["Bytes", "System"]),
        module("FeedOptions", in: "Shared", ["Bytes", "CommandLine", "HTTPText", "JQ", "System", "WebSocket"]),

        // For the exporter.
        module("YAML", in: "Exporter", ["Bytes", "System", "CYAML"], importsC: true),
        module(
            "WebConfiguration", in: "Exporter", ["Bytes", "HTTPServer", "HTTPText", "System", "YAML", "CCrypt"],
            importsC: true),
        module("Storage", in: "Exporter", ["AirQuality", "Bytes", "System", "CSQLite"], importsC: true),
        module("Page", in: "Exporter", ["AirQuality", "Bytes", "HTTPText"]),
        program(
            "AirQualityExporter", in: "Exporter",
            [
                "AirQuality", "AirQualityIndex", "Bytes", "CommandLine", "Exposition", "FeedOptions", "FeedSimulation",
                "HTTPServer", "HTTPText", "JQ", "JSON", "Page", "Storage", "System", "WebConfiguration", "WebSocket",
                "YAML",
            ],
            exclude: ["README.md"],
            // Advice about unknown flags and commands; the program of `probe`; assets of the page.
            embedding: [
                "Configuration/Resources/command-advice.txt", "Configuration/Resources/flag-advice.txt",
                "Probe/Resources/suggest.jq",
                "Web/Resources/favicon.ico", "Web/Resources/icon.png", "Web/Resources/icon.svg",
                "Web/Resources/page.css", "Web/Resources/page.js",
            ]),

        // For the feed program: requests to sources of air quality data, and their responses.
        module("HTTPClient", in: "FeedTools", ["HTTPText", "System", "CCurl"], importsC: true),
        module("AirSources", in: "FeedTools", ["AirQuality", "AirQualityIndex", "Bytes", "JSON"]),
        program(
            "AirQualityFeed", in: "FeedTools",
            [
                "AirQuality", "AirQualityIndex", "AirSources", "Bytes", "CommandLine", "Exposition", "FeedOptions",
                "FeedSimulation", "HTTPClient", "HTTPServer", "HTTPText", "JQ", "JSON", "System", "WebSocket",
            ],
            exclude: ["Cities/make-sets", "README.md"],
            // Lists of cities; advice about unknown flags and commands.
            embedding: [
                "Cities/capitals.csv", "Cities/india.csv", "Cities/seeds.csv", "Resources/command-advice.txt",
                "Resources/flag-advice.txt",
            ]),

        // Compiles version, revision and branch into a program.
        .plugin(name: "BuildVersion", capability: .buildTool(), path: "Sources/BuildVersion"),

        .target(
            name: "TestSupport", dependencies: ["AirQuality", "System"], path: "Tests/TestSupport",
            swiftSettings: settings(importsC: false)),
        tests(of: "Bytes", ["TestSupport"]),
        tests(of: "HTTPText", []),
        tests(of: "System", ["TestSupport"], importsC: true),
        tests(of: "JSON", ["TestSupport"]),
        tests(of: "JQ", ["AirQualityExporter", "TestSupport"], importsC: true),
        tests(of: "WebSocket", ["Bytes", "HTTPText", "System", "TestSupport", "CLibWebSockets"], importsC: true),
        tests(
            of: "HTTPServer", ["Bytes", "HTTPText", "System", "TestSupport", "CGnuTLS", "CISAL", "CZlib"],
            importsC: true),
        tests(of: "AirQuality", ["Bytes", "TestSupport"]),
        tests(of: "AirQualityIndex", ["JQ", "System", "TestSupport"], exclude: ["Oracle"]),
        tests(of: "Exposition", ["AirQuality", "Bytes", "HTTPText", "TestSupport"], exclude: ["Golden"]),
        tests(of: "FeedSimulation", ["TestSupport"], exclude: ["Golden"]),
        tests(of: "CommandLine", ["Bytes", "System", "TestSupport"]),
        tests(of: "YAML", ["System", "TestSupport"], importsC: true),
        tests(
            of: "WebConfiguration", ["Bytes", "HTTPServer", "HTTPText", "System", "TestSupport"],
            exclude: ["Fixtures"], importsC: true),
        tests(of: "Storage", ["AirQuality", "Bytes", "System", "TestSupport"], importsC: true),
        tests(of: "Page", ["AirQuality", "Bytes", "TestSupport"], exclude: ["Golden"]),
        tests(
            of: "AirQualityExporter",
            [
                "AirQuality", "Bytes", "CommandLine", "Exposition", "FeedOptions", "HTTPServer", "HTTPText", "Storage",
                "System", "WebConfiguration", "WebSocket", "TestSupport",
            ]),
        tests(of: "HTTPClient", ["HTTPText", "System", "TestSupport"], importsC: true),
        tests(of: "AirSources", ["AirQualityIndex"]),
        tests(
            of: "AirQualityFeed",
            [
                "AirQuality", "AirQualityIndex", "AirSources", "Bytes", "CommandLine", "FeedSimulation", "HTTPClient",
                "HTTPText", "System", "WebSocket", "TestSupport",
            ]),
        // The properties that the fuzzers check, which FuzzingTests check on the corpus.
        .target(
            name: "Expectations", path: "Tests/Fuzzing/Expectations", swiftSettings: settings(importsC: false)),
        .testTarget(
            name: "FuzzingTests",
            dependencies: [
                "AirQuality", "Bytes", "CommandLine", "CZlib", "Expectations", "Exposition", "FeedSimulation",
                "HTTPServer", "HTTPText", "JQ", "JSON", "Page", "Storage", "System", "TestSupport", "WebConfiguration",
                "WebSocket",
            ],
            path: "Tests/Fuzzing",
            exclude: ["Expectations", "corpus", "Package.swift", "README.md", "run"]
                + fuzzers.map { "Fuzzers/\($0)/\($0).swift" },
            sources: ["Fuzzers", "CorpusTests.swift"], swiftSettings: settings(importsC: true)),
    ],
    cxxLanguageStandard: .cxx20
)
