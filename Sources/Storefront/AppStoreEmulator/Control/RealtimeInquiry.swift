// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// `POST /_emulator/realtime`: asks the developer's server for a retention message about a subscription, and checks the
/// answer.
struct RealtimeInquiry {
  let store: EmulatedAppStore

  private typealias Failure = EmulatorControl.Failure

  /// - Returns: The members of the answer: `status`, `response` and `problems`. `problems` is empty if the App Store
  ///   would show the message in the server's answer.
  func ask(_ control: RealtimeControl) async throws -> JSONMembers {
    let original = control.originalTransactionId
    guard let state = try await store.purchases.subscriptionState(original) else {
      throw Failure("There is no subscription \"\(original)\".")
    }
    guard let url = control.url ?? store.state.withState({ $0.messaging.realtimeURL }) else {
      throw Failure(
        "There is no realtime URL. Set it with PUT /inApps/v1/messaging/realtime/url, or give \"url\".")
    }
    guard let sender = store.sender else { throw Failure("This emulator sends nothing.") }
    let configuration = store.configuration
    let request = RealtimeRequest(
      originalTransactionId: original, appAppleId: configuration.appAppleId,
      productId: state.subscription.productIdentifier,
      userLocale: control.userLocale,
      requestIdentifier: DeveloperSigner.randomNonce(), environment: configuration.environment,
      signedDate: configuration.clock())
    let body = ["signedPayload": store.signing.sign(.realtimeRequest(request))] as JSONMembers
    let response: RemoteResponse
    do throws(HTTPTransportError) { response = try await sender.ask(body.encoded(), at: url) } catch {
      return ["problems": ["There is no answer: \(error)"]]
    }
    return [
      "status": response.status, "response": try? JSONValue(parsing: response.body),
      "problems": problems(response),
    ]
  }

  private func problems(_ response: RemoteResponse) -> [String] {
    guard response.status == 200 else { return ["The status is \(response.status), and not 200."] }
    let answer: RealtimeResponse
    do throws(MalformedReceipt) {
      answer = try RealtimeResponse(json: response.body, part: "realtime response", limits: .standard)
    } catch {
      return ["The answer cannot be read: \(error.description)"]
    }
    let messages = [
      answer.message.map(\.messageIdentifier), answer.alternateProduct.map(\.messageIdentifier),
      answer.promotionalOffer.map(\.messageIdentifier), answer.advancedCommerceInfo.map(\.messageIdentifier),
    ].compactMap(\.self)
    guard messages.count == 1, let message = messages[0]?.uuid.map({ UUIDString($0).rawValue }) else {
      return [
        "The answer must have one of message, alternateProduct, promotionalOffer and advancedCommerceInfo, with its messageIdentifier."
      ]
    }
    let state = store.state.withState { $0.messaging.messages[message]?.state }
    switch state {
    case "APPROVED"?: return []
    case nil: return ["There is no message \(message)."]
    case let state?: return ["The message \(message) is \(state), and not approved."]
    }
  }
}
