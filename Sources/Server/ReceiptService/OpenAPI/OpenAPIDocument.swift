// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import ReceiptCodec

  /// The description of the API in OpenAPI 3.1, generated from the table of its routes.
  struct OpenAPIDocument {
    let routes: [Route]
    /// The server's own address; `nil` for the address that the description was requested from.
    let url: String?

    /// The JSON Schemas that are not generated from this project's object types.
    private static let otherSchemas = #"""
      {
        "Receipt": {"description": "A receipt in any of its formats and wrappings, as bytes.", "type": "string",
          "format": "binary"},
        "WrappedReceipt": {
          "description": "A JSON object with the receipt in it, as the App Store and Google Play send them: one of the members of the App Store, or data and signature. Other wrappings are read as well.",
          "type": "object", "minProperties": 1,
          "properties": {
            "signedTransactionInfo": {"type": "string", "description": "A signed transaction."},
            "signedRenewalInfo": {"type": "string", "description": "Signed renewal information."},
            "signedAppTransactionInfo": {"type": "string", "description": "A signed app transaction."},
            "signedPayload": {"type": "string", "description": "A signed notification, or a request for a retention message."},
            "receipt-data": {"type": "string", "description": "An app receipt, in base64."},
            "latest_receipt": {"type": "string", "description": "The same, as verifyReceipt answers it."},
            "data": {"type": "string", "description": "What Google Play or Huawei signed."},
            "signature": {"type": "string", "description": "Its signature, in base64."},
            "signatureAlgorithm": {"type": "string", "description": "Its algorithm, of Huawei."}
          },
          "additionalProperties": true},
        "Receipts": {"description": "A receipt a line.", "type": "string", "format": "binary"},
        "Verdicts": {"description": "An object `verdict` a line, with the number of the line in `index`.", "type": "string"},
        "Notification": {"description": "`signedPayload` of the App Store, or a push message of Cloud Pub/Sub.",
          "type": "object",
          "properties": {
            "signedPayload": {"type": "string", "description": "The App Store's notification, version 2."},
            "message": {
              "type": "object", "description": "The message of Cloud Pub/Sub.",
              "properties": {
                "data": {"type": "string", "description": "Google Play's notification, in base64."},
                "messageId": {"type": "string", "description": "Identifies the message, however often it is delivered."},
                "publishTime": {"type": "string", "description": "When it was published."}
              },
              "additionalProperties": true},
            "subscription": {"type": "string", "description": "The subscription of the topic."}
          },
          "additionalProperties": true},
        "Description": {"type": "object", "required": ["openapi"], "properties": {"openapi": {"type": "string"}}},
        "Bytes": {"type": "string", "format": "binary"},
        "Text": {"type": "string"}
      }
      """#

    var object: JSONWriter {
      var object = JSONWriter()
      object.beginObject()
      object.member("openapi", "3.1.0")
      object.name("info")
      object.beginObject()
      object.member("title", "ReceiptKit")
      object.member(
        "description",
        "Verifies receipts, keeps entitlements and an audit trail. Each operation needs a key with the scope that its security requirement names."
      )
      object.member("version", "1")
      object.endObject()
      object.name("servers")
      object.beginArray()
      object.beginObject()
      object.member("url", url ?? "/")
      object.endObject()
      object.endArray()
      object.name("paths")
      object.beginObject()
      var paths: [String] = []
      for route in routes where !paths.contains(route.path) { paths.append(route.path) }
      for path in paths {
        object.name(Self.template(path))
        object.beginObject()
        for route in routes where route.path == path {
          object.name(route.method.rawValue.lowercased())
          write(route, to: &object)
        }
        object.endObject()
      }
      object.endObject()
      object.name("components")
      object.beginObject()
      object.name("securitySchemes")
      object.beginObject()
      object.name("key")
      object.beginObject()
      object.member("type", "http")
      object.member("scheme", "bearer")
      object.member("description", "A key of this server: rk_…")
      object.endObject()
      object.endObject()
      object.name("schemas")
      object.beginObject()
      for text in [APIComponents.json, Self.otherSchemas] {
        for member in (try? JSONValue(parsing: Array(text.utf8)))?.object ?? [] {
          object.name(member.name)
          object.value(member.value)
        }
      }
      object.endObject()
      object.endObject()
      object.endObject()
      return object
    }

    /// Converts a path or a parameter's name to OpenAPI's syntax, which has no parameter for the whole rest of a path.
    ///
    /// The slashes of such a value can be percent-encoded.
    private static func template(_ path: String) -> String {
      String(path.filter { $0 != "+" })
    }

    private func write(_ route: Route, to object: inout JSONWriter) {
      object.beginObject()
      object.member("operationId", route.operation)
      object.member("summary", route.summary)
      object.name("security")
      object.beginArray()
      if case .key(let scope, _) = route.respond {
        object.beginObject()
        object.name("key")
        object.beginArray()
        object.string(scope.rawValue)
        object.endArray()
        object.endObject()
      }
      object.endArray()
      object.name("parameters")
      object.beginArray()
      for parameter in route.parameters { write(parameter, to: &object) }
      object.endArray()
      if !route.body.isEmpty {
        object.name("requestBody")
        object.beginObject()
        object.member("required", true)
        write(route.body, to: &object)
        object.endObject()
      }
      object.name("responses")
      object.beginObject()
      for answer in route.answers {
        object.name(String(answer.status))
        object.beginObject()
        object.member("description", answer.meaning)
        if !answer.content.isEmpty { write(answer.content, to: &object) }
        object.endObject()
      }
      object.name("default")
      object.beginObject()
      object.member("description", "The request was not answered as it was meant.")
      write(Route.Content.problem, to: &object)
      object.endObject()
      object.endObject()
      object.endObject()
    }

    private func write(_ parameter: Route.Parameter, to object: inout JSONWriter) {
      object.beginObject()
      object.member("name", Self.template(parameter.name))
      object.member("in", parameter.place.rawValue)
      object.member("description", parameter.meaning)
      object.member("required", parameter.place == .path ? true : nil)
      object.name("schema")
      object.beginObject()
      switch parameter.kind {
      case .text:
        object.member("type", "string")
        if parameter.place == .path { object.member("minLength", 1 as Int64) }
      case .integer(let range):
        object.member("type", "integer")
        object.member("minimum", range.lowerBound)
        object.member("maximum", range.upperBound)
      }
      object.endObject()
      object.endObject()
    }

    private func write(_ contents: [Route.Content], to object: inout JSONWriter) {
      object.name("content")
      object.beginObject()
      for content in contents {
        object.name(content.mediaType)
        object.beginObject()
        object.name("schema")
        object.beginObject()
        object.member("$ref", "#/components/schemas/\(content.schema)")
        object.endObject()
        object.endObject()
      }
      object.endObject()
    }
  }
#endif
