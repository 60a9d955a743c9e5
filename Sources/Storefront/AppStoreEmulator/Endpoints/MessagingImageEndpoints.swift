// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec

/// The endpoints for images of retention messages.
enum MessagingImageEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/messaging/image/{}", upload),
    Route("DELETE", "/inApps/v1/messaging/image/{}", delete),
    Route("GET", "/inApps/v1/messaging/image/list", list),
  ]

  private static let portableNetworkGraphics: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  @Sendable static func upload(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    let size = try call.value("imageSize", orElse: .invalidImageSize) ?? "FULL_SIZE"
    guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw Refusal.invalidImageSize }
    guard call.request.body.starts(with: portableNetworkGraphics),
      call.request.header("Content-Type")?.lowercased() == "image/png"
    else { throw Refusal.invalidImage }
    try call.store.state.withState { state in
      guard state.messaging.images[identifier] == nil else { throw Refusal.imageExists }
      guard state.messaging.images.count < EmulatorState.Messaging.greatestCount else {
        throw Refusal.tooManyImages
      }
      state.messaging.images[identifier] = .init(state: state.stateOfUploads, size: size)
    }
    return .empty()
  }

  @Sendable static func delete(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    try call.store.state.withState { state in
      guard state.messaging.images[identifier] != nil else { throw Refusal.imageNotFound }
      guard !state.messaging.messages.values.contains(where: { $0.imageIdentifiers.contains(identifier) })
      else {
        throw Refusal.imageInUse
      }
      state.messaging.images[identifier] = nil
    }
    return .empty()
  }

  @Sendable static func list(_ call: EndpointCall) throws -> RemoteResponse {
    let images = call.state.messaging.images.sorted { $0.key < $1.key }
    return .json(
      (
        "imageIdentifiers",
        .array(
          images.map {
            .members(
              ("imageIdentifier", .string($0.key)), ("imageState", .string($0.value.state)),
              ("imageSize", .string($0.value.size)))
          })
      ))
  }
}
