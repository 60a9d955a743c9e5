// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptCodec
import ReceiptHTTP
import ReceiptHTTPCurl

extension StoreControlCommand {
  func validate() throws { _ = try body() }

  private func body() throws -> JSONValue {
    var object: [JSONMember] = []
    for member in members {
      guard let end = member.firstIndex(of: "=") else {
        throw ValidationError("\(member) is not NAME=VALUE.")
      }
      let text = String(member[member.index(after: end)...])
      var name = String(member[..<end])
      let isJSON = name.hasSuffix(":")
      if isJSON { name.removeLast() }
      let value = try? JSONValue(parsing: Array(text.utf8))
      switch value {
      case let value? where isJSON: object.append(JSONMember(name: name, value: value))
      case .number?, .bool?, .null?:
        object.append(JSONMember(name: name, value: Self.plain(name, text, value)))
      default:
        guard !isJSON else { throw ValidationError("\(member): what follows := is no JSON.") }
        object.append(JSONMember(name: name, value: .string(text)))
      }
    }
    return .object(object)
  }

  /// Converts a value to JSON. Identifiers become strings, even if they look like numbers.
  private static func plain(_ name: String, _ text: String, _ value: JSONValue?) -> JSONValue {
    let isText = name.hasSuffix("Id") || name == "account" || name == "organizer"
    return isText ? .string(text) : value ?? .string(text)
  }

  func run() async throws {
    let url = try server.url(emulator).appending(pathSegments: ["_emulator", control])
    let transport = server.transport()
    let response: RemoteResponse
    do {
      response = try await transport.send(
        RemoteRequest(
          .post, url, headers: [HTTPHeader("Content-Type", "application/json")], body: body().encoded(),
          timeout: .milliseconds(Int64((server.deadline ?? 30) * 1000)), maximumResponseByteCount: 256 << 20))
    } catch {
      throw ToolExit.failure(.undetermined, "\(error)")
    }
    guard response.status == 200 else {
      let reason =
        (try? JSONValue(parsing: response.body))?["error"]?.string ?? "the status is \(response.status)"
      throw ToolExit.failure(.invalid, reason)
    }
    try Output.APIResponse.write(response.body, of: "POST /_emulator/\(control)", json: output.json)
  }
}
