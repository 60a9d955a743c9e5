// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

extension JWSPayload {
  /// The same payload in another environment.
  func `in`(_ environment: ReceiptEnvironment) -> JWSPayload {
    switch self {
    case .realtimeRequest(var payload):
      payload.environment = environment
      return .realtimeRequest(payload)
    default: return setting(environment) ?? self
    }
  }

  /// The same payload without an environment; `nil` if the kind requires one.
  var withoutEnvironment: JWSPayload? { setting(nil) }

  private func setting(_ environment: ReceiptEnvironment?) -> JWSPayload? {
    switch self {
    case .transaction(var payload):
      payload.environment = environment
      return .transaction(payload)
    case .renewalInfo(var payload):
      payload.environment = environment
      return .renewalInfo(payload)
    case .appTransaction(var payload):
      payload.receiptType = environment
      return .appTransaction(payload)
    case .notification(var payload):
      payload.data?.environment = environment
      return .notification(payload)
    case .realtimeRequest: return nil
    }
  }

  /// The same payload without a signing date; `nil` if the kind requires one.
  var withoutDate: JWSPayload? {
    switch self {
    case .transaction(var payload):
      payload.signedDate = nil
      return .transaction(payload)
    case .renewalInfo(var payload):
      payload.signedDate = nil
      return .renewalInfo(payload)
    case .appTransaction(var payload):
      payload.receiptCreationDate = nil
      return .appTransaction(payload)
    case .notification(var payload):
      payload.signedDate = nil
      return .notification(payload)
    case .realtimeRequest: return nil
    }
  }
}
