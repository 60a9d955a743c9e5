// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The changes of a purchase's standing, as far as they are known now.
package struct StandingTimeline: Sendable, Hashable {
  struct Change: Sendable, Hashable {
    let status: PurchaseStanding.Status
    /// The instant from which the status holds; only that of the first change may be `nil`.
    let since: Timestamp?
  }

  /// The changes, earliest first; at least one.
  private var changes: [Change]
  private let source: PurchaseStanding.Source

  /// Creates the timeline of a standing that does not change.
  package init(_ status: PurchaseStanding.Status, since: Timestamp?, _ source: PurchaseStanding.Source) {
    changes = [Change(status: status, since: since)]
    self.source = source
  }

  /// Creates the timeline of a purchase whose status is computed for any instant.
  ///
  /// - Parameters:
  ///   - start: The time of the purchase. An instant before it has the status of that time, because earlier purchases
  ///     are not known.
  ///   - due: The instants at which the status may change by itself, in any order.
  ///   - source: The statement from which it follows.
  ///   - status: Returns the status at an instant.
  package init(
    from start: Timestamp?, due: [Timestamp], _ source: PurchaseStanding.Source,
    status: (Timestamp) -> PurchaseStanding.Status
  ) {
    let first = start ?? Timestamp(millisecondsSince1970: -Timestamp.greatestMagnitude)
    self.init(status(first), since: start, source)
    for instant in due.sorted() where instant > first {
      let next = status(instant)
      if next != changes[changes.count - 1].status { changes.append(Change(status: next, since: instant)) }
    }
  }

  /// Lets the purchase expire at an instant, if it is active then.
  mutating func expire(at instant: Timestamp) {
    guard standing(at: instant).status == .active else { return }
    changes.removeAll { change in change.since.map { $0 >= instant } ?? false }
    changes.append(Change(status: .expired, since: instant))
  }

  /// Replaces the timeline by what a source states.
  mutating func replace(with checked: CheckedStanding) {
    self = StandingTimeline(checked.status, since: checked.since ?? changes.first?.since, checked.source)
    if let end = checked.expiresDate { expire(at: end) }
  }

  package func standing(at instant: Timestamp) -> PurchaseStanding {
    let index = changes.lastIndex { change in change.since.map { $0 <= instant } ?? true } ?? 0
    return PurchaseStanding(
      status: changes[index].status, since: changes[index].since,
      until: index + 1 < changes.count ? changes[index + 1].since : nil, source: source)
  }
}

extension PurchaseStanding {
  /// `true` if the customer may use what was bought: only while the purchase is active.
  public var grantsAccess: Bool { status == .active }

  /// Writes the members that every report on a purchase has beside `grantsAccess`.
  package func write(to object: inout JSONWriter) {
    object.member("standing", status.rawValue)
    object.member("standingSince", since)
    object.member("standingUntil", until)
    object.member("standingSource", source.rawValue)
  }
}

extension CheckedStanding {
  /// Creates the statement of a source about all purchases of a receipt.
  package init(_ standing: PurchaseStanding) {
    self.init(
      status: standing.status, since: standing.since,
      expiresDate: standing.status == .active ? standing.until : nil)
  }
}
