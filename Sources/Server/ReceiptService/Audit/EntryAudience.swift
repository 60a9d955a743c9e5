// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import TransparencyLog

  /// The audit entries that a reader may see, for both the API and the console.
  struct EntryAudience: Sendable {
    /// The app; `nil` for all apps, and for policies that are no longer in the configuration.
    let app: ServedApp?

    func includes(_ entry: AuditEntry) -> Bool { app?.isAbout(entry) ?? true }
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

    /// Returns `true` if this app recorded an entry, also with a policy from before a change of the configuration.
    ///
    /// Such a policy is recognized by the bundle identifiers that it accepts.
    func isRecorder(of entry: AuditEntry, in view: TrailView) throws -> Bool {
      if isAbout(entry) { return true }
      guard entry.bundle == nil, let digest = entry.policy else { return false }
      let admitted = try (view.policy(digest) ?? "").split(separator: "\n").filter { $0.hasPrefix("bundle ") }
        .map { String($0.dropFirst("bundle ".count)) }
      return configuration.policies.values.contains { verifier in
        guard case .oneOf(let bundles) = verifier.policy.bundleIds else { return false }
        return admitted.contains { bundles.contains($0) }
      }
    }
  }

  extension TrailView {
    /// Returns an entry that an audience may see.
    func entry(at index: UInt64, visibleTo audience: EntryAudience) throws -> RecordedEntry {
      guard index < size else { throw Problem.notFound }
      let recorded = try entry(at: index)
      guard audience.includes(recorded.entry) else { throw Problem.notFound }
      return recorded
    }

    /// Returns the proof of an entry that an audience may see, with the entry and the checkpoint that covers it.
    func proof(
      of index: UInt64, visibleTo audience: EntryAudience
    ) throws -> (recorded: RecordedEntry, checkpoint: Checkpoint, proof: LogProof) {
      let recorded = try entry(at: index, visibleTo: audience)
      guard let checkpoint = checkpoint?.checkpoint, index < checkpoint.size else {
        throw Problem(
          .serviceUnavailable, "not-yet-published",
          "No checkpoint covers the entry yet; one is published within seconds.", retryAfter: 1)
      }
      return (recorded, checkpoint, try proof(of: index))
    }
  }

  extension RecordedEntry {
    /// The JSON object of the entry.
    func json(in view: TrailView) throws -> JSONWriter {
      var object = JSONWriter(type: "audit-entry")
      try EntryReport(self, in: view).append(to: &object)
      object.endObject()
      return object
    }
  }

  extension Optional<AuditLog> {
    /// The trail, if the service has one.
    var served: AuditLog {
      get throws {
        guard let self else { throw Problem.notFound }
        return self
      }
    }
  }
#endif
