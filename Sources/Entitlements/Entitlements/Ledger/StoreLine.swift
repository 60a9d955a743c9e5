// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The shape of a purchase in any store: who it is, and what it is worth at an instant. It holds no state of its own, since
/// it changes without a word from the store at its due instants.
package protocol StoreLine: Identifiable, Sendable, Hashable {
  /// What is told of it at an instant, as far as it changes by itself.
  associatedtype Standing: Hashable

  /// The instants at which the standing may change by itself.
  var dueInstants: [Timestamp] { get }

  /// What is told of it at an instant.
  func standing(at instant: Timestamp) -> Standing
}

extension StoreLine {
  /// The first instant after another at which the standing is not what it was before; `nil` for none.
  func nextDueInstant(after instant: Timestamp) -> Timestamp? {
    let present = standing(at: instant)
    return dueInstants.sorted().first { $0 > instant && standing(at: $0) != present }
  }
}
