// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// An operation that ``VerificationHandler`` answers before the router: how its bodies are read, and its verdicts
  /// written.
  protocol EarlyOperation: Sendable {
    var path: String { get }

    /// The receipt in a body; `nil` leaves the request to the router.
    func receipt(in body: ByteBuffer) -> EarlyReceipt?
    func answer(
      _ receipt: EarlyReceipt, _ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?,
      _ verification: Verification
    ) -> EarlyAnswer
    /// Called if the request is left to the router.
    func giveBack()
  }

  /// The receipt of a request that is answered early.
  struct EarlyReceipt: Sendable {
    let bytes: [UInt8]
    /// The product that the client expects, in a protocol that has it.
    var expectedProductId: String?
  }

  /// The answer to a request that is answered early.
  struct EarlyAnswer {
    var status = HTTPResponse.Status.ok
    let json: JSONWriter
    /// The header fields that only this operation has.
    var fields: HTTPFields = [:]
  }

  /// `POST /v1/verify`.
  struct EarlyVerify: EarlyOperation {
    var path: String { VerificationController.path }

    func receipt(in body: ByteBuffer) -> EarlyReceipt? {
      EarlyReceipt(bytes: ReceiptInputText.stripped(Array(body.readableBytesView)))
    }

    func answer(
      _ receipt: EarlyReceipt, _ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?,
      _ verification: Verification
    ) -> EarlyAnswer {
      EarlyAnswer(json: verification.report(verdict, acknowledgement))
    }

    func giveBack() {}
  }

  /// `POST /v1/purchase/verify` of OpenIAP, for signed transactions.
  struct EarlyOpenIAP: EarlyOperation {
    let path: String
    let gate: ClientGate
    /// The state of the limit for the client's address; `nil` if there is no limit.
    let allowance: ClientRateLimit.Allowance?
    /// The address for which the request was counted; `nil` if it was not.
    let address: String?

    func receipt(in body: ByteBuffer) -> EarlyReceipt? {
      guard body.readableBytes <= OpenIAPController.maximumBodyByteCount,
        let json = try? JSONValue(parsing: Array(body.readableBytesView)), json.object != nil,
        let request = try? OpenIAPRequest(json), case .apple(let jws) = request.purchase,
        OpenIAPJudge.isCompactJWS(jws)
      else { return nil }
      return EarlyReceipt(bytes: Array(jws.utf8), expectedProductId: request.expectedProductId)
    }

    func answer(
      _ receipt: EarlyReceipt, _ verdict: Verdict, _ acknowledgement: AuditAcknowledgement?,
      _ verification: Verification
    ) -> EarlyAnswer {
      let judge = OpenIAPJudge(verification: verification)
      var answer: EarlyAnswer
      do throws(OpenIAPFailure) {
        answer = EarlyAnswer(
          json: try judge.answer(to: verdict, expected: receipt.expectedProductId).json())
      } catch {
        answer = EarlyAnswer(status: error.status, json: error.json, fields: error.fields)
      }
      OpenIAPController.addFields(
        to: &answer.fields, correlation: OpenIAPController.correlation(), allowance,
        gate.admission.openPlaces)
      return answer
    }

    func giveBack() {
      if let address { gate.limit.giveBack(to: address) }
    }
  }
#endif
