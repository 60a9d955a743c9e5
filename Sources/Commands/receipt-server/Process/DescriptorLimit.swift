// SPDX-License-Identifier: Apache-2.0

#if Server
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  enum DescriptorLimit {
    /// The limit to raise to: that of the packaged unit. A higher one has no use.
    private static let sufficient: rlim_t = 65_536
    /// The number of connections reserved for reading metrics.
    static let metricsConnections = 16

    /// Raises the limit as far as the process is permitted, and returns the limit in force.
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

    /// The number of descriptors for client connections.
    ///
    /// The rest is for files, databases, webhooks and system libraries: libdispatch ends the process if it cannot open
    /// a file.
    static func connections(of limit: Int) -> Int {
      max(8, limit - min(limit / 2, max(192, limit / 8)) - metricsConnections)
    }
  }
#endif
