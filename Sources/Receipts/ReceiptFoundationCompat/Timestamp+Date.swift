// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

extension Timestamp {
  /// Creates a timestamp from a Foundation date, rounded to whole milliseconds.
  public init(_ date: Date) {
    self.init(millisecondsSince1970: (date.timeIntervalSince1970 * 1000).rounded())
  }

  /// The timestamp as a Foundation date.
  public var date: Date { Date(timeIntervalSince1970: millisecondsSince1970 / 1000) }
}
