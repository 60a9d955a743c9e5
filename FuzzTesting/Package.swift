// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One executable per parser, each a libFuzzer entry point. Built and run by `scripts/fuzz`, which passes
/// the sanitizers for every module, so that the code under test is instrumented too.
let targets = [
  "app-receipt", "asn1", "audit-entry", "catalog", "certificate", "detached", "google-play", "json", "jws",
  "private-key", "recognition", "revocation", "store-protocol", "transaction-receipt", "transparency-log",
  "verify",
]

/// The package under test by its identity, the name of its folder: fuzz targets call what its modules share among
/// themselves, as its own tests do.
let packageUnderTest = String(
  (Context.packageDirectory.split(separator: "/").dropLast().last ?? "").lowercased().map {
    $0.isLetter || $0.isNumber ? $0 : "_"
  })

let package = Package(
  name: "fuzz-testing",
  dependencies: [.package(name: "receipt-kit", path: "..")],
  targets: [.target(name: "FuzzSupport")]
    + targets.map { name in
      .executableTarget(
        name: "fuzz-\(name)",
        dependencies: [
          "FuzzSupport",
          .product(name: "AuditTrail", package: "receipt-kit"),
          .product(name: "GooglePlay", package: "receipt-kit"),
          .product(name: "ReceiptCodec", package: "receipt-kit"),
          .product(name: "ReceiptCrypto", package: "receipt-kit"),
          .product(name: "ReceiptHTTP", package: "receipt-kit"),
          .product(name: "ReceiptSigning", package: "receipt-kit"),
          .product(name: "ReceiptTesting", package: "receipt-kit"),
          .product(name: "ReceiptVerification", package: "receipt-kit"),
          .product(name: "Storefront", package: "receipt-kit"),
          .product(name: "TransparencyLog", package: "receipt-kit"),
        ],
        packageAccess: false,
        // libFuzzer brings the main function.
        swiftSettings: [.unsafeFlags(["-parse-as-library", "-package-name", packageUnderTest])])
    }
)

for target in package.targets {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
