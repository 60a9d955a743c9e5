// SPDX-License-Identifier: Apache-2.0

#if Server
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// The number of descriptors that the process may open.
  enum DescriptorLimit {
    /// More than this is no use: what the packaged unit asks for.
    private static let sufficient: rlim_t = 65_536
    /// Connections to read metrics.
    static let metricsConnections = 16

    /// Raises the limit as far as the process may itself.
    ///
    /// - Returns: The limit that is in force.
    static func raise() -> Int {
      var limit = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
      let wanted = min(limit.rlim_max, sufficient)
      if limit.rlim_cur < wanted {
        var raised = limit
        raised.rlim_cur = wanted
        if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
      }
      return Int(min(limit.rlim_cur, rlim_t(Int32.max)))
    }

    /// How many of them connections of clients may take. The rest is for files, databases, webhooks, and for the system's
    /// libraries; libdispatch ends the process when it cannot open a file.
    static func connections(of limit: Int) -> Int {
      max(8, limit - min(limit / 2, max(192, limit / 8)) - metricsConnections)
    }
  }
#endif
