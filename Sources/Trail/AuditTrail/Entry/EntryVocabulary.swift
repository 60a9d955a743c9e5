// SPDX-License-Identifier: Apache-2.0

/// The kind of an entry. The raw value is the word in the entry; unknown words are kept.
public struct EntryKind: RawRepresentable, Sendable, Hashable {
  /// The word in the entry.
  public let rawValue: String
  /// Creates a kind from any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The verdict on a receipt.
  public static let verdict = EntryKind(rawValue: "verdict")
  /// One line of purchases of an app receipt, by its newest transaction. It follows the verdict on that receipt,
  /// and was appended together with it.
  public static let purchase = EntryKind(rawValue: "purchase")
  /// The erasable part of an earlier entry was erased.
  public static let erasure = EntryKind(rawValue: "erasure")
  /// Which entry of an original transaction was the newest, and how many there were, at a size of the trail.
  public static let anchor = EntryKind(rawValue: "anchor")
  /// A key of the trail took over from the one before it: ``EntryFacts/key``.
  public static let key = EntryKind(rawValue: "key")
}

/// A verdict's three values, as entries spell them.
public enum RecordedVerdict: String, Sendable, Hashable, CaseIterable {
  /// Genuine, and as the policy requires.
  case valid
  /// Not genuine, or not as the policy requires.
  case invalid
  /// Could not be checked.
  case undetermined
}

/// The answer of one checker: a line of an entry.
public struct RecordedCheck: Sendable, Hashable {
  /// The kind of a checker's answer, in a word. An unknown word is kept.
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
    /// The source could not be asked then; asking again may help.
    public static let unavailable = Answer(rawValue: "unavailable")
    /// The source could not be asked, and asking again will not help.
    public static let failed = Answer(rawValue: "failed")
  }

  /// The checker's name.
  public var name: String
  /// Its answer.
  public var answer: Answer

  /// Creates a line.
  public init(name: String, answer: Answer) {
    self.name = name
    self.answer = answer
  }
}
