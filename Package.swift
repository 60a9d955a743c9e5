// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "receipt-kit",
  products: [
    .library(name: "ReceiptCodec", targets: ["ReceiptCodec"]),
    .library(name: "ReceiptFoundationCompat", targets: ["ReceiptFoundationCompat"]),
    .library(name: "ReceiptCrypto", targets: ["ReceiptCrypto"]),
    .library(name: "ReceiptSigning", targets: ["ReceiptSigning"]),
    .library(name: "ReceiptVerification", targets: ["ReceiptVerification"]),
    .library(name: "ReceiptHTTP", targets: ["ReceiptHTTP"]),
    .library(name: "ReceiptHTTPCurl", targets: ["ReceiptHTTPCurl"]),
    .library(name: "ReceiptHTTPAsyncHTTPClient", targets: ["ReceiptHTTPAsyncHTTPClient"]),
    .library(name: "AppStoreServer", targets: ["AppStoreServer"]),
    .library(name: "GooglePlay", targets: ["GooglePlay"]),
    .library(name: "RemoteChecks", targets: ["RemoteChecks"]),
    .library(name: "ReceiptServiceClient", targets: ["ReceiptServiceClient"]),
    .library(name: "Entitlements", targets: ["Entitlements"]),
    .library(name: "TransparencyLog", targets: ["TransparencyLog"]),
    .library(name: "AuditTrail", targets: ["AuditTrail"]),
    .library(name: "AuditTrailSQLite", targets: ["AuditTrailSQLite"]),
    .library(name: "AuditTrailPostgreSQL", targets: ["AuditTrailPostgreSQL"]),
    .library(name: "Storefront", targets: ["Storefront"]),
    .library(name: "StorefrontSQLite", targets: ["StorefrontSQLite"]),
    .library(name: "ReceiptObservability", targets: ["ReceiptObservability"]),
    .library(name: "ReceiptTesting", targets: ["ReceiptTesting"]),
    .library(name: "AuditTrailTesting", targets: ["AuditTrailTesting"]),
    .library(name: "AppStoreEmulator", targets: ["AppStoreEmulator"]),
    .library(name: "GooglePlayEmulator", targets: ["GooglePlayEmulator"]),
    .library(name: "StoreTesting", targets: ["StoreTesting"]),
    .library(name: "ReceiptService", targets: ["ReceiptService"]),
    .library(name: "ReceiptKitLibrary", type: .static, targets: ["CReceiptKit", "ReceiptKitLibrary"]),
    .executable(name: "receipt-tool", targets: ["receipt-tool"]),
    .executable(name: "receipt-server", targets: ["receipt-server"]),
    .executable(name: "store-emulator", targets: ["store-emulator"]),
  ],
  traits: [
    .trait(
      name: "SwiftNIO",
      description:
        "What stands on SwiftNIO and the packages around it: the AsyncHTTPClient transport, logs, metrics and services."
    ),
    .trait(
      name: "Server",
      description: "The routes of ReceiptService, and the process receipt-server, over Hummingbird.",
      enabledTraits: ["SwiftNIO"]),
    .trait(
      name: "PostgreSQL", description: "The audit trail in PostgreSQL, over libpq: several writers at once."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.6.0"),
  ],
  targets: [
    // The common ground: base64, ASN.1, text, files. Imports nothing of ours.
    .target(name: "ReceiptBytes"),
    // The C shim over libcrypto. Only ReceiptCrypto imports it.
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "ReceiptCrypto", dependencies: ["COpenSSL", "Locking", "ReceiptBytes"]),
    // A lock that works in a child of fork, and that the thread sanitizer sees.
    .target(name: "Locking"),
    .target(name: "ReceiptCodec", dependencies: ["ReceiptBytes"]),
    // Dates and UUIDs of Foundation, which no module below ReceiptVerification needs.
    .target(name: "ReceiptFoundationCompat", dependencies: ["ReceiptCodec"]),
    .target(name: "ReceiptSigning", dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto"]),
    .target(
      name: "ReceiptVerification",
      dependencies: ["Locking", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto"]),
    // The contents of a receipt, unverified, in words, as `receipt-tool inspect` shows them. No product.
    .target(
      name: "ReceiptInspection",
      dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptVerification"]),
    // The interface through which requests over HTTP are sent; which client sends them is the caller's choice.
    .target(name: "ReceiptHTTP", dependencies: ["Locking", "ReceiptBytes", "ReceiptCodec"]),
    .target(
      name: "AppStoreServer",
      dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptHTTP", "ReceiptSigning", "ReceiptVerification"]),
    // The client of the Google Play Developer API, and the receiver of its notifications.
    .target(
      name: "GooglePlay",
      dependencies: [
        "Entitlements", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP",
      ]),
    .target(
      name: "RemoteChecks",
      dependencies: [
        "AppStoreServer", "Entitlements", "GooglePlay", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto",
        "ReceiptHTTP",
        "ReceiptVerification",
      ]),
    // The client of receipt-server, for its backends.
    .target(
      name: "ReceiptServiceClient",
      dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP"]),
    // A pure fold: no network, no clock.
    .target(
      name: "Entitlements",
      dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptVerification"]),
    // The transports, each apart, so that nobody links the HTTP client that they do not use.
    .target(name: "ReceiptHTTPCurl", dependencies: ["CCurl", "ReceiptHTTP"]),
    .target(name: "CCurl"),
    .target(
      name: "ReceiptHTTPAsyncHTTPClient",
      dependencies: [
        "ReceiptHTTP",
        .product(
          name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["SwiftNIO"])),
      ]),
    // Logs, metrics and services for a server, apart, so that nothing else depends on those packages.
    .target(
      name: "ReceiptObservability",
      dependencies: [
        "AuditTrail", "Entitlements", "GooglePlay", "ReceiptCodec", "ReceiptVerification",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftNIO"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["SwiftNIO"])),
      ]),
    .target(
      name: "ReceiptTesting", dependencies: ["ReceiptBytes", "ReceiptSigning", "ReceiptVerification"]),
    // Apart, so that who tests purchases need not compile the trail.
    .target(name: "AuditTrailTesting", dependencies: ["AuditTrail"]),

    // The audit trail: the log and the index under it, the trail, and its storages, each apart.
    .target(name: "TransparencyLog", dependencies: ["ReceiptBytes", "ReceiptCrypto"]),
    .target(name: "FingerprintIndex", dependencies: ["ReceiptBytes", "ReceiptCrypto"]),
    .target(
      name: "AuditTrail",
      dependencies: [
        "CMalloc", "FingerprintIndex", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto",
        "ReceiptVerification", "TransparencyLog",
      ]),
    .target(name: "CMalloc"),
    .target(
      name: "AuditTrailSQLite",
      dependencies: ["AuditTrail", "SQLite", "TransparencyLog"]),
    // The C interface of SQLite. Only SQLite imports it.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "SQLite", dependencies: ["CSQLite", "ReceiptBytes"]),
    .target(name: "AuditTrailPostgreSQL", dependencies: ["AuditTrail", "PostgreSQL"]),
    .target(
      name: "PostgreSQL",
      dependencies: ["ReceiptBytes", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    // libpq, loaded when it is needed; empty without the trait. Only PostgreSQL imports it.
    .target(
      name: "CPostgreSQL",
      cSettings: [.define("RECEIPTKIT_POSTGRESQL", .when(traits: ["PostgreSQL"]))]),

    // The build information of `receipt-tool version`. scripts/package names the commit; a plain build has none.
    .target(
      name: "CBuild",
      cSettings: [.define("RECEIPTKIT_COMMIT", to: Context.environment["RECEIPTKIT_COMMIT"] ?? "")]),

    // The store that receipts come from.
    .target(
      name: "Storefront",
      dependencies: [
        "Locking", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptSigning",
      ]),
    .target(name: "StorefrontSQLite", dependencies: ["SQLite", "Storefront"]),

    // The objects that the commands print with `--json`, and their exit codes.
    .target(
      name: "CommandOutput",
      dependencies: ["AuditTrail", "CBuild", "ReceiptCodec", "ReceiptSigning"]),
    // The policy that callers write in JSON, and the verifier that it describes.
    .target(
      name: "PolicyDocuments",
      dependencies: [
        "CommandOutput", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptSigning",
        "ReceiptVerification",
      ]),
    // The C header of libreceiptkit.so, and what a library in a foreign process needs of POSIX.
    .target(name: "CReceiptKit"),
    // The functions of the header. scripts/library links them to libreceiptkit.so.
    .target(
      name: "ReceiptKitLibrary",
      dependencies: [
        "AuditTrail", "CReceiptKit", "CommandOutput", "Locking", "PolicyDocuments", "ReceiptBytes",
        "ReceiptCodec", "ReceiptCrypto", "ReceiptInspection", "ReceiptSigning", "ReceiptVerification",
        "TransparencyLog",
      ]),

    // Starts a process whose memory is limited. No product.
    .target(name: "CChildProcess"),
    // The conformance suite, and what a run of it finds, without the process that it asks. No product.
    .target(name: "ConformanceSuite", dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto"]),

    .executableTarget(
      name: "receipt-tool",
      dependencies: [
        "AuditTrail",
        "CommandOutput",
        "AuditTrailPostgreSQL",
        "AuditTrailSQLite",
        "AppStoreServer",
        "CChildProcess",
        "ConformanceSuite",
        "Entitlements",
        "GooglePlay",
        "PolicyDocuments",
        "ReceiptHTTP",
        "ReceiptHTTPCurl",
        "ReceiptBytes",
        "ReceiptCrypto",
        "ReceiptInspection",
        "ReceiptSigning",
        "ReceiptVerification",
        "RemoteChecks",
        "SQLite",
        "Storefront",
        "StorefrontSQLite",
        "TransparencyLog",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // The App Store's endpoints, for tests: what they answer, and a process that serves them and fails on demand.
    .target(
      name: "AppStoreEmulator",
      dependencies: ["AppStoreServer", "ReceiptBytes", "ReceiptTesting", "Storefront"]),
    .target(
      name: "GooglePlayEmulator",
      dependencies: [
        "AppStoreEmulator", "GooglePlay", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP",
        "Storefront",
      ]),
    // The traits that give a test a store. A product of its own: it imports Swift Testing, which only tests have.
    .target(
      name: "StoreTesting",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "GooglePlay", "GooglePlayEmulator", "ReceiptBytes",
        "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptSigning", "ReceiptVerification", "Storefront",
      ]),
    .executableTarget(
      name: "store-emulator",
      dependencies: [
        "AppStoreEmulator", "Entitlements", "GooglePlay", "GooglePlayEmulator", "ReceiptBytes", "ReceiptHTTP",
        "ReceiptHTTPAsyncHTTPClient", "ReceiptService", "StorefrontSQLite",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
      ]),

    // The routes of the server, for this process or within another one.
    .target(
      name: "ReceiptService",
      dependencies: [
        "AppStoreServer", "AuditTrail", "Entitlements", "GooglePlay", "PostgreSQL", "ReceiptBytes",
        "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptHTTPAsyncHTTPClient", "ReceiptInspection",
        "ReceiptObservability", "ReceiptVerification",
        "RemoteChecks", "SQLite", "TransparencyLog",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Server"])),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
        .product(name: "Mustache", package: "swift-mustache", condition: .when(traits: ["Server"])),
        .product(
          name: "Instrumentation", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
      ],
      exclude: ["Console/Assets"]),
    .executableTarget(
      name: "receipt-server",
      dependencies: [
        "AppStoreServer", "AuditTrail", "AuditTrailPostgreSQL", "AuditTrailSQLite",
        "Entitlements", "GooglePlay", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP",
        "ReceiptHTTPAsyncHTTPClient",
        "ReceiptObservability", "ReceiptService", "ReceiptSigning", "ReceiptVerification", "RemoteChecks",
        "TransparencyLog",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Server"])),
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Server"])),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(
          name: "Instrumentation", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
      ]),

    .executableTarget(
      name: "receipt-bench",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "CAllocationCounter", "Entitlements", "Measuring",
        "ReceiptSigning", "ReceiptTesting", "ReceiptVerification", "RemoteChecks", "Storefront",
      ],
      path: "Benchmarks/receipt-bench"),
    .executableTarget(
      name: "audit-bench",
      dependencies: [
        "AuditTrail", "AuditTrailPostgreSQL", "AuditTrailSQLite", "AuditTrailTesting", "FingerprintIndex",
        "Measuring", "ReceiptCrypto", "TransparencyLog",
      ],
      path: "Benchmarks/audit-bench"),
    .executableTarget(
      name: "store-bench",
      dependencies: [
        "AppStoreEmulator", "Entitlements", "Measuring", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto",
        "ReceiptSigning", "ReceiptVerification", "StoreSimulation", "Storefront", "StorefrontSQLite",
      ],
      path: "Benchmarks/store-bench"),
    .target(name: "Measuring", path: "Benchmarks/Measuring"),
    .target(
      name: "StoreSimulation", dependencies: ["Entitlements", "ReceiptCodec", "Storefront"],
      path: "Benchmarks/StoreSimulation"),
    .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),

    // Writes TestVectors/. Not a product: only needed to change the vectors.
    .executableTarget(
      name: "generate-test-vectors", dependencies: ["ReceiptBytes", "ReceiptTesting"],
      path: "Tools/generate-test-vectors"),

    // Lets libcrypto's allocations fail, one after the other, while receipts are verified.
    .target(
      name: "CAllocationFaults", path: "Tests/Receipts/AllocationSweep/CAllocationFaults",
      linkerSettings: [.linkedLibrary("crypto")]),
    .executableTarget(
      name: "allocation-sweep",
      dependencies: [
        "CAllocationFaults", "ReceiptCrypto", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification",
        "TransparencyLog",
      ],
      path: "Tests/Receipts/AllocationSweep/allocation-sweep"),

    .testTarget(name: "ReceiptBytesTests", dependencies: ["ReceiptBytes"]),
    .testTarget(
      name: "ReceiptCryptoTests", dependencies: ["ReceiptCrypto", "ReceiptSigning", "ReceiptTesting"]),
    .testTarget(
      name: "ReceiptCodecTests", dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptFoundationCompat"]),
    .testTarget(
      name: "ReceiptSigningTests", dependencies: ["ReceiptBytes", "ReceiptSigning", "ReceiptTesting"]),
    .testTarget(
      name: "ReceiptVerificationTests",
      dependencies: ["ReceiptBytes", "ReceiptTesting", "ReceiptVerification"]),
    .testTarget(
      name: "ReceiptInspectionTests",
      dependencies: [
        "ReceiptBytes", "ReceiptInspection", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification",
      ]),
    .testTarget(
      name: "RemoteTests",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "Entitlements", "GooglePlay", "GooglePlayEmulator",
        "ReceiptBytes", "ReceiptCrypto", "ReceiptHTTPAsyncHTTPClient", "ReceiptHTTPCurl", "ReceiptTesting",
        "RemoteChecks", "SQLite", "StoreSimulation", "Storefront",
      ],
      path: "Tests/Stores/RemoteTests"),
    .testTarget(
      name: "ReceiptServiceClientTests",
      dependencies: ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptServiceClient"]),
    .testTarget(
      name: "StorefrontTests",
      dependencies: [
        "CSQLite", "Entitlements", "ReceiptBytes", "SQLite",
        "ReceiptHTTPCurl", "ReceiptTesting", "ReceiptVerification", "StoreSimulation",
        "Storefront", "StorefrontSQLite",
      ],
      exclude: ["Catalog/Fixtures", "Conformance/rows.tsv", "LocalStore/Fixtures"]),
    .testTarget(
      name: "StoreTestingTests",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "Entitlements", "GooglePlay", "ReceiptCodec",
        "ReceiptVerification", "StoreTesting", "Storefront",
      ]),
    .testTarget(
      name: "ReceiptObservabilityTests",
      dependencies: [
        "AuditTrail", "AuditTrailTesting", "Entitlements", "ReceiptObservability", "ReceiptVerification",
        "Storefront", "TransparencyLog",
        .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["SwiftNIO"])),
        .product(
          name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
          condition: .when(traits: ["SwiftNIO"])),
      ]),
    // The examples of README and articles that are no snippets.
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "AuditTrail", "AuditTrailTesting", "Entitlements", "GooglePlay",
        "GooglePlayEmulator",
        "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptHTTPAsyncHTTPClient", "ReceiptHTTPCurl",
        "ReceiptObservability", "ReceiptService", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification",
        "RemoteChecks", "Storefront", "StorefrontSQLite", "TransparencyLog",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftNIO"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["SwiftNIO"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["SwiftNIO"])),
      ]),
    .testTarget(
      name: "ReceiptServiceTests",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "AuditTrail", "AuditTrailTesting", "Entitlements", "GooglePlay",
        "GooglePlayEmulator", "PostgreSQL", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP",
        "ReceiptService", "ReceiptServiceClient", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification",
        "Storefront", "TransparencyLog",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
        .product(
          name: "Instrumentation", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
      ]),
    .testTarget(name: "TransparencyLogTests", dependencies: ["TransparencyLog"]),
    .testTarget(name: "FingerprintIndexTests", dependencies: ["FingerprintIndex", "ReceiptBytes"]),
    .testTarget(
      name: "AuditTrailTests",
      dependencies: [
        "AuditTrail", "AuditTrailPostgreSQL", "AuditTrailSQLite", "AuditTrailTesting", "FingerprintIndex",
        "PostgreSQL", "ReceiptBytes", "ReceiptTesting", "SQLite", "TransparencyLog",
      ]),
    .testTarget(
      name: "ReceiptKitLibraryTests",
      dependencies: [
        "AuditTrail", "CReceiptKit", "ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptKitLibrary",
        "ReceiptSigning", "ReceiptTesting", "ReceiptVerification",
      ]),
    // The targets that libFuzzer runs in a package of its own (scripts/fuzz), with the seeds and regressions alone.
    .testTarget(
      name: "FuzzTargetTests",
      dependencies: [
        "AuditTrail", "GooglePlay", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptInspection",
        "ReceiptKitLibrary", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification", "Storefront",
        "TransparencyLog",
      ],
      path: "FuzzTesting/Sources"),
  ]
)

// The rooms: each module stands in Sources/<room> and its tests in Tests/<room>. A room imports those above it, and a module
// those before it in its own; scripts/lint checks that, and CONTRIBUTING.md draws it.
let rooms: KeyValuePairs = [
  "Receipts": [
    "ReceiptBytes", "COpenSSL", "Locking", "ReceiptCrypto", "ReceiptCodec",
    "ReceiptFoundationCompat", "ReceiptSigning", "ReceiptVerification", "ReceiptInspection",
  ],
  "Databases": ["CSQLite", "SQLite", "CPostgreSQL", "PostgreSQL"],
  "Entitlements": ["Entitlements"],
  "Stores": [
    "ReceiptHTTP", "CCurl", "ReceiptHTTPCurl", "ReceiptHTTPAsyncHTTPClient", "AppStoreServer", "GooglePlay",
    "RemoteChecks", "ReceiptServiceClient",
  ],
  "Trail": [
    "TransparencyLog", "FingerprintIndex", "CMalloc", "AuditTrail", "AuditTrailSQLite",
    "AuditTrailPostgreSQL",
  ],
  "Testing": ["ReceiptTesting", "AuditTrailTesting", "CChildProcess", "ConformanceSuite"],
  "Storefront": [
    "Storefront", "StorefrontSQLite", "AppStoreEmulator", "GooglePlayEmulator", "StoreTesting",
  ],
  "Server": ["ReceiptObservability", "ReceiptService"],
  "Library": ["CBuild", "CommandOutput", "PolicyDocuments", "CReceiptKit", "ReceiptKitLibrary"],
  "Commands": ["receipt-tool", "receipt-server", "store-emulator"],
]
for (room, modules) in rooms {
  for target in package.targets where target.path == nil {
    if modules.contains(target.name) { target.path = "Sources/\(room)/\(target.name)" }
    if target.type == .test, modules.contains(String(target.name.dropLast("Tests".count))) {
      target.path = "Tests/\(room)/\(target.name)"
    }
  }
}

// scripts/test optimizes nothing but these, on which its tests spend most of their time; to optimize Storefront takes four times
// what its tests gain by it. A setting of the frontend, since `-Onone` on the command line outweighs settings of the driver.
var optimized: Set<String> = []
if Context.environment["RECEIPTKIT_TESTS"] != nil {
  optimized = [
    "AuditTrail", "AuditTrailSQLite", "FingerprintIndex", "Locking", "ReceiptBytes", "ReceiptCodec",
    "ReceiptCrypto", "ReceiptVerification", "SQLite", "TransparencyLog",
  ]
}

// scripts/test starts the programs thousands of times, and a third of a start of a dynamic one is the dynamic linker's: they
// have Swift's libraries in them, as releases have, with those that modules compiled for the dynamic ones do not name.
if Context.environment["RECEIPTKIT_TESTS"] != nil, Context.environment["RECEIPTKIT_SANITIZER"] == nil {
  let flags = [
    "-static-stdlib", "-Xlinker", "--no-export-dynamic", "-l_FoundationCShims", "-l_FoundationCollections",
    "-l_FoundationICU", "-lCoreFoundation",
  ]
  for target in package.targets
  where ["receipt-tool", "receipt-server", "store-emulator"].contains(target.name) {
    target.linkerSettings = [.unsafeFlags(flags, .when(platforms: [.linux]))]
  }
}

// The sanitizers' builds (scripts/test) have no more than the tests in which they can find something, with what these share
// with others.
let storefrontSupport = [
  "Catalog/Support", "Downloads/Support", "HTTPStore/Support", "LocalStore/StoreFixture.swift",
  "Products/Support",
  "PurchasableItems/Support", "Queue/FakeStore.swift", "Queue/QueueSupport.swift", "Queue/Watchers.swift",
  "Storage/FaultyRecordStorage.swift",
]
switch Context.environment["RECEIPTKIT_SANITIZER"] {
case "address":
  // The compiler proves the other modules memory safe: they contain no `unsafe` (scripts/lint checks that).
  package.targets.removeAll {
    [
      "DocumentationTests", "ReceiptInspectionTests", "ReceiptObservabilityTests",
      "ReceiptServiceClientTests", "ReceiptServiceTests", "ReceiptSigningTests", "RemoteTests",
      "StoreTestingTests",
    ].contains($0.name)
  }
  let sources = [
    // libcurl and SQLite.
    "StorefrontTests": storefrontSupport.filter { !$0.hasPrefix("Downloads/") && !$0.hasPrefix("Storage/") }
      + ["Downloads", "Storage"],
    // Without those of rules, keys, witnesses and moves: what is `unsafe` below them has tests here, too. That was read, and
    // not measured by coverage.
    "AuditTrailTests": ["Checkpoints", "Entry", "Erasure", "Log", "PostgreSQL", "Recording", "Storage"],
    "ReceiptVerificationTests": [
      "Attacks", "BadInput", "Batch", "Detached", "Genuine", "Support", "Sweeps", "TestVectorTests.swift",
    ],
  ]
  for target in package.targets { target.sources = sources[target.name] ?? target.sources }
  // Optimizing these makes this build longer by more than its tests get shorter.
  optimized.subtract(["AuditTrail", "ReceiptCodec", "ReceiptVerification"])
case "thread":
  let sources = [
    "ReceiptKitLibraryTests": ["Library.swift", "Samples.swift", "Threads"],
    "ReceiptVerificationTests": ["Concurrency", "Support"],
    "StorefrontTests": storefrontSupport + ["Queue/QueueStressTests.swift", "Stress"],
  ]
  package.targets.removeAll { $0.type == .test && sources[$0.name] == nil }
  for target in package.targets { target.sources = sources[target.name] ?? target.sources }
  // Without what only other tests of the store need.
  let unneeded = ["CSQLite", "ReceiptHTTPCurl", "SQLite", "StoreSimulation", "StorefrontSQLite"]
  for target in package.targets where target.name == "StorefrontTests" {
    target.dependencies.removeAll { dependency in
      if case .byNameItem(let name, _) = dependency { unneeded.contains(name) } else { false }
    }
  }
  optimized = []
default: break
}

// scripts/test without --all: the benchmarks, and the fuzz targets, which run under the address sanitizer.
if Context.environment["RECEIPTKIT_TESTS"] == "short" {
  let unneeded = [
    "CAllocationCounter", "FuzzTargetTests", "Measuring", "audit-bench", "receipt-bench", "store-bench",
  ]
  package.targets.removeAll { unneeded.contains($0.name) }
  // Optimizing these makes the build longer by more than it makes the tests shorter.
  optimized.subtract(["ReceiptVerification", "TransparencyLog"])
}

// scripts/test --only: nothing is compiled but what these tests need.
if let only = Context.environment["RECEIPTKIT_ONLY_TESTS"] {
  package.targets.removeAll { $0.type == .test && $0.name != only }
  optimized = []
}

// scripts/quickstart and the Containerfile: the programs, without tests, benchmarks and tools, whose folders may be missing.
if Context.environment["RECEIPTKIT_PROGRAMS"] != nil {
  let folders = ["Benchmarks/", "FuzzTesting/", "Tests/", "Tools/"]
  package.targets.removeAll { target in
    target.type == .test || folders.contains { target.path?.hasPrefix($0) ?? false }
  }
}

// scripts/fuzz: a package of its own, which sees no more than products.
if Context.environment["RECEIPTKIT_FUZZ"] != nil {
  package.products.append(.library(name: "ReceiptInspection", targets: ["ReceiptInspection"]))
}

// scripts/quickstart optimizes nothing but this, which goes over each byte of a receipt.
if Context.environment["RECEIPTKIT_QUICKSTART"] != nil {
  optimized = ["ReceiptBytes"]
  for target in package.targets where target.name == "CBuild" {
    target.cSettings?.append(.define("RECEIPTKIT_QUICKSTART"))
  }
}

// The optimizer crashes on these in the build of the full sweeps (scripts/test).
let unoptimized: Set<String> =
  Context.environment["RECEIPTKIT_FULL_SWEEPS"] != nil ? ["RemoteTests"] : []

// One set of rules for every Swift target of ours: strict memory safety, explicit existentials and
// imports, and no warning left standing.
for target in package.targets
where ![
  "COpenSSL", "CCurl", "CPostgreSQL", "CReceiptKit", "CSQLite", "CAllocationCounter", "CAllocationFaults",
].contains(
  target.name)
{
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
  if unoptimized.contains(target.name) { target.swiftSettings?.append(.unsafeFlags(["-Onone"])) }
  if optimized.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-O"]))
  }
}
