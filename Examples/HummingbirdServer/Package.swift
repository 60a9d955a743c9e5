// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// A server that verifies purchases and receives notifications, with Hummingbird. A package of its own: nothing else needs it.

import PackageDescription

let package = Package(
  name: "purchases",
  dependencies: [
    .package(name: "receipt-kit", path: "../..", traits: ["SwiftNIO"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
  ],
  targets: [
    .executableTarget(
      name: "purchases",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Entitlements", package: "receipt-kit"),
        .product(name: "ReceiptCodec", package: "receipt-kit"),
        .product(name: "ReceiptCrypto", package: "receipt-kit"),
        .product(name: "ReceiptObservability", package: "receipt-kit"),
        .product(name: "ReceiptVerification", package: "receipt-kit"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ])
