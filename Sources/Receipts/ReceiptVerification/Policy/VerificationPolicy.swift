// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension VerificationPolicy {
  /// The instant that the time rule states; `nil` if it is that of signing, or now.
  package var statedInstant: Timestamp? { if case .at(let instant) = timeRule { instant } else { nil } }

  /// The instant at which the standing of purchases is evaluated: that of the time rule, or now.
  package var instant: Timestamp { statedInstant ?? SystemClock.now() }

  /// The rule for the apps whose receipts are accepted.
  public enum BundleRule: Sendable, Hashable {
    /// Receipts of any app: for tools, not for deciding what a customer may use.
    case any
    /// Receipts with these bundle identifiers, compared byte for byte.
    ///
    /// A kind that names no bundle (renewal info, realtime request) passes. A receipt that should name its bundle and
    /// does not is refused.
    case oneOf(Set<String>)
  }

  /// The cases in which the signature alone is sufficient although a checker could not be reached
  /// (``CheckerAnswer/retryableFailure(message:)``).
  ///
  /// The checker's answer is then unknown: a purchase may have been refunded.
  public enum OfflineRule: Sendable, Hashable {
    /// An unreachable checker makes the verdict undetermined.
    case insufficient
    /// The signature is sufficient while any checker is unreachable.
    case sufficient
    /// The signature is sufficient while checkers with these names are unreachable.
    case sufficientWithout(Set<String>)

    func accepts(without checker: String) -> Bool {
      switch self {
      case .insufficient: false
      case .sufficient: true
      case .sufficientWithout(let names): names.contains(checker)
      }
    }
  }
}
