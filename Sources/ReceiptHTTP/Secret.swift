// SPDX-License-Identifier: Apache-2.0

/// A text that must not be seen: whatever prints it, dumps it or logs it gets asterisks.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The text, for where it is sent.
  package let text: String

  /// Wraps a text.
  public init(_ text: String) { self.text = text }

  /// Asterisks.
  public var description: String { "***" }
  /// Asterisks.
  public var debugDescription: String { "***" }
  /// Nothing of the text.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
