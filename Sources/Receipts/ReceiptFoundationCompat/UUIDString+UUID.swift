// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

extension UUIDString {
  /// Creates a value from a UUID, in lower case as Apple writes it.
  public init(_ uuid: UUID) { self.init(rawValue: uuid.uuidString.lowercased()) }

  /// The UUID; `nil` if the text is not a UUID.
  public var uuid: UUID? { UUID(uuidString: rawValue) }
}
