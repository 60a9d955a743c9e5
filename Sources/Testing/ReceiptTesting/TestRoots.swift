// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptSigning

/// The fixed roots of the test authorities, for the configurations of tests. Their private keys are published; see
/// ``TestKeys``.
enum TestRoots {
  /// The TEST ROOT of the ES256 authority, self-signed, 2020 to 2059.
  static let es256 = """
    -----BEGIN CERTIFICATE-----
    MIIB1zCCAX6gAwIBAgIBATAKBggqhkjOPQQDAjBCMRgwFgYDVQQKDA9SZWNlaXB0
    S2l0IFRlc3QxJjAkBgNVBAMMHVJlY2VpcHRLaXQgVGVzdCBSb290IENBIEVTMjU2
    MCAXDTIwMDEwMTAwMDAwMFoYDzIwNTkxMjMxMDAwMDAwWjBCMRgwFgYDVQQKDA9S
    ZWNlaXB0S2l0IFRlc3QxJjAkBgNVBAMMHVJlY2VpcHRLaXQgVGVzdCBSb290IENB
    IEVTMjU2MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4UZYJQ2xI1HjENEDcuz7
    L25sCHd0KNRdYq7cGJHns2ZFzsnohvH4vVMepQzAkWr51wHYXqdppYz+RsvjrK2n
    UqNjMGEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYE
    FEfFFQqO1dX5S02Aw2julB4lakBPMB8GA1UdIwQYMBaAFEfFFQqO1dX5S02Aw2ju
    lB4lakBPMAoGCCqGSM49BAMCA0cAMEQCICHDltfIB2cDlG0K/oyCoADaSidXbyi+
    /iD03QSrRv+GAiA+UOZFxVIaIzToJnQqWvS6ctz8cfv3UE49bsXbNva7Og==
    -----END CERTIFICATE-----
    """

  /// The TEST ROOT of the RSA authority, self-signed, 2020 to 2059.
  static let rsa = """
    -----BEGIN CERTIFICATE-----
    MIIDYDCCAkigAwIBAgIBATANBgkqhkiG9w0BAQsFADBAMRgwFgYDVQQKDA9SZWNl
    aXB0S2l0IFRlc3QxJDAiBgNVBAMMG1JlY2VpcHRLaXQgVGVzdCBSb290IENBIFJT
    QTAgFw0yMDAxMDEwMDAwMDBaGA8yMDU5MTIzMTAwMDAwMFowQDEYMBYGA1UECgwP
    UmVjZWlwdEtpdCBUZXN0MSQwIgYDVQQDDBtSZWNlaXB0S2l0IFRlc3QgUm9vdCBD
    QSBSU0EwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCadIEHxb/zJb6x
    YiFga+iuVlBKvkqRCsUBFYYCTyv9GLyLHMMVPcRSjHYx7AseS9GNo+PnfMbRruiC
    FeCP0DGL1wjiv3ZDoZBbX6F21Rbd9wD2yo37TvPgveAbjfpOzDWA/5czFAzH/CPj
    LChjFWJIL+DwQLjNVXItr7v9rKEeEPWXzVTmRK6rcSMAotb+9kwNdhz0kgVAzphD
    SCgqp+eWDwVeEy0JIPtXMSoQaQCnoQHHyG7Vv8us42a8GcIFZjwlF0DnypecYb4h
    ubMhXY1zy4xRla3RoR0HCaHLTNdfFFsWJKstCE+OMWqR9VV1o8o8AjwCPryqi0DO
    mH2M+9jTAgMBAAGjYzBhMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEG
    MB0GA1UdDgQWBBQyd7zwMVZlBjQ5ZNkJPHI1TNlFRTAfBgNVHSMEGDAWgBQyd7zw
    MVZlBjQ5ZNkJPHI1TNlFRTANBgkqhkiG9w0BAQsFAAOCAQEAgmuJ898sJ7pc+4UL
    ZNDPrqwsqp6JD4fnRBdQrN/S2rtQkmwKmywtwXEqJimAVIelC1AOZFeaEEpxyQwu
    qe4VKWgRR8nR4y27OPz7LZXP/B6AX2VHt3bSLvh/eqHRCrHb181FLEj3U5yFZEsL
    wx2zlfPqElasH8n+dzaWDi6wZUpLi+K0Um2fvfGOrhfVnyEAVKr2VdlqBIQLhDdX
    rRDuI03apu3M92B7YxvhL8/sdtSPYZhWOu8MNLP4+Dw8la9PG2T5Wims+Zo2SE16
    nUK5UNcC7efB6iU4ILnGA6X+uhYBOC7pXeGCHjfrqnA4bwjieG1O3Xj2GpOCSsqG
    6OGZHg==
    -----END CERTIFICATE-----
    """

  /// A TEST CERTIFICATE, self-signed, 2020 to 2049. It resembles the one that Xcode makes on each machine.
  static let selfSigned = """
    -----BEGIN CERTIFICATE-----
    MIIBiDCCAS2gAwIBAgIBATAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlTdG9yZUtp
    dCBUZXN0aW5nIGluIFhjb2RlMB4XDTIwMDEwMTAwMDAwMFoXDTQ5MTIyNDAwMDAw
    MFowJDEiMCAGA1UEAwwZU3RvcmVLaXQgVGVzdGluZyBpbiBYY29kZTBZMBMGByqG
    SM49AgEGCCqGSM49AwEHA0IABKuxUP0Ls8VIDj8J5OjD8hU2AFvcarkv7FOnveQz
    dti9PVZPvodd2Y6PFMHsb/opLZ3KokTCqBzcMqm8f5OAmZijUDBOMAwGA1UdEwEB
    /wQCMAAwHQYDVR0OBBYEFCRptjggBFf1BSX5f62XQbwhFsACMB8GA1UdIwQYMBaA
    FCRptjggBFf1BSX5f62XQbwhFsACMAoGCCqGSM49BAMCA0kAMEYCIQCiL/4QbWzZ
    qO+VUsBON+U0MLPTWuVWo2MUsjoGRHlM2gIhAJW9fODaPN+0rM0zAXS5Q8Jwuh/q
    5PdAfQUwSl1JWicn
    -----END CERTIFICATE-----
    """

  static func certificate(_ pem: String) throws(SigningError) -> Certificate {
    do throws(CryptoError) {
      if let first = try Certificate.certificates(in: Array(pem.utf8)).first { return first }
    } catch {
      throw SigningError(error)
    }
    throw SigningError(.malformedCertificate, "The compiled-in certificate is missing.")
  }
}
