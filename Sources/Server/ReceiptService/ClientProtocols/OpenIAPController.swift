// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import FoundationEssentials
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec

  /// Answers apps that speak OpenIAP: react-native-iap, expo-iap, flutter_inapp_purchase, kmp-iap and others.
  ///
  /// The protocol is that of OpenIAP 3.2 (<https://www.openiap.dev>).
  struct OpenIAPController {
    /// The maximum length of a key in a request.
    private static let maximumKeyByteCount = 128
    /// The maximum length of a body.
    static let maximumBodyByteCount = 32 << 10
    /// The paths of the one operation.
    static let paths = ["/v1/purchase/verify", "/api/v1/purchase/verify", "/v1/verify-purchase"]

    let gate: ClientGate

    var routes: [Route] {
      [
        .verifyClientPurchase(verify), .verifyClientPurchaseWithPrefix(verify),
        .verifyClientPurchaseAlias(verify),
      ]
    }

    private func verify(_ request: Request, _ context: ServiceContext) async -> Response {
      let correlation = Self.correlation()
      var allowance: ClientRateLimit.Allowance?
      var response: Response
      do {
        let identified = try await gate.call(request, presenting: try Self.key(of: request), context)
        allowance = identified.allowance
        let body = try await gate.body(
          of: request, maximumByteCount: Self.maximumBodyByteCount, context)
        response = try await gate.admission.serve(in: identified.places, context) {
          let purchase = try OpenIAPRequest(Self.json(body, request.headers))
          let judge = OpenIAPJudge(verification: try gate.verification(for: identified))
          return .json(try await judge.verdict(on: purchase).json())
        }
      } catch {
        if case ClientRefusal.tooManyRequests(let exceeded) = error {
          allowance = ClientRateLimit.Allowance(limit: exceeded.limit, remaining: 0)
        }
        response = OpenIAPFailure(for: error, correlation: correlation, context.logger).response
      }
      Self.addFields(to: &response.headers, correlation: correlation, allowance, gate.admission.openPlaces)
      return response
    }

    /// A new identifier of a request.
    static func correlation() -> String { UUID().uuidString.lowercased() }

    /// Adds the header fields that every answer has, and those about the limits of a client.
    static func addFields(
      to fields: inout HTTPFields, correlation: String, _ allowance: ClientRateLimit.Allowance?,
      _ places: RequestPlaces
    ) {
      fields[correlationID] = correlation
      guard let allowance else { return }
      for (name, value) in zip(rateLimit, [String(allowance.limit), String(allowance.remaining), "ip"]) {
        fields[name] = value
      }
      for (name, value) in zip(concurrency, [String(places.maximum), String(places.remaining), "global"]) {
        fields[name] = value
      }
    }

    /// The key in the header field `Authorization`; `nil` if there is none.
    ///
    /// - Throws: ``OpenIAPFailure`` if it has another form.
    static func key(of request: Request) throws(OpenIAPFailure) -> Substring? {
      let values = request.headers[values: .authorization]
      guard let value = values.first else { return nil }
      let key = value.dropFirst("Bearer ".count)
      guard values.count == 1, value.hasPrefix("Bearer "), 1...maximumKeyByteCount ~= key.utf8.count,
        key.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
      else {
        throw OpenIAPFailure(
          .forbidden, "INVALID_API_KEY",
          "The header field is Authorization: Bearer and a key of at most \(maximumKeyByteCount) characters.")
      }
      return key
    }

    /// The JSON of a body; an empty object if its media type is another one.
    private static func json(_ body: [UInt8], _ fields: HTTPFields) throws(OpenIAPFailure) -> JSONValue {
      guard isJSON(fields) else { return .object([]) }
      guard let value = try? JSONValue(parsing: body) else {
        throw OpenIAPFailure(.badRequest, OpenIAPFailure.invalidInput, "Body is not JSON")
      }
      guard value.object != nil else {
        throw OpenIAPFailure(.badRequest, OpenIAPFailure.invalidInput, "Body is not an object")
      }
      return value
    }

    static func isJSON(_ fields: HTTPFields) -> Bool {
      let type = (fields[.contentType] ?? "").prefix { $0 != ";" }.trimmed.lowercased()
      return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    private static let correlationID = field("X-Correlation-Id")
    private static let rateLimit = ["Limit", "Remaining", "Scope"].map { field("X-RateLimit-\($0)") }
    private static let concurrency = ["Limit", "Remaining", "Scope"].map { field("X-Concurrency-\($0)") }

    private static func field(_ name: String) -> HTTPField.Name {
      guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is no token") }
      return field
    }
  }
#endif
