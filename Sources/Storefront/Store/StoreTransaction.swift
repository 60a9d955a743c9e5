// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A sale, as the store reports it to a queue.
public struct StoreTransaction: Sendable, Hashable {
  /// Unique per sale, restoration and renewal.
  public var transactionIdentifier: String
  /// The first of the line of renewals or restorations; the same as ``transactionIdentifier`` for the first.
  public var originalTransactionIdentifier: String
  /// When the store took it up.
  public var transactionDate: Timestamp
  /// The payment that it answers. For a renewal one that nobody added: same product, quantity 1.
  public var payment: Payment
  /// The ``PurchaseRequest/id`` that it answers; `nil` for what the store began by itself, such as a renewal.
  public var requestIdentifier: String?
  /// The signed receipt, unverified: a JWS, or the property list of a transaction receipt.
  public var receipt: [UInt8]
  /// The content that comes with it.
  public var downloads: [DownloadableContent]

  /// Creates one from its parts.
  public init(
    transactionIdentifier: String, originalTransactionIdentifier: String, transactionDate: Timestamp,
    payment: Payment, requestIdentifier: String? = nil, receipt: [UInt8],
    downloads: [DownloadableContent] = []
  ) {
    self.transactionIdentifier = transactionIdentifier
    self.originalTransactionIdentifier = originalTransactionIdentifier
    self.transactionDate = transactionDate
    self.payment = payment
    self.requestIdentifier = requestIdentifier
    self.receipt = receipt
    self.downloads = downloads
  }
}

/// A file that a store hosts for a product: what a `Download` fetches.
public struct DownloadableContent: Sendable, Hashable {
  /// Which content (`contentIdentifier`).
  public var contentIdentifier: String
  /// Its version (`contentVersion`), such as `1.0`.
  public var contentVersion: String
  /// Where it is, an absolute URL.
  public var url: String
  /// Its length in bytes (`contentLength`).
  public var contentLength: Int64
  /// The SHA-256 of its bytes, 32 bytes.
  public var sha256: [UInt8]

  /// Creates one from its parts.
  public init(
    contentIdentifier: String, contentVersion: String, url: String, contentLength: Int64, sha256: [UInt8]
  ) {
    self.contentIdentifier = contentIdentifier
    self.contentVersion = contentVersion
    self.url = url
    self.contentLength = contentLength
    self.sha256 = sha256
  }
}
