// SPDX-License-Identifier: Apache-2.0

extension AppStoreServerErrorCode {
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
}
