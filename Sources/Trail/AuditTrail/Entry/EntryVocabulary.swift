// SPDX-License-Identifier: Apache-2.0

/// The kind of an entry.
///
/// The raw value is the word in the entry; an unknown word is preserved.
public struct EntryKind: RawRepresentable, Sendable, Hashable {
  /// The word in the entry.
  public let rawValue: String
  /// Creates a kind from any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The verdict on a receipt.
  public static let verdict = EntryKind(rawValue: "verdict")
  /// One line of purchases of an app receipt, represented by its newest transaction.
  ///
  /// The entry follows the verdict on that receipt, and was appended together with it.
  public static let purchase = EntryKind(rawValue: "purchase")
  /// The erasure of an earlier entry's erasable part.
  public static let erasure = EntryKind(rawValue: "erasure")
  /// A statement, at a size of the trail, of the newest entry of an original transaction and the number of its entries.
  public static let anchor = EntryKind(rawValue: "anchor")
  /// The replacement of the trail's key by another one: ``EntryFacts/key``.
  public static let key = EntryKind(rawValue: "key")
}

/// The three values of a verdict, as entries spell them.
public enum RecordedVerdict: String, Sendable, Hashable, CaseIterable {
  /// The receipt is genuine, and meets the policy.
  case valid
  /// The receipt is not genuine, or does not meet the policy.
  case invalid
  /// The receipt could not be checked.
  case undetermined
}

/// The answer of one checker: a line of an entry.
public struct RecordedCheck: Sendable, Hashable {
  /// The kind of a checker's answer, as a word.
  ///
  /// An unknown word is preserved.
  public struct Answer: RawRepresentable, Sendable, Hashable {
    /// The word in the entry.
    public let rawValue: String
    /// Creates an answer from any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The source knows the purchase, and it is in force.
    public static let confirmed = Answer(rawValue: "confirmed")
    /// The source says that the purchase was revoked or refunded.
    public static let revoked = Answer(rawValue: "revoked")
    /// The source does not know the purchase, or contradicts the receipt.
    public static let refused = Answer(rawValue: "refused")
    /// The source could not be asked at that time; asking again may help.
    public static let unavailable = Answer(rawValue: "unavailable")
    /// The source could not be asked, and asking again will not help.
    public static let failed = Answer(rawValue: "failed")
  }

  /// The checker's name.
  public var name: String
  /// The checker's answer.
  public var answer: Answer

  package init(name: String, answer: Answer) {
    self.name = name
    self.answer = answer
  }
}
