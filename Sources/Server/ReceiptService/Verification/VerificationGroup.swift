// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptHTTP
  internal import ReceiptVerification
  internal import Synchronization

  /// The verification requests that arrived on an event loop in one iteration.
  ///
  /// Receipts under one policy are verified together, and their verdicts are recorded together.
  final class VerificationGroup {
    struct Member {
      let handler: VerificationHandler
      let request: EarlyRequest
      let body: ByteBuffer

      var verification: Verification { request.verification }
    }

    /// The maximum number of requests: more would block the event loop for milliseconds.
    private static let maximumCount = 64

    private let eventLoop: any EventLoop
    private var members: [Member] = []

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Adds a request, which is verified when the event loop has read all available input.
    func append(_ member: Member) {
      members.append(member)
      if members.count == 1 { schedule() }
    }

    private func schedule() {
      let bound = NIOLoopBound(self, eventLoop: eventLoop)
      eventLoop.execute { bound.value.verify() }
    }

    private func verify() {
      let group = members.prefix(Self.maximumCount)
      members.removeFirst(group.count)
      if !members.isEmpty { schedule() }
      let groups = Dictionary(grouping: group) { GroupKey(of: $0.verification) }
      for (_, members) in groups { verify(members) }
    }

    /// What verifications that are done together have in common.
    private struct GroupKey: Hashable {
      let policy: Swift.ObjectIdentifier
      let consultsLedger: Bool

      init(of verification: Verification) {
        policy = Swift.ObjectIdentifier(verification.policy)
        consultsLedger = verification.consultsLedger
      }
    }

    private func verify(_ members: [Member]) {
      let read = members.map { $0.request.operation.receipt(in: $0.body) }
      for (member, receipt) in zip(members, read) where receipt == nil { member.handler.giveBack() }
      let members = zip(members, read).compactMap { member, receipt in receipt.map { (member, $0) } }
      guard let verification = members.first?.0.verification else { return }
      let receipts = members.map(\.1.bytes)
      let verdicts = verification.policy.verifier.verifyTogether(receipts[...])
      guard !verification.isImmediate else { return answer(members, verdicts, acknowledgements: nil) }
      let verifications = members.map(\.0.verification)
      let bound = NIOLoopBound((self, members), eventLoop: eventLoop)
      Task { [eventLoop] in
        let verdicts = await verification.consulted(verdicts)
        var acknowledgements: [AuditAcknowledgement]?
        var isRecorded = true
        do {
          acknowledgements = try await Verification.record(
            verifications.indices.map { (verifications[$0], verdicts[$0], receipts[$0]) })
        } catch {
          // The router processes the requests again; it logs and answers the error.
          isRecorded = false
        }
        eventLoop.execute { [acknowledgements, isRecorded] in
          let (group, members) = bound.value
          guard isRecorded else { return members.forEach { $0.0.handler.giveBack() } }
          group.answer(members, verdicts, acknowledgements: acknowledgements)
        }
      }
    }

    private func answer(
      _ members: [(Member, EarlyReceipt)], _ verdicts: [Verdict], acknowledgements: [AuditAcknowledgement]?
    ) {
      VerdictMetrics.record(verdicts, app: members[0].0.verification.app.name)
      let date = HTTPDate.text(SystemClock.now())
      for (index, (member, receipt)) in members.enumerated() {
        member.handler.answer(
          member.request.operation.answer(
            receipt, verdicts[index], acknowledgements?[index], member.verification), date: date)
      }
    }
  }

  /// A request that is answered before the router.
  struct EarlyRequest {
    let operation: any EarlyOperation
    let verification: Verification
    /// The places among the requests that are served at once, one of which the request occupies.
    let places: RequestPlaces
    let start = ContinuousClock.now
  }

  /// The verifications that are answered before the router: the parts of the routes that they go through, too.
  struct EarlyVerifications: Sendable {
    let identity: Identity
    let admission: Admission
    let entitlements: ServiceEntitlements
    let answer: Answer
    /// The entrance of OpenIAP; `nil` if no app opens it.
    let openIAP: ClientGate?
    let groups = VerificationGroups()

    /// Returns `true` if a path, with its query, is that of an operation that is answered here.
    func isCandidate(_ path: String) -> Bool { operationPath(path) != nil }

    private func operationPath(_ path: String) -> String? {
      let operation = path.utf8.prefix { $0 != UInt8(ascii: "?") }
      if operation.elementsEqual(VerificationController.path.utf8) { return VerificationController.path }
      guard openIAP != nil else { return nil }
      return OpenIAPController.paths.first { operation.elementsEqual($0.utf8) }
    }

    /// The request, if the router is not needed to answer it.
    ///
    /// That is the case if the verification is available without waiting, and the answer depends only on the receipt
    /// and the service's own ledger. Otherwise the result is `nil`, and the router answers with a verdict or an error.
    ///
    /// - Returns: The request. It occupies a place among the requests that are served at once, until ``end(_:after:)``.
    func begin(_ head: HTTPRequest, _ context: ClientAddressSource) -> EarlyRequest? {
      guard let path = operationPath(head.path ?? "") else { return nil }
      let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
      guard path != VerificationController.path else { return verify(request) }
      return openIAP?.beginEarly(request, path, context)
    }

    private func verify(_ request: Request) -> EarlyRequest? {
      guard let call = identity.authenticateAtOnce(request, needing: .verify),
        let verification = try? Verification(for: call, entitlements),
        verification.app.configuration.checkers.isEmpty, (try? admission.places.take()) != nil
      else { return nil }
      return EarlyRequest(operation: EarlyVerify(), verification: verification, places: admission.places)
    }

    /// Gives the place of a request back, after its answer has been sent.
    func end(_ request: EarlyRequest, after answer: EventLoopFuture<Void>? = nil) {
      guard let answer else { return request.places.giveBack() }
      answer.whenComplete { [places = request.places] _ in places.giveBack() }
    }
  }

  final class VerificationGroups: Sendable {
    private let groups = Mutex<[Swift.ObjectIdentifier: NIOLoopBound<VerificationGroup>]>([:])

    func group(on eventLoop: any EventLoop) -> VerificationGroup {
      groups.withLock { groups in
        let id = Swift.ObjectIdentifier(eventLoop)
        if let group = groups[id] { return group }
        let group = NIOLoopBound(VerificationGroup(on: eventLoop), eventLoop: eventLoop)
        groups[id] = group
        return group
      }.value
    }
  }
#endif
