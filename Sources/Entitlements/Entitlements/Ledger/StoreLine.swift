// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A purchase in any store: its identity, and its standing at an instant.
///
/// It has no state of its own, because its standing changes at its due instants without news from the store.
package protocol StoreLine: Identifiable, Sendable, Hashable {
  /// The properties of the purchase that change by themselves.
  associatedtype Standing: Hashable

  /// The instants at which the standing may change by itself.
  var dueInstants: [Timestamp] { get }

  /// Returns the standing at an instant.
  func standing(at instant: Timestamp) -> Standing
}

extension StoreLine {
  /// Returns the first instant after another at which the standing changes; `nil` if it never does.
  func nextDueInstant(after instant: Timestamp) -> Timestamp? {
    let present = standing(at: instant)
    return dueInstants.sorted().first { $0 > instant && standing(at: $0) != present }
  }
}
