// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A sale, as the store reports it to a queue.
public struct StoreTransaction: Sendable, Hashable {
  /// Unique per sale, restoration and renewal.
  public var transactionIdentifier: String
  /// The first transaction of the renewals or restorations of a purchase; for the first, ``transactionIdentifier``
  /// itself.
  public var originalTransactionIdentifier: String
  /// When it was added to the store's own queue.
  public var transactionDate: Timestamp
  /// The payment. For a renewal, a generated one: the same product, quantity 1.
  public var payment: Payment
  /// The ``PurchaseRequest/id`` that it answers; `nil` for a transaction without a request, such as a renewal.
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

/// A file that a store hosts for a product; a ``Download`` fetches it.
public struct DownloadableContent: Sendable, Hashable {
  /// The identifier (`contentIdentifier`).
  public var contentIdentifier: String
  /// Its version (`contentVersion`), such as `1.0`.
  public var contentVersion: String
  /// The absolute URL.
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
