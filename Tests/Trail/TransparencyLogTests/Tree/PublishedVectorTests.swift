// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing
import TransparencyLog

/// Every proof of transparency-dev/merkle's `testdata`. They are not part of this repository: the environment
/// variable `RECEIPTKIT_SHARED` names the folder that has them under `vectors/merkle`, by default `../shared`.
@Suite(.enabled(if: PublishedVectors.isThere, "published vectors are not beside the package"))
struct PublishedVectorTests {
  struct Inclusion: Decodable {
    let leafIdx, treeSize: UInt64
    let root, leafHash: String
    let proof: [String]?
    let wantErr: Bool
  }

  struct Consistency: Decodable {
    let size1, size2: UInt64
    let root1, root2: String
    let proof: [String]?
    let wantErr: Bool
  }

  @Test func `every inclusion proof has the result that it says`() throws {
    var count = 0
    for (path, vector) in try PublishedVectors.all("inclusion", Inclusion.self) {
      let accepted: Bool = {
        guard let root = TreeHash(base64: vector.root), let leafHash = TreeHash(base64: vector.leafHash),
          let proof = PublishedVectors.hashes(vector.proof)
        else { return false }
        do throws(ProofError) {
          try MerkleTree.verifyInclusion(
            leafHash: leafHash, index: vector.leafIdx, size: vector.treeSize, root: root, proof: proof)
        } catch { return false }
        return true
      }()
      #expect(accepted != vector.wantErr, "\(path)")
      count += 1
    }
    #expect(count > 90)
  }

  @Test func `every consistency proof has the result that it says`() throws {
    var count = 0
    for (path, vector) in try PublishedVectors.all("consistency", Consistency.self) {
      // Its two equal roots are no hashes at all; hashes stand for them.
      let isWithoutHashes = path.hasSuffix("/sizes-are-equal-one-and-proof-is-empty.json")
      #expect(!isWithoutHashes || vector.root1 == vector.root2)
      let accepted: Bool = {
        guard let root1 = isWithoutHashes ? .leaf([1]) : TreeHash(base64: vector.root1),
          let root2 = isWithoutHashes ? .leaf([1]) : TreeHash(base64: vector.root2),
          let proof = PublishedVectors.hashes(vector.proof)
        else { return false }
        do throws(ProofError) {
          try MerkleTree.verifyConsistency(
            from: vector.size1, oldRoot: root1, to: vector.size2, root: root2, proof: proof)
        } catch { return false }
        return true
      }()
      #expect(accepted != vector.wantErr, "\(path)")
      count += 1
    }
    #expect(count > 90)
  }
}

enum PublishedVectors {
  private static let folder: URL = {
    let shared =
      if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
        URL(filePath: path)
      } else {
        URL(filePath: #filePath).appending(path: "../../../../../../shared").standardized
      }
    return shared.appending(path: "vectors/merkle")
  }()

  static let isThere: Bool = {
    if FileManager.default.fileExists(atPath: folder.path) { return true }
    FileHandle.standardError.write(
      Data("SKIPPED: no published vectors at \(folder.path); set RECEIPTKIT_SHARED.\n".utf8))
    return false
  }()

  static func all<Vector: Decodable>(_ name: String, _ type: Vector.Type) throws -> [(String, Vector)] {
    let files = FileManager.default.enumerator(
      at: folder.appending(path: name), includingPropertiesForKeys: nil)
    return try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "json" }.map { file in
      (file.path, try JSONDecoder().decode(type, from: Data(contentsOf: file)))
    }
  }

  /// `nil` where one is not 32 bytes: it cannot be expressed, so such a proof is refused.
  static func hashes(_ texts: [String]?) -> [TreeHash]? {
    let hashes = (texts ?? []).compactMap { TreeHash(base64: $0) }
    return hashes.count == (texts ?? []).count ? hashes : nil
  }
}
