// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec

/// The endpoints for retention messages.
enum MessagingMessageEndpoints {
  static let routes = [
    Route("PUT", "/inApps/v1/messaging/message/{}", upload),
    Route("DELETE", "/inApps/v1/messaging/message/{}", delete),
    Route("GET", "/inApps/v1/messaging/message/list", list),
  ]

  private static let longestHeader = 66
  private static let longestBody = 144
  private static let longestAltText = 150
  private static let mostBulletPoints = 5

  @Sendable static func upload(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    let imageIdentifiers = try check(call.body())
    try call.store.state.withState { state in
      guard state.messaging.messages[identifier] == nil else { throw Refusal.messageExists }
      guard state.messaging.messages.count < EmulatorState.Messaging.greatestCount else {
        throw Refusal.tooManyMessages
      }
      for image in imageIdentifiers {
        guard let image = state.messaging.images[image] else { throw Refusal.imageNotFound }
        guard image.state == "APPROVED" else { throw Refusal.imageNotApproved }
      }
      state.messaging.messages[identifier] = .init(
        state: state.stateOfUploads, imageIdentifiers: imageIdentifiers)
    }
    return .empty()
  }

  /// - Returns: The identifiers of the message's images.
  private static func check(_ body: JSONValue) throws -> [String] {
    guard let header = body["header"]?.string, let text = body["body"]?.string else {
      throw Refusal.generalBadRequest
    }
    guard header.count <= longestHeader else { throw Refusal.headerTooLong }
    guard text.count <= longestBody else { throw Refusal.bodyTooLong }
    var images: [String] = []
    let image = body["image"]
    if let image { images.append(try checkImage(image)) }
    switch body["headerPosition"]?.string {
    case nil, "ABOVE_BODY": break
    case "ABOVE_IMAGE": if image == nil { throw Refusal.headerAboveMissingImage }
    default: throw Refusal.generalBadRequest
    }
    let bulletPoints = body["bulletPoints"]?.array ?? []
    guard bulletPoints.count <= mostBulletPoints else { throw Refusal.tooManyBulletPoints }
    for point in bulletPoints {
      guard let text = point["text"]?.string else { throw Refusal.generalBadRequest }
      guard text.count <= longestHeader else { throw Refusal.bulletPointTextTooLong }
      images.append(try checkImage(point))
    }
    return images
  }

  private static func checkImage(_ image: JSONValue) throws -> String {
    guard let identifier = image["imageIdentifier"]?.uuid, let altText = image["altText"]?.string else {
      throw Refusal.generalBadRequest
    }
    guard altText.count <= longestAltText else { throw Refusal.altTextTooLong }
    return identifier
  }

  @Sendable static func delete(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = try call.uuid()
    try call.store.state.withState { state in
      guard state.messaging.messages.removeValue(forKey: identifier) != nil else {
        throw Refusal.messageNotFound
      }
    }
    return .empty()
  }

  @Sendable static func list(_ call: EndpointCall) throws -> RemoteResponse {
    let messages = call.state.messaging.messages.sorted { $0.key < $1.key }
    return .json(
      (
        "messageIdentifiers",
        .array(
          messages.map {
            .members(("messageIdentifier", .string($0.key)), ("messageState", .string($0.value.state)))
          })
      ))
  }
}
