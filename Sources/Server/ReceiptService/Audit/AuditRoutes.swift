// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Foundation
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification
  internal import TransparencyLog

  extension ReceiptAPI {
    var auditRoutes: [Route] {
      let entries = [Route.Content(mediaType: "application/json", schema: "entries")]
      return [
        Route(
          method: .get, path: "/v1/audit/entries", operation: "findEntries", access: .key(.read),
          summary:
            "Entries of the audit trail, newest first: all, or those of one original transaction, transaction, product, receipt or customer.",
          parameters: [
            .query("original", .text, "An original transaction."),
            .query("transaction", .text, "A transaction."), .query("product", .text, "A product."),
            .query("receipt", .text, "The SHA-256 of a receipt, in hexadecimal."),
            .query("customer", .text, "A customer."),
            .query(
              "before", .integer(0...Int64.max), "Only entries with a smaller index, for the next page."),
            Self.limitParameter, Self.appParameter,
          ],
          answers: [(200, "The entries.", entries)],
          respond: { [unowned self] in try await findEntries($0, $1) }),
        Route(
          method: .get, path: "/v1/audit/entries/{index}", operation: "getEntry", access: .key(.read),
          summary: "An entry of the audit trail.",
          parameters: [.path("index", .integer(0...Int64.max), "Its index."), Self.appParameter],
          answers: [
            (200, "The entry.", [.init(mediaType: "application/json", schema: "audit-entry")])
          ],
          respond: { [unowned self] request, context in
            let audience = try audience(of: request, context)
            let index = try entryIndex(context)
            let value = try await log().read { view in
              try Self.json(of: try Self.visible(view, index, audience), in: view)
            }
            return .json(value)
          }),
        Route(
          method: .get, path: "/v1/audit/entries/{index}/proof", operation: "getProof", access: .key(.read),
          summary:
            "The proof that an entry is in the trail (C2SP tlog-proof), with the entry itself and the trail's public key: it can be checked without this server.",
          parameters: [.path("index", .integer(0...Int64.max), "The entry's index."), Self.appParameter],
          answers: [(200, "The proof.", [.init(mediaType: "application/json", schema: "proof")])],
          respond: { [unowned self] in try await proof($0, $1) }),
        Route(
          method: .get, path: "/v1/audit/log/{file+}", operation: "getLogFile", access: .key(.read),
          summary:
            "The log as C2SP tlog-tiles: checkpoint, tile/…, tile/entries/…. For keys that are not confined to an app.",
          parameters: [.path("file+", .text, "The path of the file; its slashes may be percent-encoded.")],
          answers: [
            (
              200, "The file.",
              [
                .init(mediaType: "application/octet-stream", schema: "Bytes"),
                .init(mediaType: "text/plain", schema: "Text"),
              ]
            )
          ],
          respond: { [unowned self] _, context in
            guard context.principal?.app == nil else { throw Problem.notFound }
            let path = context.parameters.getCatchAll().joined(separator: "/").removingPercentEncoding
            guard let path, let contents = try await log().read({ try $0.file(at: path) }) else {
              throw Problem.notFound
            }
            let isCheckpoint = path == "checkpoint"
            return Response(
              status: .ok,
              headers: [
                .contentType: isCheckpoint ? "text/plain; charset=utf-8" : "application/octet-stream",
                .cacheControl: isCheckpoint ? "no-cache" : "private, max-age=31536000, immutable",
              ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: contents)))
          }),
      ]
    }

    func log() throws -> AuditLog {
      guard let log = configuration.auditLog else { throw Problem.notFound }
      return log
    }

    func entryIndex(_ context: ServiceContext) throws -> UInt64 {
      guard let index = context.parameters.get("index").flatMap({ UInt64($0) }) else {
        throw Problem.notFound
      }
      return index
    }

    /// The audit entries that a request may see.
    ///
    /// These are the entries of the app that the request names or that its key is confined to. They are all entries if
    /// the key is for all apps and the request names no app.
    func audience(of request: Request, _ context: ServiceContext) throws -> EntryAudience {
      guard let principal = context.principal else { return .nobody }
      if principal.app == nil, try queryParameter("app", of: request) == nil { return .all }
      return .app(try app(of: request, principal))
    }

    /// Returns an entry if an audience may see it; otherwise `nil`.
    static func visible(
      _ view: TrailView, _ index: UInt64, _ audience: EntryAudience
    ) throws -> RecordedEntry {
      guard index < view.size else { throw Problem.notFound }
      let recorded = try view.entry(at: index)
      guard audience.includes(recorded.entry) else { throw Problem.notFound }
      return recorded
    }

    static func json(of recorded: RecordedEntry, in view: TrailView) throws -> JSONWriter {
      var object = JSONWriter(type: "audit-entry")
      try EntryReport(recorded, in: view).append(to: &object)
      object.endObject()
      return object
    }

    /// The entries of an original transaction that an app may see.
    func auditEntries(original: String, app: ServedApp) async throws -> [JSONWriter] {
      guard let log = configuration.auditLog else { return [] }
      return try await log.read { view in
        try view.history(original: original, limit: 1000).filter { app.isAbout($0.entry) }.map {
          try Self.json(of: $0, in: view)
        }
      }
    }

    private func findEntries(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let audience = try audience(of: request, context)
      var search = EntrySearch()
      search.before = UInt64(try integerParameter("before", of: request, 0...Int64.max, default: .max))
      search.limit = Int(try integerParameter("limit", of: request, 1...1000, default: 100))
      for (name, key) in EntrySearch.keys {
        guard let value = try queryParameter(name, of: request) else { continue }
        guard search.key == nil else { throw Problem.invalid(name, "Search for one thing at a time.") }
        search.key = (key, value)
      }
      return .json(
        try await log().read { [search] view in
          var object = JSONWriter(type: "entries")
          let page = try search.page(in: view) { audience.includes($0) }
          object.name("entries")
          object.beginArray()
          for recorded in page.entries { object.append(try Self.json(of: recorded, in: view)) }
          object.endArray()
          object.member("before", page.next)
          object.endObject()
          return object
        })
    }

    private func proof(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let audience = try audience(of: request, context)
      let index = try entryIndex(context)
      let log = try log()
      return .json(
        try await log.read { view in
          let recorded = try Self.visible(view, index, audience)
          guard let checkpoint = view.checkpoint, index < checkpoint.checkpoint.size else {
            throw Problem(
              .serviceUnavailable, "not-yet-published",
              "No checkpoint covers the entry yet; one is published within seconds.", retryAfter: 1)
          }
          let proof = try view.proof(of: index)
          var object = JSONWriter(type: "proof")
          object.member("index", index)
          object.member("entry", String(decoding: recorded.bytes, as: UTF8.self))
          object.member("size", checkpoint.checkpoint.size)
          object.member("root", checkpoint.checkpoint.root.description)
          object.name("hashes")
          object.beginArray()
          for hash in proof.inclusionProof { object.string(hash.description) }
          object.endArray()
          object.member("proof", String(decoding: proof.encoded, as: UTF8.self))
          object.member("publicKey", log.keys.current.text)
          object.endObject()
          return object
        })
    }
  }

  /// The audit entries that a reader may see, for both the API and the console.
  enum EntryAudience: Sendable {
    /// No entries, since there is no key.
    case nobody
    /// The entries of one app.
    case app(ServedApp)
    /// The entries of all apps, and those of policies that are no longer in the configuration.
    case all

    func includes(_ entry: AuditEntry) -> Bool {
      switch self {
      case .nobody: false
      case .app(let app): app.isAbout(entry)
      case .all: true
      }
    }
  }

  extension ServedApp {
    /// Returns `true` if an entry is about this app.
    ///
    /// An entry with a bundle identifier is about the app if one of the app's policies accepts that identifier. An
    /// entry without one, such as that of a refused receipt, is about the app if the verdict used one of the app's
    /// policies.
    func isAbout(_ entry: AuditEntry) -> Bool {
      guard let bundle = entry.bundle else {
        guard let digest = entry.policy else { return false }
        return policies.values.contains { $0.recorder?.policyDigest == digest }
      }
      return configuration.policies.values.contains { verifier in
        switch verifier.policy.bundleIds {
        case .any: true
        case .oneOf(let bundles): bundles.contains(bundle)
        }
      }
    }
  }

  /// The criteria of a search in the audit trail.
  struct EntrySearch: Sendable {
    enum Key: Sendable { case original, transaction, product, receipt, customer }

    static let keys: [(String, Key)] = [
      ("original", .original), ("transaction", .transaction), ("product", .product), ("receipt", .receipt),
      ("customer", .customer),
    ]

    var key: (Key, String)?
    var before = UInt64.max
    var limit = 100

    /// A page of entries for which `isWanted` is true, latest first.
    ///
    /// At most ten thousand entries are examined.
    ///
    /// - Returns: The entries, and the start of the next page, if there is one.
    func page(
      in view: TrailView, where isWanted: (AuditEntry) -> Bool
    ) throws -> (entries: [RecordedEntry], next: UInt64?) {
      var found: [RecordedEntry] = []
      var search = self
      search.limit = 250
      for _ in 0..<40 {
        let batch = try search.candidates(in: view)
        for recorded in batch where isWanted(recorded.entry) {
          found.append(recorded)
          if found.count == limit { return (found, recorded.index == 0 ? nil : recorded.index) }
        }
        guard let last = batch.last, batch.count == search.limit, last.index > 0 else { return (found, nil) }
        search.before = last.index
      }
      return (found, search.before)
    }

    /// The next entries with the key, of any app.
    private func candidates(in view: TrailView) throws -> [RecordedEntry] {
      switch key {
      case (.original, let value)?:
        return try view.history(original: value, before: before, limit: limit)
      case (.transaction, let value)?:
        return try view.entries(transaction: value, before: before, limit: limit)
      case (.product, let value)?:
        return try view.entries(product: value, before: before, limit: limit)
      case (.customer, let value)?:
        return try view.entries(
          customer: RecordingOptions.canonicalCustomer(value), before: before, limit: limit)
      case (.receipt, let value)?:
        guard let digest = SHA256Digest(hexadecimal: value) else {
          throw Problem.invalid("receipt", "A SHA-256 has 64 hexadecimal digits.")
        }
        return try view.entries(receipt: digest, before: before, limit: limit)
      case nil:
        let end = min(before, view.size)
        return try (end - min(end, UInt64(limit))..<end).reversed().map { try view.entry(at: $0) }
      }
    }
  }
#endif
