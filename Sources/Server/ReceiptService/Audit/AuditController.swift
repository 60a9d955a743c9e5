// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Foundation
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import TransparencyLog

  /// Answers the audit trail: entries, proofs and the files of the log.
  struct AuditController {
    let auditLog: AuditLog?

    var routes: [Route] { [.findEntries(find), .getEntry(entry), .getProof(proof), .getLogFile(file)] }

    private func find(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> EntryPage {
      let request = call.request
      let audience = try call.audience()
      var search = EntrySearch()
      search.before = UInt64(try request.integerParameter("before", 0...Int64.max, default: .max))
      search.limit = try request.limit
      for key in EntrySearch.Key.allCases {
        guard let value = try request.queryParameter(key.rawValue) else { continue }
        guard search.key == nil else {
          throw Problem.invalid(key.rawValue, "Search for one thing at a time.")
        }
        search.key = (key, value)
      }
      return try await auditLog.served.read { [search] view in
        let page = try search.page(in: view) { audience.includes($0) }
        return EntryPage(entries: try page.entries.map { try $0.json(in: view) }, before: page.next)
      }
    }

    private func entry(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let audience = try call.audience()
      let index = try context.indexParameter("index")
      return .json(
        try await auditLog.served.read { view in
          try view.entry(at: index, visibleTo: audience).json(in: view)
        })
    }

    private func proof(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> EntryProof {
      let audience = try call.audience()
      let index = try context.indexParameter("index")
      let log = try auditLog.served
      return try await log.read { view in
        let (recorded, checkpoint, proof) = try view.proof(of: index, visibleTo: audience)
        return EntryProof(
          index: index, entry: String(decoding: recorded.bytes, as: UTF8.self), size: checkpoint.size,
          root: checkpoint.root.description, hashes: proof.inclusionProof.map(\.description),
          proof: String(decoding: proof.encoded, as: UTF8.self), publicKey: log.keys.current.text)
      }
    }

    private func file(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      try call.principal.require(app: nil)
      let path = context.parameters.getCatchAll().joined(separator: "/").removingPercentEncoding
      guard let path, let contents = try await auditLog.served.read({ try $0.file(at: path) }) else {
        throw Problem.notFound
      }
      let isCheckpoint = path == "checkpoint"
      return Response(
        status: .ok,
        headers: [
          .contentType: isCheckpoint ? "text/plain; charset=utf-8" : "application/octet-stream",
          .cacheControl: isCheckpoint ? "no-cache" : "private, max-age=31536000, immutable",
        ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: contents)))
    }
  }
#endif
