// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

/// The result of asking all witnesses once.
package struct WitnessRound: Sendable {
  /// The checkpoint with its cosignatures.
  ///
  /// If they do not meet the quorum, ``AuditError/Code/notWitnessed``, which names the witnesses that refused and their
  /// reasons. ``AuditError/Code/internalFailure`` if OpenSSL could not check them.
  package let cosigned: Result<VerifiedCheckpoint, AuditError>
  /// The refusals of the witnesses that were asked and have not cosigned.
  package let refusals: [WitnessRefusal]

  init(
    _ signed: SignedCheckpoint, refusals: [WitnessRefusal], policy: WitnessPolicy, logKey: NoteVerifierKey
  ) {
    self.refusals = refusals
    do throws(NoteError) {
      cosigned = .success(try policy.verify(signed, logKey: logKey))
    } catch  where error.code == .internalFailure {
      cosigned = .failure(AuditError(error))
    } catch {
      let reasons = refusals.map(\.description).joined(separator: "; ")
      cosigned = .failure(
        AuditError(
          .notWitnessed, at: "checkpoint of \(signed.unverifiedCheckpoint.size) entries",
          "\(error.message)\(reasons.isEmpty ? "" : "; refused by \(reasons)"). "
            + "The entries are stored; ask again later."))
    }
  }
}
