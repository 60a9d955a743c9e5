// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// The facts of an entry: everything except its place in the trail.
///
/// A field that is `nil` has no line in the entry. The statements of a receipt are included only if its signature was
/// found valid: of a forged receipt, only the digest is recorded.
public struct EntryFacts: Sendable, Hashable {
  /// The time of the decision, in milliseconds since 1970-01-01T00:00:00Z.
  ///
  /// If the preceding entry is later, the trail moves this time forward, so that time never runs backwards.
  public var time: Int64
  /// The kind of the entry.
  public var kind: EntryKind
  /// The record's identifier, chosen by the caller, for a record without a receipt.
  ///
  /// A record with an identifier is entered only once (<doc:Entries>).
  public var id: String?
  /// The kind of receipt: the raw value of a `ReceiptKind`.
  public var format: String?
  /// The type of an App Store notification: the raw value of a `NotificationType`.
  public var notification: String?
  /// The subtype of the notification: the raw value of a `NotificationSubtype`.
  public var subtype: String?
  /// The digest that identifies the receipt: its identity (`VerifiedReceipt.identity`) if its signature was found
  /// valid, else the same as ``encoding``.
  public var receipt: SHA256Digest?
  /// SHA-256 of the receipt as presented, its wrapping (base64, JSON, white space) removed.
  public var encoding: SHA256Digest?
  /// The identifier of the purchase event.
  public var transaction: String?
  /// The identifier of the first transaction in the line of renewals or restores.
  public var original: String?
  /// The product.
  public var product: String?
  /// The app's bundle identifier.
  public var bundle: String?
  /// The store's environment, as the receipt spells it.
  public var environment: String?
  /// The time when the subscription expires, in milliseconds since 1970.
  public var expires: Int64?
  /// The time when the store revoked or refunded the purchase, in milliseconds since 1970.
  public var revoked: Int64?
  /// The verdict.
  public var verdict: RecordedVerdict?
  /// The reason that the verdict is not valid: the raw value of a `ReasonCode`.
  public var reason: String?
  /// SHA-256 of the certificate that signed the receipt.
  public var signer: SHA256Digest?
  /// SHA-256 of the root certificate that the verdict relies on.
  public var root: SHA256Digest?
  /// The digest of the policy.
  public var policy: SHA256Digest?
  /// The answer of each checker, in the order in which they were asked.
  public var checks: [RecordedCheck]
  /// For a key entry: the public key that took over (C2SP signed-note verifier key).
  public var key: String?
  /// For an erasure: the index of the entry whose erasable part was erased.
  public var erased: UInt64?
  /// For an anchor: the number of entries in the trail that the statement covers.
  public var size: UInt64?
  /// For an anchor: the index of the newest entry of ``original``; `nil` if it has no entries.
  public var newest: UInt64?
  /// For an anchor: the number of entries of ``original``.
  public var count: UInt64?

  /// Creates facts from the values that are known.
  package init(
    time: Int64, kind: EntryKind, id: String? = nil, format: String? = nil, notification: String? = nil,
    subtype: String? = nil, receipt: SHA256Digest? = nil, encoding: SHA256Digest? = nil,
    transaction: String? = nil, original: String? = nil, product: String? = nil, bundle: String? = nil,
    environment: String? = nil,
    expires: Int64? = nil, revoked: Int64? = nil, verdict: RecordedVerdict? = nil, reason: String? = nil,
    signer: SHA256Digest? = nil, root: SHA256Digest? = nil, policy: SHA256Digest? = nil,
    checks: [RecordedCheck] = [], key: String? = nil, erased: UInt64? = nil, size: UInt64? = nil,
    newest: UInt64? = nil, count: UInt64? = nil
  ) {
    self.time = time
    self.kind = kind
    self.id = id
    self.format = format
    self.notification = notification
    self.subtype = subtype
    self.receipt = receipt
    self.encoding = encoding
    self.transaction = transaction
    self.original = original
    self.product = product
    self.bundle = bundle
    self.environment = environment
    self.expires = expires
    self.revoked = revoked
    self.verdict = verdict
    self.reason = reason
    self.signer = signer
    self.root = root
    self.policy = policy
    self.checks = checks
    self.key = key
    self.erased = erased
    self.size = size
    self.newest = newest
    self.count = count
  }
}
