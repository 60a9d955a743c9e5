// SPDX-License-Identifier: Apache-2.0

public import GooglePlay
internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptVerification

/// Checks with Google Play that a purchase is known, paid for and not refunded.
///
/// It also checks the product, the order and the owner.
///
/// A signed purchase of Google Play proves that the purchase was made, and not that it is still valid: it states no
/// expiry and no refund. If a receipt is an order list with several purchases, each is asked about. If some were
/// refunded and others are valid, the answer names those refunded.
public struct GooglePlayChecker: RemoteChecker {
  /// `google-play`.
  public let name = "google-play"
  /// Google Play's purchases.
  public let kinds: Set<ReceiptKind>? = [.googlePlayPurchase]
  /// The requirements; the account is compared with the one that the app stated (`obfuscatedExternalAccountId`).
  package var requirements: PurchaseRequirements
  private let client: GooglePlayClient
  /// The largest number of purchases in a receipt; order lists have few, and each costs a request.
  private static let maximumPurchaseCount = 100

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - client: Asks about the purchases of any app of its service account.
  ///   - requirements: The requirements.
  public init(client: GooglePlayClient, requirements: PurchaseRequirements = PurchaseRequirements()) {
    self.client = client
    self.requirements = requirements
  }

  /// Asks about the purchases of a receipt.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    let purchases: [GooglePlayPurchase]
    switch receipt.content {
    case .detached(.googlePlayPurchase(let purchase)): purchases = [purchase]
    // A purchase that was not paid for when the list was signed does not belong to the receipt.
    case .detached(.googlePlayOrders(let list)): purchases = list.orders.filter(\.isPaid)
    default:
      return .terminalFailure(message: "Google Play knows its own purchases, not a \(receipt.kind.rawValue).")
    }
    guard let packageName = receipt.bundleId else {
      return .terminalFailure(message: "The receipt names no package.")
    }
    guard purchases.count <= Self.maximumPurchaseCount else {
      return .terminalFailure(message: "The receipt has more than \(Self.maximumPurchaseCount) purchases.")
    }
    let client = client.calling(for: packageName)
    if purchases.count == 1 { return await PlayInquiry(client, requirements).answer(purchases[0]) }
    return await answer(purchases, of: receipt, PlayInquiry(client, requirements))
  }

  /// Combines the answers about several purchases. The receipt is refused if one purchase is, and revoked if all are;
  /// otherwise the answer names the revoked ones.
  private func answer(
    _ purchases: [GooglePlayPurchase], of receipt: VerifiedReceipt, _ inquiry: PlayInquiry
  ) async -> CheckerAnswer {
    var revoked: [CheckerResponse.RevokedTransaction] = []
    var environment: ReceiptEnvironment.Category?
    var notes: [String] = []
    for purchase in purchases {
      let answer = await inquiry.answer(purchase)
      guard case .response(let response) = answer else { return answer }
      switch response.standing {
      case .confirmed:
        environment = response.environment
        if let note = response.note { notes.append(note) }
      case .refused, .unknown: return .response(response)
      case .revoked(let date):
        guard let id = purchase.orderId, !id.isEmpty else { return .response(response) }
        revoked.append(
          CheckerResponse.RevokedTransaction(transactionId: id, revocationDate: date ?? inquiry.now))
      }
    }
    var response = RevocationFinding.response(revoked, of: receipt, environment: environment)
    if response.standing == .confirmed, !notes.isEmpty { response.note = notes.joined(separator: " ") }
    return .response(response)
  }
}
