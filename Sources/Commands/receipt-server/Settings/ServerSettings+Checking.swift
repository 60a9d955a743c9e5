// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptBytes
  import ReceiptService

  extension ServerSettings {
    /// Checks that everything that the settings name exists and can be used: certificates, folders, the database, the
    /// trail's files.
    ///
    /// It creates and changes nothing.
    ///
    /// - Throws: `ServiceConfigurationError` for errors that the user must fix; `DatabaseError` if the database cannot
    ///   be reached.
    func check() throws {
      try Self.checkCertificates(of: listener, "listen")
      if let metrics { try Self.checkCertificates(of: metrics, "metrics") }
      try trail?.check()
      do {
        _ = try storage.check()
      } catch let error as DatabaseError where error.code == .unusable {
        throw ServiceConfigurationError("database", "\(error)")
      }
    }

    private static func checkCertificates(of listener: Listener, _ name: String) throws {
      guard let tls = listener.tls else { return }
      do {
        _ = try ReloadingCertificates(tls)
      } catch let error as ServiceConfigurationError {
        throw ServiceConfigurationError("\(name).tls", error.message)
      }
    }

    /// Fails if the folder of a file is missing, so that the file could not be created.
    static func requireFolder(of path: String, _ setting: String) throws {
      let folder = FileSystem.directory(of: path)
      guard (try? FileSystem.status(folder))?.isDirectory == true else {
        throw ServiceConfigurationError(setting, "There is no folder \(folder) for \(path).")
      }
    }
  }
#endif
