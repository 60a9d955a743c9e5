// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The extensions that dedicate certificates to receipt signing, by object identifier.
///
/// Without them, any developer certificate under the same intermediate could sign receipts.
public struct CertificateMarkers: Sendable, Hashable {
  /// The extension that the leaf must carry.
  package var leaf: String
  /// The extension that the intermediate must carry.
  package var intermediate: String

  /// Requires these two extensions; stores of your own use extensions under your own arc.
  public init(leaf: String, intermediate: String) {
    self.leaf = leaf
    self.intermediate = intermediate
  }

  /// App Store receipt signing (leaf) under Apple Worldwide Developer Relations (intermediate): signed JWS,
  /// app receipts, and transaction receipts since version 3.
  public static let appStore = CertificateMarkers(
    leaf: ObjectIdentifiers.appStoreReceiptSigning,
    intermediate: ObjectIdentifiers.worldwideDeveloperRelations)

  /// The certificates of transaction receipts of version 2 (before 2016).
  public static let iTunesStore = CertificateMarkers(
    leaf: ObjectIdentifiers.iTunesStoreReceiptSigning, intermediate: ObjectIdentifiers.iTunesStoreIntermediate
  )
}
