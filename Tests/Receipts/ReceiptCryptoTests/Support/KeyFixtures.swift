// SPDX-License-Identifier: Apache-2.0

/// Keys made for these tests, each by the command above it (OpenSSL 3.0). They protect nothing.
enum KeyFixtures {
  /// `openssl ecparam -name prime256v1 -genkey -noout -out p256.pem`
  static let sec1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIFVJsn7vUleruSuSJpo3NX7eFSAzZD5ab+1+51OsEje/oAoGCCqGSM49
    AwEHoUQDQgAEo0JxkZamCowLuXrPvA8xwv7LMoAU2PdCpyXBGmEYDbhcv1AzsmRH
    v3cweO7g5kK5SDWdjaNs8OfL++SRTM8B2w==
    -----END EC PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -nocrypt -in p256.pem`
  static let pkcs8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVUmyfu9SV6u5K5Im
    mjc1ft4VIDNkPlpv7X7nU6wSN7+hRANCAASjQnGRlqYKjAu5es+8DzHC/ssygBTY
    90KnJcEaYRgNuFy/UDOyZEe/dzB47uDmQrlINZ2No2zw58v75JFMzwHb
    -----END PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:correct -in p256.pem`
  static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgesOAzvn9WgwICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECcl777Rk1dJxnxH7yroK68EgZC2
    2UonrjRIXz1KEb7Tpfguqol+GWQPB6EhVdfEeU8E27yr2yH8GPB2OX/hFNCt00ti
    OxaHjBEVXVTpjSpI/WQUPhFSC8j6Nd+UzvHqbAG6F5BSkRCmsaMmOflMQbBzOAFN
    iZqYdddTnwR6sU0SNFoyReWdzqHdqQTto9ZLsOi1xpVoKCPB0m+hPSz5w5+l7xY=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -v2 aes-256-cbc -iter 10000001 -passout pass:correct -in p256.pem`
  static let encryptedSlowly = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHuMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAib1FqPNUDCbAIEAJiW
    gTAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQMQw+6+2hH/CJQzF2Hk/ZegSB
    kPdA4wrmamNNU0Q0sSM3RobtFkd+U+IZRCJi+3fOcRkHkTZ5gN0DXh+be5gMcHTM
    D5reOcogIOlgJEcu9Y/qCST0DPXfBaq+KpLKWovsdXgBg/52OQxV2qxRSEYZZc8s
    /cj55aJAvtmdTE7Pe+u8TLsHJnfmyqwc0wVIAhycKNiExdGqf3yJtoAGub8wLyAU
    lg==
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES -passout pass:correct -in p256.pem`
  static let encryptedPKCS12 = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIGxMBwGCiqGSIb3DQEMAQMwDgQI81+ch59Wv8wCAggABIGQwqeobmxEm2uR8ZSB
    eWrT5KDID80tWI4xIvjG50eoJwxw/1LUr99PzN/kFQ1UgJ7eKvZnfMSPor2Tkc89
    iv8bH0qVPWS6BpOyhUjZ0biGzyQglibQIqZ3Jrj4FZQhPaApzO1yMoCHKO6gaexC
    9EPzrNau7SsTu7Pu8rnBqSoVRRis1RcQ28ewYLtdfD99MiDc
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -scrypt -passout pass:correct -in p256.pem`
  static let encryptedScrypt = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHkME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAg2mCURS20+2gICQAAC
    AQgCAQEwHQYJYIZIAWUDBAEqBBAsE33VAfWAKwMF1KXVKMz8BIGQxXyEkthG3xaY
    Nil0UsxrdavwGz4nQ97Ust+kkWx4PqmNhxT7RIz4b4Yqg4kvPunW4WjGR883zeKH
    LiuvUtc6ye2wN2BtaLBx9yJzzWrJ63ObdojUU68gAy4txt4LOuyZuqTGQdrSHQLP
    Pmnx+FbpXCt1mfgCrPB4AkyV10NhVzol2mSO1lqZUFf9iuklpOIR
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// `openssl ec -aes128 -passout pass:correct -in p256.pem`
  static let encryptedTraditional = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,37CED538EFEF08972AE3898033009F2D

    mbivBOfCCGRzcuevlvgWSuCQDCdhFaCXIPTKN46Fyhf8m62+oCQum2pmPoHACPbH
    7IbgrAvIG4r9WYbxpGsuI05y3QC6Oi4RuUGjkjJWP/wDBllIMEzFuA1jzvi3UMCP
    2Smcd0snnDNrS1EiDy6KqFTSb/fSU8PriJG9ztgHbdo=
    -----END EC PRIVATE KEY-----
    """

  /// `openssl pkey -pubout -in p256.pem`
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEo0JxkZamCowLuXrPvA8xwv7LMoAU
    2PdCpyXBGmEYDbhcv1AzsmRHv3cweO7g5kK5SDWdjaNs8OfL++SRTM8B2w==
    -----END PUBLIC KEY-----
    """

  /// `openssl ec -pubout -conv_form compressed -in p256.pem`
  static let compressedPublicKey = """
    -----BEGIN PUBLIC KEY-----
    MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADo0JxkZamCowLuXrPvA8xwv7LMoAU
    2PdCpyXBGmEYDbg=
    -----END PUBLIC KEY-----
    """

  /// `openssl ec -pubout -conv_form hybrid -in p256.pem`
  static let hybridPublicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAHo0JxkZamCowLuXrPvA8xwv7LMoAU
    2PdCpyXBGmEYDbhcv1AzsmRHv3cweO7g5kK5SDWdjaNs8OfL++SRTM8B2w==
    -----END PUBLIC KEY-----
    """

  /// `openssl ecparam -name prime256v1 -param_enc explicit -genkey -noout`
  static let explicitPrivateKey = """
    -----BEGIN EC PRIVATE KEY-----
    MIIBaAIBAQQgJwDACcI608N09k3/xhTQhR3ckfVio09hehJokuXrheCggfowgfcC
    AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
    MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
    vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
    axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
    K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
    YyVRAgEBoUQDQgAEmIVFUZ40LMlzP7vMTW7jkb0LC/ApTx8ctW5HKNEtR69395ly
    wSaEEjDrVdu0lRoh0FXVjAcW83pBahOjd8+8iA==
    -----END EC PRIVATE KEY-----
    """

  /// `the public key of explicitPrivateKey, openssl pkey -pubout`
  static let explicitPublicKey = """
    -----BEGIN PUBLIC KEY-----
    MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
    AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
    ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
    NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
    RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
    //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABJiFRVGeNCzJcz+7zE1u45G9
    CwvwKU8fHLVuRyjRLUevd/eZcsEmhBIw61XbtJUaIdBV1YwHFvN6QWoTo3fPvIg=
    -----END PUBLIC KEY-----
    """

  /// `openssl genpkey -algorithm ed25519 | openssl pkey -pubout`
  static let ed25519PublicKey = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEA99VYgT1RClPmwFhO/RhqtxUDbFmULKeyz5tQixLX8DM=
    -----END PUBLIC KEY-----
    """

  /// `openssl genrsa -traditional -out rsa.pem 2048`
  static let rsaPKCS1 = """
    -----BEGIN RSA PRIVATE KEY-----
    MIIEowIBAAKCAQEAxI/5fbXKr4kwYjwdZB/Bx96M5fHgEK+Wh+uc1ndaSwlgSSel
    gM0zE/bOCaQ7hUxcUl2uy4Hdz0Go3N7n4eFADiNNeh7f29SQ0B/ODypkmx6FgmQV
    Q0Z6QmsgiA4GKgAdXpFvRRXYN6R5lmPkl6+9uC9zhhvnvUVLTHn5TYRZ6R1Gu5xK
    ANNSl9x0PplLhnC3W91jEyS49MTAZKJ0wqG10vqUEYTOnXdNQiioqwoh990+hc6r
    ay81UzRY9+vHEk7lowpdjiOl4EPlfTqOzZpg8KEnHiL0yIOJOPAWOtfA/hvz9Pf1
    m9L0+ZHPeCPPY4K73zHYKduUY7TdY5iaPjhKJwIDAQABAoIBAB3hTwljmbieb7r3
    LXabdz81XxDTeH7A2m62C+T0RscSWU81liyixOl7gq2niB7G0V/5+sjX6IqJjixp
    PDGzpqOfjTcLu3b09MCWnSHkDWAhPyVnpm3QKGSxWUQlcZ1v4AcQr6v+Wpx2xb7t
    V4IRhpMZr4OK+WrlvkEVZ6b3gB11/+PdghuNfSZXRj6TFZpyrQlNQN8phLXWe4B5
    m9zlJ+XRmVSSHkAeE4IHmjhsjNv4lYTFilf2ozS2Fqy8p+Sb+WTegbzmEyg3rQCS
    jYm0eEwWqDOtgXGJDS7+BV9lZe+XyuAle+GFrYzV+xNX667zs0XdXT4mLTLOHA7+
    CV2xvaUCgYEA9P9QK9j4B57fL5DO2l/4LH8LS9zfiUqqHZaXTcz8D5IcOMOghE4w
    ctUnLquOPM2LSq6Aa1QqOBGqf75jjeQ4KGhqEjZCBM+wBMv3rai+LsUGOrAwyr9m
    TjaotUpn8x00qPo6NEoPbSRKtDLIIBeScoVOvAvu7gREJtH7i0A+22UCgYEAzWPQ
    hNzLiSmE08XfZ9jsx8N2uQl4sqR8BDVACho5sQVUh8fCETtkaeYSQ0BPFhc0F/YC
    5I8zrNshgupGqymLQl2qanoTP1V/5KSudFbGblzQm8+3HGB+qlzq4A+tMneYC854
    UqhpEJAnXGci1/13BQXX+wUG1qGMkk8Bj4g+ZJsCgYAkVhmV50AiITYI3/lN+h3c
    u5r5TXD589D3QnZ+W4Cm7oyw/pK4DMCyx1pgWaFm8zVNhkQVpw378uLOv3YUfVy2
    4YWZ3eI8xHDexUGeyAAs/5vE6IzUBT8vKnwrJzXzoMlGppYrWzCeh1ttDnsQB274
    /TyIN1zggFF7UHl2Vbj84QKBgEBJar37YhW3kiS6/ZdClbJdIu794PKBe3PRuw6u
    cLpQwcmSI9NC9MYUxkiYe2idsKeDUBp8HB+RoyaX77CpWzZVnP6g4R9kwpgtV5GA
    i7GFiaILXPQb2+m1Fas2HO778fJYGN8+aUxO4pMQkR5r7nH7B0RBqYdKn3Y4FnP3
    oBfbAoGBALku/cNvIbsN88zSrEN59FwHk/kIiTA9yBB9tr7uBROOGHcCsO+DIy0V
    nB7ru0QsUgdK/zxm43AOFAr68qDc7P0kpESUacbetOSC9wSV/YUjiWZIyF6af7DM
    Z0ePDGMQox1YxGM4FowdWj1436Kjn96dvGa1Z2IE5mP6UcNlYJqK
    -----END RSA PRIVATE KEY-----
    """

  /// `openssl pkcs8 -topk8 -nocrypt -in rsa.pem`
  static let rsaPKCS8 = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDEj/l9tcqviTBi
    PB1kH8HH3ozl8eAQr5aH65zWd1pLCWBJJ6WAzTMT9s4JpDuFTFxSXa7Lgd3PQajc
    3ufh4UAOI016Ht/b1JDQH84PKmSbHoWCZBVDRnpCayCIDgYqAB1ekW9FFdg3pHmW
    Y+SXr724L3OGG+e9RUtMeflNhFnpHUa7nEoA01KX3HQ+mUuGcLdb3WMTJLj0xMBk
    onTCobXS+pQRhM6dd01CKKirCiH33T6FzqtrLzVTNFj368cSTuWjCl2OI6XgQ+V9
    Oo7NmmDwoSceIvTIg4k48BY618D+G/P09/Wb0vT5kc94I89jgrvfMdgp25RjtN1j
    mJo+OEonAgMBAAECggEAHeFPCWOZuJ5vuvctdpt3PzVfENN4fsDabrYL5PRGxxJZ
    TzWWLKLE6XuCraeIHsbRX/n6yNfoiomOLGk8MbOmo5+NNwu7dvT0wJadIeQNYCE/
    JWembdAoZLFZRCVxnW/gBxCvq/5anHbFvu1XghGGkxmvg4r5auW+QRVnpveAHXX/
    492CG419JldGPpMVmnKtCU1A3ymEtdZ7gHmb3OUn5dGZVJIeQB4TggeaOGyM2/iV
    hMWKV/ajNLYWrLyn5Jv5ZN6BvOYTKDetAJKNibR4TBaoM62BcYkNLv4FX2Vl75fK
    4CV74YWtjNX7E1frrvOzRd1dPiYtMs4cDv4JXbG9pQKBgQD0/1Ar2PgHnt8vkM7a
    X/gsfwtL3N+JSqodlpdNzPwPkhw4w6CETjBy1Scuq448zYtKroBrVCo4Eap/vmON
    5DgoaGoSNkIEz7AEy/etqL4uxQY6sDDKv2ZONqi1SmfzHTSo+jo0Sg9tJEq0Msgg
    F5JyhU68C+7uBEQm0fuLQD7bZQKBgQDNY9CE3MuJKYTTxd9n2OzHw3a5CXiypHwE
    NUAKGjmxBVSHx8IRO2Rp5hJDQE8WFzQX9gLkjzOs2yGC6karKYtCXapqehM/VX/k
    pK50VsZuXNCbz7ccYH6qXOrgD60yd5gLznhSqGkQkCdcZyLX/XcFBdf7BQbWoYyS
    TwGPiD5kmwKBgCRWGZXnQCIhNgjf+U36Hdy7mvlNcPnz0PdCdn5bgKbujLD+krgM
    wLLHWmBZoWbzNU2GRBWnDfvy4s6/dhR9XLbhhZnd4jzEcN7FQZ7IACz/m8TojNQF
    Py8qfCsnNfOgyUamlitbMJ6HW20OexAHbvj9PIg3XOCAUXtQeXZVuPzhAoGAQElq
    vftiFbeSJLr9l0KVsl0i7v3g8oF7c9G7Dq5wulDByZIj00L0xhTGSJh7aJ2wp4NQ
    GnwcH5GjJpfvsKlbNlWc/qDhH2TCmC1XkYCLsYWJogtc9Bvb6bUVqzYc7vvx8lgY
    3z5pTE7ikxCRHmvucfsHREGph0qfdjgWc/egF9sCgYEAuS79w28huw3zzNKsQ3n0
    XAeT+QiJMD3IEH22vu4FE44YdwKw74MjLRWcHuu7RCxSB0r/PGbjcA4UCvryoNzs
    /SSkRJRpxt605IL3BJX9hSOJZkjIXpp/sMxnR48MYxCjHVjEYzgWjB1aPXjfoqOf
    3p28ZrVnYgTmY/pRw2Vgmoo=
    -----END PRIVATE KEY-----
    """
}
