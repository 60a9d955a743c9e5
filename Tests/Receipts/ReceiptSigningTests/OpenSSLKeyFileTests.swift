// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptSigning
import Testing

/// Key files that `openssl` wrote, in the formats that people have. TEST KEYS, worth nothing.
@Suite struct OpenSSLKeyFileTests {
  /// `openssl ecparam -name prime256v1 -genkey -noout`
  private static let sec1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIItUStHj9Z5gTkg2+vIy59vqPvtsWFMotsgy8VbKHRxjoAoGCCqGSM49
    AwEHoUQDQgAE9vCTrKJPUaMFIHGPKgfC4nVtP8SCT626Mc4oJOurvh5re0Lt/uqe
    TKhwSJgUAMw51k7L+kuT82x8QtFZwI/OTw==
    -----END EC PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:sesame` of the same key.
  private static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh51MHaL8VaMgICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJ3GiVnevFKzBOX0Xg5ymckEgZAr
    3UmmTbeOBoASmIPJO0KB+Ywcv5k3RgYwkzRFZvPf6QtlmaExqoSJKVMzPVwEqoHV
    nNDwAqGc57B++vDoTcKfWVElKNOEt/uYOE1PX6ZGKEOB1lzSUXUDKsaDLV5tevCT
    3LMjUxblh6ukD9iupb5A/gIWtFln2Yi5dwdsI+cImcuHLYwem54t88WjDNScrjw=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// `openssl genrsa -traditional 2048`
  private static let pkcs1 = """
    -----BEGIN RSA PRIVATE KEY-----
    MIIEpAIBAAKCAQEAnPUlWPXF1a7omffQCG1QAYxgBwnnt5W5+ruMIJDbpQB5VLL0
    hN6yS5EuZZhcGT7+MQXwL2oXZ+FhRXPBW3pg+UBhQDrnHNmzuZClvDgsjVkhsAzt
    JNrsQYsKvf3OLH80gpaVfpr8JGiij20/CrmWRL2NcaiKOfgxtB/8xbsw3m6hEbuq
    DmOp/BjAdTyxLfDvlz0cmjg84OCVDLR2lc2t1HSFrc9J9Ah6hGSKeCSJb2m9zDoI
    AIwQxVXHNMfO+RBs0QEmlB1jDrXU2pUVaQxjSTELyZO8qibPW1jaudtz+GGld7r/
    sIun9xUmPj3P8R+0I5rGFpFy5CvtAGC1+xyVfwIDAQABAoIBAB0mHdB+nEYJ3KKz
    dgwKmQAgnLjR6xmaEdbxu51UqaXkB6RmM6j1XrFP/gjaGciKfVSHYMq9bilZnuHy
    FGezu4yumyD9j2w5NfpxVYY1/HgnpGz4iZX9nkCx3MXZ+88htJPH+W1wxQDR+daf
    GEUaoECV303LWhhX8oscIaprEDFOmeBg3IwIYiUuQZhGeW9SFamlktPMzFbKdWrh
    miCQAAPcxtnApvHN3mHgK3iAop1oChKSX1hYCUaWmphfd15PlREVgPnWi1W4gqR/
    9KpIRUGlNZ597oUKbVuVX1B9W92lJiSw9WpsD2J5k07Pt2Uly8DDzgcjZTn7GH4/
    732TWPECgYEAyfSaUBE12SNU16IZclOgpB8IMWc6MeIDmenF3hupuL5ePXabdbaz
    J7kGNSlyrw6BJ48SsncKJYGLSId98mwCpZX1hmP04V3NNuAYSNKpCMkD6wfU5xG3
    2U3yNV3vM0Uz8Eaj7HwXew7phZVietU9HWnLVUL8LPh00HZEvSEys/cCgYEAxvXd
    tYInpjMjYr7RWMU/gqV3T9ZOHW387TnhF4RBRBzHtOKYP/bPwZAQKkItcawhyceG
    PU/4+iociwYs3JOjbKVbuG7Dqvl08hd1j2VMCXXBPbSRG2gUC6dUn03me2eVXac7
    1uohz9fOnx2yq49VpQm0iwkazsyvFnQZXo8ZuLkCgYEAhpx+mu3NyazuKUjH01eA
    lMSGbn+S35r5sYaLt+8SYqypHijHmF+t7MU8KQU2hw6Q8fBAkyobXkKJt09wmLx7
    yyk4XVqU5/7hATm/lhKsTsnFzcwLkfVSaQq2bfHttWvkIbzEGKXh9MlMyBh5asxl
    jwxsVqlucv8sxaJ/UN0m8aMCgYAMZHAEyDCUB4ditSPw9Yg5KPk/fceryZgBZqOA
    hXpTNb+yopJ9GXBjTAfVuf1+oQwRt13DH+IQIuNYPXA55PA+6iXGXQ/O7G6+TXvD
    DLoptK3um/qVzGvDNg7tRTrf4NnK1YnCnx6wBW8XNhBU4z6gYvRd3JlQ3CrjqSOT
    YjJl8QKBgQDA38Lf6lepz2mU0coKiCnJuX1HioGxos6lhaHGahHtf7URjN7Gu/k5
    mDWco3eCfJtlE0ffKr51PxkCW5P3ipX6oQrgD6Ahw1NutTpdNysUZtEVtL4rNAhj
    JEzZCrq51RoBhZ4UI23BKNY72Gu6P0/jYn8udKXxl0S6RHGktNBOmw==
    -----END RSA PRIVATE KEY-----
    """

  private func identity(_ key: [UInt8], passphrase: String? = nil) throws -> SigningIdentity {
    let privateKey = try SigningIdentity.privateKey(
      inFile: key, passphrase: passphrase.map { Array($0.utf8) })
    let options = CertificateAuthority.Options(start: testStart)
    let chain = try CertificateAuthority.create(options).issueLeaf(key: privateKey).chain
    return try SigningIdentity(
      keyFile: key, chainFile: chain.flatMap { Array($0.pem.utf8) },
      passphrase: passphrase.map { Array($0.utf8) })
  }

  @Test func sec1IsReadWithAndWithoutParametersAndText() throws {
    let key = Array(Self.sec1.utf8)
    #expect(try identity(key).privateKey.publicKey.kind == .p256)
    let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    #expect(try identity(Array(parameters.utf8) + key).privateKey.publicKey.kind == .p256)
    #expect(try identity(Array("0 is how this comment begins\n".utf8) + key).chain.count == 3)
  }

  @Test func pkcs1IsRead() throws {
    #expect(try identity(Array(Self.pkcs1.utf8)).privateKey.publicKey.kind == .rsa(bits: 2048))
  }

  @Test func encryptedPKCS8IsReadWithItsPassphrase() throws {
    let key = Array(Self.encrypted.utf8)
    let plain = try identity(Array(Self.sec1.utf8))
    #expect(try identity(key, passphrase: "sesame").privateKey.publicKey == plain.privateKey.publicKey)
  }
}
