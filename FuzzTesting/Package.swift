// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The package under test by its identity, the name of its folder: fuzz targets call what its modules share among
/// themselves, as its own tests do.
let packageUnderTest = String(
  (Context.packageDirectory.split(separator: "/").dropLast().last ?? "").lowercased().map {
    $0.isLetter || $0.isNumber ? $0 : "_"
  })

/// All fuzz targets with libFuzzer's entry point, in one executable. Built and run by `scripts/fuzz`, which passes the
/// sanitizers for every module, so that the code under test is instrumented too. The package under test compiles the
/// same files into its test target `FuzzTargetTests`, which replays seeds and regressions without libFuzzer.
let package = Package(
  name: "fuzz-testing",
  dependencies: [.package(name: "receipt-kit", path: "..")],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "AuditTrail", "GooglePlay", "ReceiptCodec", "ReceiptCrypto", "ReceiptHTTP", "ReceiptInspection",
        "ReceiptKitLibrary", "ReceiptSigning", "ReceiptTesting", "ReceiptVerification", "Storefront",
        "TransparencyLog",
      ].map { .product(name: $0, package: "receipt-kit") },
      packageAccess: false,
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // libFuzzer brings the main function.
        .unsafeFlags(["-parse-as-library", "-package-name", packageUnderTest]),
      ])
  ]
)
