// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// A backend that receives notifications, and its tests with a living store. A package of its own: it sees no more of
// ReceiptKit than yours does.

import PackageDescription

let package = Package(
  name: "shop",
  dependencies: [.package(name: "receipt-kit", path: "../..")],
  targets: [
    .target(
      name: "Shop",
      dependencies: [
        .product(name: "Entitlements", package: "receipt-kit"),
        .product(name: "ReceiptVerification", package: "receipt-kit"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ShopTests",
      dependencies: ["Shop", .product(name: "StoreTesting", package: "receipt-kit")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ])
