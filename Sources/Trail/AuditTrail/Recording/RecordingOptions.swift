// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The options for data that is kept in addition to the facts, in the erasable part.
public struct RecordingOptions: Sendable, Hashable {
  /// `true` if the receipt itself is kept, so that it can be verified again years later; `true` by default.
  package var keepsReceipt: Bool
  /// The maximum length, in bytes, of a kept receipt whose signature was not found valid.
  ///
  /// Anyone can send such receipts, and they must not fill the disk. 65,536 by default; of a longer receipt, only the
  /// digest is recorded.
  package var maximumUnverifiedByteCount: Int
  /// The customer's identifier, in the caller's own terms and at most 65,535 bytes; by default the `appAccountToken`
  /// that the receipt states.
  package var customer: String?

  /// The maximum length of a kept receipt: a trail accepts no longer one.
  static let maximumReceiptByteCount = 15 << 20
  /// The maximum length of a recorded identifier, in bytes.
  static let maximumIdentifierByteCount = 512

  /// Creates options; the defaults keep everything that a later dispute needs.
  public init(keepsReceipt: Bool = true, maximumUnverifiedByteCount: Int = 65536, customer: String? = nil) {
    self.keepsReceipt = keepsReceipt
    self.maximumUnverifiedByteCount = maximumUnverifiedByteCount
    self.customer = customer
  }

  /// Returns the only spelling in which a customer is recorded and looked up: a UUID in lower case, as the App Store
  /// writes it; any other text unchanged.
  package static func canonicalCustomer(_ text: String) -> String { UUIDString.canonical(text) }
}
