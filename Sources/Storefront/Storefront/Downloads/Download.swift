// SPDX-License-Identifier: Apache-2.0

extension Download {
  /// The identifier of a download in a queue. It stays the same across relaunches.
  public struct ID: Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    init(_ transaction: PaymentTransaction.ID, _ index: Int) { rawValue = "\(transaction.rawValue)/\(index)" }
  }
  /// The identifier of the download in its queue.
  public var id: ID { ID(transaction, index) }

  /// The content's identifier (`contentIdentifier`).
  public var contentIdentifier: String { content.contentIdentifier }

  /// The content's version (`contentVersion`).
  public var contentVersion: String { content.contentVersion }

  /// The content's length in bytes (`contentLength`).
  public var contentLength: Int64 { content.contentLength }

  /// The received fraction, from 0 to 1 (`progress`). The bytes are verified only in ``State/finished``.
  public var progress: Double {
    if state == .finished { return 1 }
    guard content.contentLength > 0 else { return 0 }
    return min(Double(receivedByteCount) / Double(content.contentLength), 1)
  }
}
