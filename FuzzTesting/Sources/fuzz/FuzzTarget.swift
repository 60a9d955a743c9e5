// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The fuzz targets, by the names that `scripts/fuzz` and `scripts/fuzz-seeds` know them by.
enum FuzzTarget: String, CaseIterable {
  case appReceipt = "app-receipt"
  case asn1 = "asn1"
  case auditEntry = "audit-entry"
  case catalog = "catalog"
  case certificate = "certificate"
  case detached = "detached"
  case googlePlay = "google-play"
  case inspect = "inspect"
  case json = "json"
  case jws = "jws"
  case library = "library"
  case privateKey = "private-key"
  case recognition = "recognition"
  case revocation = "revocation"
  case storeProtocol = "store-protocol"
  case transactionReceipt = "transaction-receipt"
  case transparencyLog = "transparency-log"
  case verify = "verify"

  /// Ends the process when the input makes anything fail that must hold.
  func run(_ bytes: [UInt8]) {
    switch self {
    case .appReceipt: fuzzAppReceipt(bytes)
    case .asn1: fuzzASN1(bytes)
    case .auditEntry: fuzzAuditEntry(bytes)
    case .catalog: fuzzCatalog(bytes)
    case .certificate: fuzzCertificate(bytes)
    case .detached: fuzzDetached(bytes)
    case .googlePlay: fuzzGooglePlay(bytes)
    case .inspect: fuzzInspect(bytes)
    case .json: fuzzJSON(bytes)
    case .jws: fuzzJWS(bytes)
    case .library: fuzzLibrary(bytes)
    case .privateKey: fuzzPrivateKey(bytes)
    case .recognition: fuzzRecognition(bytes)
    case .revocation: fuzzRevocation(bytes)
    case .storeProtocol: fuzzStoreProtocol(bytes)
    case .transactionReceipt: fuzzTransactionReceipt(bytes)
    case .transparencyLog: fuzzTransparencyLog(bytes)
    case .verify: fuzzVerify(bytes)
    }
  }
}

/// libFuzzer's entry point. Its own options leave no room for the target's name, which is in FUZZ_TARGET.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
  unsafe chosenTarget.run(Array(bytes))
  return 0
}

private let chosenTarget: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget(rawValue: name) else { fatalError("FUZZ_TARGET names no target: \(name)") }
  return target
}()
