// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import AuditTrail
@testable import TransparencyLog

@Suite struct AuditErrorTests {
  @Test("a signature that could not be checked is no sign of tampering, and any other fault of a note is")
  func notes() {
    for code in NoteError.Code.allCases {
      let error = NoteError(code, "a test")
      let expected: AuditError.Code = code == .internalFailure ? .internalFailure : .tampered
      #expect(AuditError(error).code == expected)
      #expect(AuditError(LogProofError.checkpoint(error)).code == expected)
    }
  }
}
