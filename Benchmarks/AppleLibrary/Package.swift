// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that nothing else depends on what Apple's library depends on.
let package = Package(
  name: "AppleLibrary",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(url: "https://github.com/apple/app-store-server-library-swift", from: "6.0.0")
  ],
  targets: [
    .executableTarget(
      name: "AppleLibrary",
      dependencies: [
        .product(name: "AppStoreServerLibrary", package: "app-store-server-library-swift")
      ])
  ]
)
