// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import CPostgreSQL

  /// The location of a server's database and a schema in it. Neither its description nor its error messages contain a
  /// password.
  package struct ServerLocation: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL passed to libpq, without our own parameters.
    let connectionURL: String
    /// The schema: the one passed to the initializer, or else the URL's `schema=`, or else the default.
    package let schema: String
    /// The server, the database and the schema, for error messages.
    package let description: String
    /// The passwords, which no message may contain.
    private let secrets: [String]

    package var customMirror: Mirror { Mirror(self, children: ["location": description]) }

    /// Creates a location from a `postgresql://` or `postgres://` URL as libpq understands it, which may have the
    /// parameter `schema=NAME`. The schema takes precedence over the URL's. Throws `unusableURL`, without the URL in
    /// its message, and `noClientLibrary`.
    package init<Failure: ServerFailure>(
      _ url: String, schema: String?, defaultSchema: String, orThrow failure: Failure.Type
    ) throws(Failure) {
      guard let scheme = ["postgresql://", "postgres://"].first(where: url.hasPrefix) else {
        throw Failure(.unusableURL, at: "", "The URL of a PostgreSQL database begins with postgresql://.")
      }
      // If a password contained such a character unescaped, a part of it would be taken for the host, which errors
      // contain.
      let rest = url.dropFirst(scheme.count)
      let authority = rest.prefix { !"/?#".contains($0) }
      guard authority.count(where: { $0 == "@" }) <= 1, !rest.dropFirst(authority.count).contains("@") else {
        let message = "in a user's name or password, write / as %2F, ? as %3F, # as %23, @ as %40."
        throw Failure(.unusableURL, at: "", "The URL cannot be read: \(message)")
      }

      var parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      var named: String?
      if parts.count == 2 {
        let parameters = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        named = parameters.last { $0.hasPrefix("schema=") }.map { String($0.dropFirst("schema=".count)) }
        let others = parameters.filter { !$0.hasPrefix("schema=") }
        parts = others.isEmpty ? [parts[0]] : [parts[0], Substring(others.joined(separator: "&"))]
      }
      self.connectionURL = parts.joined(separator: "?")
      self.schema = schema ?? named ?? defaultSchema
      guard Self.isIdentifier(self.schema) else {
        throw Failure(
          .unusableURL, at: "schema",
          "The name of a schema is a to z, 0 to 9 and _, begins with no digit and has at most 63 characters.")
      }

      let options = try Self.options(of: connectionURL, orThrow: failure)
      self.secrets = ["password", "sslpassword"].compactMap { options[$0] }.filter { !$0.isEmpty }
      let host = options["host"] ?? options["hostaddr"] ?? ""
      let port = options["port"].map { ":\($0)" } ?? ""
      self.description = "postgresql://\(host)\(port)/\(options["dbname"] ?? "")?schema=\(self.schema)"
    }

    /// Formats a message of libpq or of the server on one line, without passwords.
    func sayable(_ message: String) -> String {
      var message = message
      for secret in secrets {
        message = message.split(separator: secret, omittingEmptySubsequences: false).joined(
          separator: "(hidden)")
      }
      return message.split { $0.isNewline || $0 == "\t" }.joined(separator: " ")
    }

    private static func isIdentifier(_ name: String) -> Bool {
      let isLetter: (UInt8) -> Bool = {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_")
      }
      return name.utf8.first.map(isLetter) == true && name.utf8.count <= 63 && !name.hasPrefix("pg_")
        && name.utf8.allSatisfy { isLetter($0) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Parses the URL with libpq, which is loaded here. Its message about an invalid URL contains the URL, so it is not
    /// passed on.
    private static func options<Failure: ServerFailure>(
      of url: String, orThrow failure: Failure.Type
    ) throws(Failure) -> [String: String] {
      guard unsafe CPostgreSQL_load() != nil else {
        throw Failure(
          .noClientLibrary, at: "",
          "libpq 14 or later, the client library of PostgreSQL, is not installed (Debian: apt-get install libpq5)."
        )
      }
      guard let first = unsafe libpq.PQconninfoParse(url, nil) else {
        throw Failure(
          .unusableURL, at: "", "libpq cannot read the URL; see its documentation on connection URIs.")
      }
      defer { unsafe libpq.PQconninfoFree(first) }
      var options: [String: String] = [:]
      var option = unsafe first
      while let keyword = unsafe option.pointee.keyword {
        if let value = unsafe option.pointee.val {
          unsafe options[String(cString: keyword)] = unsafe String(cString: value)
        }
        unsafe option += 1
      }
      return options
    }
  }

  /// The settings of every session that stores data, regardless of the defaults of the server and the user.
  package enum SessionSettings {
    /// The statements that make the settings. The server notices within a minute that the client is gone. A commit
    /// returns when it is on this server's disk. The stricter setting that also waits for standbys to apply it is kept.
    package static let statements = """
      SET statement_timeout = 0;
      SET tcp_keepalives_idle = 30;
      SET tcp_keepalives_interval = 10;
      SET tcp_keepalives_count = 3;
      SELECT set_config('synchronous_commit', 'on', false)
      WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');

      """

    /// The message for a server on which `SHOW fsync` does not answer `on`.
    package static let fsyncIsOff =
      "The server runs with fsync = off, so a loss of power can destroy what it acknowledged. Set fsync = on."
  }
#endif
