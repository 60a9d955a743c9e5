// SPDX-License-Identifier: Apache-2.0

#if Server
  extension WebhookQueue.Outcome {
    /// The outcome without the secret parts of the endpoint's URL, because errors are logged and shown with dead
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
    /// Removes the user and the query of the URL from a text, wherever they occur.
    func withoutSecrets(_ text: String) -> String {
      var text = text
      for secret in secretsOfURL {
        text = text.replacing(secret, with: "…")
        // A truncated text may end with the beginning of a secret part.
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
