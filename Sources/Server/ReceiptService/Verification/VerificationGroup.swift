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
      let verification: Verification
      let body: ByteBuffer
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
      for (_, members) in Dictionary(grouping: group, by: { Swift.ObjectIdentifier($0.verification.policy) })
      {
        verify(members, members[0].verification)
      }
    }

    private func verify(_ members: [Member], _ verification: Verification) {
      let receipts = members.map { ReceiptInputText.stripped(Array($0.body.readableBytesView)) }
      let verdicts = verification.policy.verifier.verifyTogether(receipts[...])
      guard verification.policy.recorder != nil else {
        return answer(members, verdicts, acknowledgements: nil)
      }
      let outcomes = members.indices.map { (members[$0].verification, verdicts[$0], receipts[$0]) }
      let bound = NIOLoopBound((self, members), eventLoop: eventLoop)
      Task { [eventLoop] in
        // If recording fails, the router processes the requests again; it logs and answers the error.
        let acknowledgements = try? await Verification.record(outcomes)
        eventLoop.execute {
          let (group, members) = bound.value
          guard let acknowledgements else { return members.forEach { $0.handler.giveBack() } }
          group.answer(members, verdicts, acknowledgements: acknowledgements)
        }
      }
    }

    private func answer(
      _ members: [Member], _ verdicts: [Verdict], acknowledgements: [AuditAcknowledgement]?
    ) {
      VerdictMetrics.record(verdicts, app: members[0].verification.app.name)
      let date = HTTPDate.text(SystemClock.now())
      for (index, member) in members.enumerated() {
        member.handler.answer(
          member.verification.report(verdicts[index], acknowledgements?[index]), date: date)
      }
    }
  }

  /// The verifications that are answered before the router: the parts of the routes that they go through, too.
  struct EarlyVerifications: Sendable {
    let identity: Identity
    let admission: Admission
    let entitlements: ServiceEntitlements
    let answer: Answer
    let groups = VerificationGroups()

    /// The verification for a request, if the router is not needed to answer it.
    ///
    /// That is the case if the verification is available without waiting, and the answer depends only on the receipt.
    /// Otherwise the result is `nil`, and the router answers with a verdict or an error.
    ///
    /// - Returns: The verification. It occupies a place among the requests that are served at once, until ``end()``.
    func begin(_ head: HTTPRequest) -> Verification? {
      let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
      guard let call = identity.authenticateAtOnce(request, needing: .verify),
        let verification = try? Verification(for: call, entitlements),
        verification.app.configuration.checkers.isEmpty, (try? admission.places.take()) != nil
      else { return nil }
      return verification
    }

    /// Gives the place of a verification back, after its answer has been sent.
    func end(after answer: EventLoopFuture<Void>? = nil) {
      guard let answer else { return admission.places.giveBack() }
      answer.whenComplete { [places = admission.places] _ in places.giveBack() }
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
