// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite struct IdentityDirectoryTests {
  @Test func anIdentityIsReadBackAsItWasWritten() throws {
    try withTemporaryDirectory { parent in
      let identity = try TestIdentities.es256.get()
      let path = "\(parent)/identity"
      try IdentityDirectory(path).write(identity)
      #expect(permissions(path) == 0o700)
      #expect(permissions("\(path)/key.pem") == 0o600)
      #expect(try contents("\(path)/root.cer") == identity.chain[2].der)
      var warnings: [IdentityDirectory.Warning] = []
      let read = try IdentityDirectory(path).load { warnings.append($0) }
      #expect(read.chain == identity.chain)
      #expect(read.privateKey.publicKey == identity.privateKey.publicKey)
      #expect(warnings.isEmpty)
      #expect(try IdentityDirectory(path).loadChain() == identity.chain)
    }
  }

  @Test func theKeyOfAnAppHasNoCertificates() throws {
    try withTemporaryDirectory { parent in
      let path = "\(parent)/identity"
      let key = try PrivateKey.generateRSA()
      try IdentityDirectory(path).write(SigningIdentity(appKey: key))
      #expect(permissions("\(path)/key.pem") == 0o600)
      let shown = try contents("\(path)/public-key.txt")
      #expect(try PublicKey(inFile: shown) == key.publicKey)
      let read = try IdentityDirectory(path).load()
      #expect(read.chain.isEmpty)
      #expect(read.privateKey.publicKey == key.publicKey)
      #expect(try IdentityDirectory(path).loadPublicKey() == key.publicKey)
      #expect(!read.description.contains("SigningIdentity()"))
    }
  }

  @Test func anIdentityOfOneFormDoesNotStayBesideOneOfTheOther() throws {
    try withTemporaryDirectory { path in
      let app = SigningIdentity(appKey: try PrivateKey.generateRSA())
      let certified = try TestIdentities.es256.get()
      try write(Array("precious".utf8), to: "\(path)/chain.pem")
      let error = signingError { () throws(SigningError) in try IdentityDirectory(path).write(app) }
      #expect(error?.code == .fileExists)
      #expect(error?.place == "\(path)/chain.pem")
      try IdentityDirectory(path).write(certified, overwriting: true)
      #expect(try IdentityDirectory(path).loadPublicKey() == nil)
      try IdentityDirectory(path).write(app, overwriting: true)
      #expect(try IdentityDirectory(path).load().chain.isEmpty)
      try IdentityDirectory(path).write(certified, overwriting: true)
      #expect(try IdentityDirectory(path).load().chain == certified.chain)
      #expect(try IdentityDirectory(path).loadPublicKey() == nil)
    }
  }

  @Test func anEncryptedKeyIsReadWithItsPassphrase() throws {
    try withTemporaryDirectory { path in
      let identity = try TestIdentities.es256.get()
      let passphrase = Array("correct horse".utf8)
      try IdentityDirectory(path).write(identity, passphrase: passphrase)
      #expect(try IdentityDirectory(path).load(passphrase: passphrase).chain == identity.chain)
      let error = signingError { () throws(SigningError) in try IdentityDirectory(path).load() }
      #expect(error?.code == .passphraseRequired)
      #expect(error?.place == "\(path)/key.pem")
    }
  }

  @Test(arguments: ["key.pem", "chain.pem", "root.cer"])
  func anExistingFileIsNotOverwrittenUnasked(name: String) throws {
    try withTemporaryDirectory { path in
      let identity = try TestIdentities.es256.get()
      try write(Array("precious".utf8), to: "\(path)/\(name)")
      let error = signingError { () throws(SigningError) in try IdentityDirectory(path).write(identity) }
      #expect(error?.code == .fileExists)
      #expect(error?.place == "\(path)/\(name)")
      #expect(try contents("\(path)/\(name)") == Array("precious".utf8))
      for other in ["key.pem", "chain.pem", "root.cer"] where other != name {
        #expect(permissions("\(path)/\(other)") == nil)
      }
    }
  }

  @Test func overwritingReplacesWhatIsThereAndItsMode() throws {
    try withTemporaryDirectory { path in
      let identity = try TestIdentities.es256.get()
      try write(Array("old".utf8), to: "\(path)/key.pem")
      #expect(unsafe chmod("\(path)/key.pem", 0o644) == 0)
      try IdentityDirectory(path).write(identity, overwriting: true)
      #expect(permissions("\(path)/key.pem") == 0o600)
      #expect(try IdentityDirectory(path).load().chain == identity.chain)
    }
  }

  @Test func aKeyThatOthersMayReadIsWarnedOf() throws {
    try withTemporaryDirectory { path in
      try IdentityDirectory(path).write(TestIdentities.es256.get())
      #expect(unsafe chmod("\(path)/key.pem", 0o640) == 0)
      var warnings: [IdentityDirectory.Warning] = []
      _ = try IdentityDirectory(path).load { warnings.append($0) }
      #expect(warnings == [.keyReadableByOthers(path: "\(path)/key.pem", permissions: 0o640)])
      #expect(warnings.first?.description.contains("chmod 600") == true)
    }
  }

  @Test func aSymbolicLinkInTheKeysPlaceIsNotFollowed() throws {
    try withTemporaryDirectory { path in
      #expect(unsafe symlink("\(path)/elsewhere", "\(path)/key.pem") == 0)
      let error = signingError { () throws(SigningError) in
        try IdentityDirectory(path).write(TestIdentities.es256.get())
      }
      #expect(error?.code == .fileExists)
      #expect(permissions("\(path)/elsewhere") == nil)
    }
  }

  @Test func missingAndMismatchedFilesAreToldWithTheirPath() throws {
    try withTemporaryDirectory { path in
      let missing = signingError { () throws(SigningError) in try IdentityDirectory(path).load() }
      #expect(missing?.code == .unreadableFile)
      #expect(missing?.place == "\(path)/chain.pem")
      try IdentityDirectory(path).write(TestIdentities.es256.get())
      let other = try PrivateKey.generateP256().pkcs8PEM(passphrase: nil)
      try write(Array(other.utf8), to: "\(path)/key.pem")
      let mismatched = signingError { () throws(SigningError) in try IdentityDirectory(path).load() }
      #expect(mismatched?.code == .keyMismatch)
      #expect(mismatched?.place == "\(path)/chain.pem")
    }
  }

  @Test func aFileInTheDirectorysPlaceIsReported() throws {
    try withTemporaryDirectory { path in
      try write([1], to: "\(path)/identity")
      let error = signingError { () throws(SigningError) in
        try IdentityDirectory("\(path)/identity").write(TestIdentities.es256.get())
      }
      #expect(error?.code == .unwritableFile)
      #expect(error?.place == "\(path)/identity")
    }
  }
}
