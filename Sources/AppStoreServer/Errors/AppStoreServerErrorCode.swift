// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A code by which the App Store says why it refuses a request (`errorCode`).
///
/// Every code of Apple's documentation has a name here; any other is kept as it came.
public struct AppStoreServerErrorCode: RawRepresentable, Sendable, Hashable {
  /// The number on the wire.
  public let rawValue: Int64

  /// Creates one from any number, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The HTTP status that goes with the code: its first three digits.
  public var httpStatus: Int { Int(clamping: rawValue / 10_000) }

  /// Whether Apple documents that the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
      .rateLimitExceeded, .generalInternalRetryable:
      true
    default: false
    }
  }

  /// What a documented code means, in a sentence; `nil` for any other.
  public var meaning: String? { Self.meanings[self] }

  /// Every documented code, in ascending order.
  public static let documented: [AppStoreServerErrorCode] = documentedMeanings.map(\.code)

  private static let meanings = Dictionary(
    documentedMeanings.map { ($0.code, $0.meaning) }, uniquingKeysWith: { first, _ in first })
}

extension AppStoreServerErrorCode: JSONEnumeration {}
