// SPDX-License-Identifier: Apache-2.0

#if Server
  extension WebhookQueue.Outcome {
    /// The outcome without the secret parts of the endpoint's URL: errors go to the log, and are shown with dead
    /// letters.
    func withoutSecrets(of endpoint: WebhookEndpoint) -> WebhookQueue.Outcome {
      switch self {
      case .failed(let error, let retryAfter):
        .failed(endpoint.withoutSecrets(error), retryAfter: retryAfter)
      case .dead(let error): .dead(endpoint.withoutSecrets(error))
      case .delivered, .interrupted: self
      }
    }
  }

  extension WebhookEndpoint {
    /// A text without the user and the query of the URL, wherever they stand in it.
    func withoutSecrets(_ text: String) -> String {
      var text = text
      for secret in secretsOfURL {
        text = text.replacing(secret, with: "…")
        // A text that was cut off ends with a beginning of it.
        for count in stride(from: secret.count - 1, through: 4, by: -1) {
          for end in [String(secret.prefix(count)), secret.prefix(count) + "…"] where text.hasSuffix(end) {
            text = text.dropLast(end.count) + "…"
          }
        }
      }
      return text
    }

    private var secretsOfURL: [String] {
      let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
      let query = rest.split(separator: "?", maxSplits: 1).dropFirst().first
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let user = authority.lastIndex(of: "@").map { authority[..<$0] }
      return [query, user].compactMap(\.self).filter { !$0.isEmpty }.map(String.init)
    }
  }
#endif
