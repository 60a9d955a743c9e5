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
    .library(name: "ReceiptTesting", targets: ["ReceiptTesting"]),
    .executable(name: "receipt-tool", targets: ["receipt-tool"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // The C shim over libcrypto. Only ReceiptCrypto imports it.
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "ReceiptCrypto", dependencies: ["COpenSSL"]),
    .target(name: "ReceiptCodec"),
    .target(name: "ReceiptSigning", dependencies: ["ReceiptCodec", "ReceiptCrypto"]),
    .target(name: "ReceiptVerification", dependencies: ["ReceiptCodec", "ReceiptCrypto"]),
    .target(name: "ReceiptTesting", dependencies: ["ReceiptSigning", "ReceiptVerification"]),
    .executableTarget(
      name: "receipt-tool",
      dependencies: [
        "ReceiptSigning",
        "ReceiptVerification",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    .executableTarget(
      name: "receipt-bench",
      dependencies: ["CAllocationCounter", "ReceiptSigning", "ReceiptVerification"],
      path: "Benchmarks/receipt-bench"),
    .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),

    // Writes TestVectors/. Not a product: for whoever changes the vectors.
    .executableTarget(name: "generate-test-vectors", dependencies: ["ReceiptTesting"]),

    .testTarget(name: "ReceiptCryptoTests", dependencies: ["ReceiptCrypto"]),
    .testTarget(name: "ReceiptCodecTests", dependencies: ["ReceiptCodec"]),
    .testTarget(name: "ReceiptSigningTests", dependencies: ["ReceiptSigning", "ReceiptTesting"]),
    .testTarget(
      name: "ReceiptVerificationTests", dependencies: ["ReceiptVerification", "ReceiptTesting"]),
  ]
)

// One set of rules for every Swift target of ours: strict memory safety, explicit existentials and
// imports, and no warning left standing.
for target in package.targets where !["COpenSSL", "CAllocationCounter"].contains(target.name) {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
