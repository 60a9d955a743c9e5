// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "receipt-kit",
  products: [
    .library(name: "ReceiptCodec", targets: ["ReceiptCodec"]),
    .library(name: "ReceiptCrypto", targets: ["ReceiptCrypto"]),
    .library(name: "ReceiptSigning", targets: ["ReceiptSigning"]),
    .library(name: "ReceiptVerification", targets: ["ReceiptVerification"]),
    .library(name: "ReceiptHTTP", targets: ["ReceiptHTTP"]),
    .library(name: "ReceiptHTTPCurl", targets: ["ReceiptHTTPCurl"]),
    .library(name: "ReceiptHTTPAsyncHTTPClient", targets: ["ReceiptHTTPAsyncHTTPClient"]),
    .library(name: "AppStoreServer", targets: ["AppStoreServer"]),
    .library(name: "RemoteChecks", targets: ["RemoteChecks"]),
    .library(name: "Entitlements", targets: ["Entitlements"]),
    .library(name: "TransparencyLog", targets: ["TransparencyLog"]),
    .library(name: "AuditTrail", targets: ["AuditTrail"]),
    .library(name: "AuditTrailSQLite", targets: ["AuditTrailSQLite"]),
    .library(name: "AuditTrailPostgreSQL", targets: ["AuditTrailPostgreSQL"]),
    .library(name: "Storefront", targets: ["Storefront"]),
    .library(name: "StorefrontSQLite", targets: ["StorefrontSQLite"]),
    .library(name: "ReceiptTesting", targets: ["ReceiptTesting"]),
    .library(name: "AppStoreEmulator", targets: ["AppStoreEmulator"]),
    .executable(name: "receipt-tool", targets: ["receipt-tool"]),
  ],
  traits: [
    .trait(
      name: "SwiftNIO",
      description: "What stands on SwiftNIO: the AsyncHTTPClient transport and the emulator's HTTP server."),
    .trait(
      name: "SQLite",
      description:
        "The audit trail, and the records of a payment queue or store, in one SQLite file each, over GRDB."),
    .trait(
      name: "PostgreSQL", description: "The audit trail in PostgreSQL, over libpq: several writers at once."),
    .default(enabledTraits: ["SwiftNIO", "SQLite"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // The C shim over libcrypto. Only ReceiptCrypto imports it.
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "ReceiptCrypto", dependencies: ["COpenSSL", "ThreadSanitizing"]),
    // A lock that the thread sanitizer sees through; empty without it.
    .target(name: "ThreadSanitizing"),
    .target(name: "ReceiptCodec"),
    .target(name: "ReceiptSigning", dependencies: ["ReceiptCodec", "ReceiptCrypto"]),
    .target(
      name: "ReceiptVerification", dependencies: ["ReceiptCodec", "ReceiptCrypto", "ThreadSanitizing"]),
    // What asks over HTTP asks this; which client answers is the caller's choice.
    .target(name: "ReceiptHTTP", dependencies: ["ReceiptCodec", "ThreadSanitizing"]),
    .target(
      name: "AppStoreServer",
      dependencies: ["ReceiptCodec", "ReceiptHTTP", "ReceiptSigning", "ReceiptVerification"]),
    .target(
      name: "RemoteChecks",
      dependencies: [
        "AppStoreServer", "Entitlements", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP",
        "ReceiptVerification",
      ]),
    // A pure fold: no network, no clock.
    .target(name: "Entitlements", dependencies: ["ReceiptCodec", "ReceiptVerification"]),
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
    .target(name: "ReceiptTesting", dependencies: ["ReceiptSigning", "ReceiptVerification"]),

    // The audit trail: the log and the index under it, the trail, and its storages, each apart.
    .target(name: "TransparencyLog", dependencies: ["ReceiptCrypto"]),
    .target(name: "FingerprintIndex", dependencies: ["ReceiptCrypto"]),
    .target(
      name: "AuditTrail",
      dependencies: [
        "CMalloc", "FingerprintIndex", "ReceiptCodec", "ReceiptCrypto", "ReceiptVerification",
        "TransparencyLog", .product(name: "Logging", package: "swift-log"),
      ]),
    .target(name: "CMalloc"),
    .target(
      name: "AuditTrailSQLite",
      dependencies: [
        "AuditTrail", "SQLiteFiles",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
      ]),
    // What the storages in SQLite files have in common.
    .target(
      name: "SQLiteFiles",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"]))
      ]),
    .target(
      name: "AuditTrailPostgreSQL",
      dependencies: ["AuditTrail", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    // The C shim over libpq; empty without the trait.
    .target(
      name: "CPostgreSQL",
      cSettings: [.define("RECEIPTKIT_POSTGRESQL", .when(traits: ["PostgreSQL"]))],
      linkerSettings: [.linkedLibrary("pq", .when(traits: ["PostgreSQL"]))]),

    // The store that receipts come from.
    .target(
      name: "Storefront",
      dependencies: ["ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptSigning", "ThreadSanitizing"]),
    .target(
      name: "StorefrontSQLite",
      dependencies: [
        "SQLiteFiles", "Storefront",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
      ]),

    .executableTarget(
      name: "receipt-tool",
      dependencies: [
        "AuditTrail",
        "AuditTrailPostgreSQL",
        "AuditTrailSQLite",
        "AppStoreServer",
        "ReceiptHTTPCurl",
        "ReceiptSigning",
        "ReceiptVerification",
        "RemoteChecks",
        "Storefront",
        "StorefrontSQLite",
        "TransparencyLog",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // The App Store's endpoints, for tests: what they answer, and a process that serves them and fails on demand.
    .target(name: "AppStoreEmulator", dependencies: ["AppStoreServer", "ReceiptTesting"]),
    .executableTarget(
      name: "app-store-emulator",
      dependencies: [
        "AppStoreEmulator",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["SwiftNIO"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["SwiftNIO"])),
      ]),

    .executableTarget(
      name: "receipt-bench",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "CAllocationCounter", "Entitlements", "Measuring",
        "ReceiptSigning", "ReceiptTesting", "ReceiptVerification", "RemoteChecks",
      ],
      path: "Benchmarks/receipt-bench"),
    .executableTarget(
      name: "audit-bench",
      dependencies: [
        "AuditTrail", "AuditTrailPostgreSQL", "AuditTrailSQLite", "FingerprintIndex", "Measuring",
        "ReceiptCrypto", "TransparencyLog",
      ],
      path: "Benchmarks/audit-bench"),
    .executableTarget(
      name: "store-bench",
      dependencies: [
        "Entitlements", "Measuring", "ReceiptCodec", "ReceiptCrypto", "ReceiptSigning",
        "ReceiptVerification", "StoreSimulation", "Storefront", "StorefrontSQLite",
      ],
      path: "Benchmarks/store-bench"),
    .target(name: "Measuring", path: "Benchmarks/Measuring"),
    .target(
      name: "StoreSimulation", dependencies: ["Entitlements", "ReceiptCodec", "Storefront"],
      path: "Benchmarks/StoreSimulation"),
    .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),

    // Writes TestVectors/. Not a product: for whoever changes the vectors.
    .executableTarget(name: "generate-test-vectors", dependencies: ["ReceiptTesting"]),

    // Lets libcrypto's allocations fail, one after the other, while receipts are verified.
    .target(
      name: "CAllocationFaults", path: "Tests/AllocationSweep/CAllocationFaults",
      linkerSettings: [.linkedLibrary("crypto")]),
    .executableTarget(
      name: "allocation-sweep", dependencies: ["CAllocationFaults", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification"],
      path: "Tests/AllocationSweep/allocation-sweep"),

    .testTarget(name: "ReceiptCryptoTests", dependencies: ["ReceiptCrypto"]),
    .testTarget(name: "ReceiptCodecTests", dependencies: ["ReceiptCodec"]),
    .testTarget(name: "ReceiptSigningTests", dependencies: ["ReceiptSigning", "ReceiptTesting"]),
    .testTarget(
      name: "ReceiptVerificationTests", dependencies: ["ReceiptVerification", "ReceiptTesting"]),
    .testTarget(
      name: "RemoteTests",
      dependencies: [
        "AppStoreEmulator", "AppStoreServer", "Entitlements", "ReceiptHTTPCurl",
        "ReceiptHTTPAsyncHTTPClient", "ReceiptTesting", "RemoteChecks",
      ]),
    .testTarget(
      name: "StorefrontTests",
      dependencies: [
        "Entitlements", "ReceiptHTTPCurl", "ReceiptTesting", "ReceiptVerification", "StoreSimulation",
        "Storefront", "StorefrontSQLite",
      ],
      exclude: ["Catalog/Fixtures", "Conformance/rows.tsv"]),
    .testTarget(name: "TransparencyLogTests", dependencies: ["TransparencyLog"]),
    .testTarget(name: "FingerprintIndexTests", dependencies: ["FingerprintIndex"]),
    .testTarget(
      name: "AuditTrailTests",
      dependencies: [
        "AuditTrail", "AuditTrailPostgreSQL", "AuditTrailSQLite", "FingerprintIndex", "ReceiptTesting",
        "TransparencyLog",
      ]),
  ]
)

// One set of rules for every Swift target of ours: strict memory safety, explicit existentials and
// imports, and no warning left standing.
for target in package.targets
where !["COpenSSL", "CCurl", "CPostgreSQL", "CAllocationCounter", "CAllocationFaults"].contains(target.name) {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
