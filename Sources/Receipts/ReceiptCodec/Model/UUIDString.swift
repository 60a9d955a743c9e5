// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A UUID as a payload writes it. The spelling is kept: upper or lower case, and even text that is no UUID.
public struct UUIDString: RawRepresentable, Sendable, Hashable, Codable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates one from a UUID, in lower case, as Apple writes them.
  public init(_ uuid: UUID) { self.rawValue = uuid.uuidString.lowercased() }

  /// The UUID, or `nil` if the text is not one.
  public var uuid: UUID? { UUID(uuidString: rawValue) }
}

extension UUIDString: JSONEnumeration {}
