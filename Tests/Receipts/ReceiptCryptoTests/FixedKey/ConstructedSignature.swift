// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

/// Signatures that do not come from signing but from solving for what is wanted: with u1 and u2 chosen, r is
/// the x coordinate of R = u1·G + u2·Q, s = r / u2 and the digest u1·s; with R and the digest e chosen, the key
/// is Q = (s·R − e·G) / r. n is the order of P-256, p the prime of its field; hexadecimal throughout.
struct ConstructedSignature: CustomTestStringConvertible {
  let testDescription: String
  let isValid: Bool
  let key: PublicKey
  let digest: [UInt8]
  let signature: [UInt8]

  private init(
    _ name: String, isValid: Bool, x: String, y: String, digest: String, r: String, s: String
  ) throws {
    self.testDescription = name
    self.isValid = isValid
    // SubjectPublicKeyInfo: id-ecPublicKey, prime256v1, the point uncompressed.
    self.key = try PublicKey(
      subjectPublicKeyInfo: bytes(
        hex: "3059301306072a8648ce3d020106082a8648ce3d030107034200 04 \(x) \(y)"))
    self.digest = bytes(hex: digest)
    self.signature = bytes(hex: r + s)
  }

  static func all() throws -> [ConstructedSignature] {
    try [
      ConstructedSignature(
        "x(R) = n + 3, r = 3", isValid: true,
        x: "65c8188cfd6b35244e5318b17c645bff9a87a3dc68b390ea9e2fcbc0440127e3",
        y: "b6df20037c34d518e08b229cbbfd61cb240edab729fbbf0a67676d302600f2d5",
        digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        r: "0000000000000000000000000000000000000000000000000000000000000003",
        s: "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"),
      ConstructedSignature(
        "x(R) = n + 3, r not reduced", isValid: false,
        x: "65c8188cfd6b35244e5318b17c645bff9a87a3dc68b390ea9e2fcbc0440127e3",
        y: "b6df20037c34d518e08b229cbbfd61cb240edab729fbbf0a67676d302600f2d5",
        digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        r: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632554",
        s: "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"),
      ConstructedSignature(
        "x(R) = p - 3, r = x(R) - n", isValid: true,
        x: "39ceea562fa122119006f2fa880332dac0514798d1c40a9e9759f53913bf1ebd",
        y: "79e03c7f8cfc8561caa26142df876c19216bd095c2350ae8971ea5623f73b88f",
        digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        r: "000000000000000000000000000000004319055358e8617b0c46353d039cdaab",
        s: "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"),
      ConstructedSignature(
        "x(R) = 5, r = 5 + p - n, r + n = 5 modulo p", isValid: false,
        x: "ee8bef222a97a13c7494020edadc584fed854b2dc8b80cd03909d0abb7521c58",
        y: "a272f93f3d5dea0757fb988961a3e9d13eb043f9f3d6e1ac8d09252b26d6892b",
        digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        r: "000000000000000000000000000000004319055358e8617b0c46353d039cdab3",
        s: "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"),
      ConstructedSignature(
        "x(R) = 5, r = 5", isValid: true,
        x: "9c1bf4e1522aafde0a48c5c51ff392a064a4ee71c0954b720194e6571de30cd5",
        y: "649a89252200be9aa14995df760e1c398ec6318ffc9979332887ab0427674506",
        digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        r: "0000000000000000000000000000000000000000000000000000000000000005",
        s: "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"),
      ConstructedSignature(
        "Q = G", isValid: true,
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        digest: "41864b5037a235822b2baa7c1887152b71567cc163a807143578e37edb84727a",
        r: "ce1622ee74aa0b42b94e947958df819e9fcb97459097d7a7511bde7798d45f58",
        s: "5175681e2efd6cfa9dc65aa374c052269838ed8201be08b6603c2826d4f890e7"),
      ConstructedSignature(
        "Q = G, u1 = u2: the sum is a doubling", isValid: true,
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        digest: "8005f3d2d056d36175641f2fa2af6c72ff0f0b5a2e61177322b55d62a14dd473",
        r: "8005f3d2d056d36175641f2fa2af6c72ff0f0b5a2e61177322b55d62a14dd473",
        s: "ce5c309f7d34f64f4b7c08523c0be2b2ea8f587f51533df0465bd67200ed9c2d"),
      ConstructedSignature(
        "Q = -G, u1 = u2: the sum is the point at infinity", isValid: false,
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a",
        digest: "454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1",
        r: "454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1",
        s: "144abd950c3262060361ea52f7ff3d4d06a92bc7e4e802a9d16c5a990fd3607f"),
      ConstructedSignature(
        "Q = -G", isValid: true,
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a",
        digest: "39d1363ce9d29c7b980db81c86990f1a7dbcd46ff131463e76082cd9e3a55284",
        r: "b78b3e3e6a436b0163fd6c2106e20c8a93d368d1ad2c6628c096af8d53331130",
        s: "2e4dfe5a0db1f979e53ff37a4dd06e9737992cf7ec6c191a8ccf5b8e2cf05a8c"),
      ConstructedSignature(
        "Q = 2G, u1 = 2 u2: the sum is a doubling", isValid: true,
        x: "7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978",
        y: "07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1",
        digest: "e6fc8244d8f13ba6cb331ad5e154d1eabe88f50f2b960abf3f9c72e24fb7fe45",
        r: "f37e4121ec789dd3e5998d6af0aa68f53db7f7de6956d4a219ab1ed2a60d91cb",
        s: "51d82ff2eb703f72c3fb58d901d55a946a185b14de0c7aa6901e2144d1dda709"),
      ConstructedSignature(
        "the sum is the point at infinity", isValid: false,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "be06f08dcd52fc7f46bf761a92256c5809ade729822a23c128cdd58a880fe84c",
        r: "454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1",
        s: "0e1298c3f569c876faf87ad5b2f2030f5e9a5a54ab04d369da443375589e3f8a"),
      ConstructedSignature(
        "u1 = 0: the digest is zero", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "0000000000000000000000000000000000000000000000000000000000000000",
        r: "e1426b8b5b4bcd98454063950ce209ab6be6523757bddc0704a23db32cc05c40",
        s: "345c38778c6551530e29c261693a5910d0dc6329d59253dd66ec20c110260ce6"),
      ConstructedSignature(
        "u1 = u2 = 1", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "58e168a81ab3e7054ce57b76d0c9251e05bf52d38a859768f63e6f8840f03a0a",
        r: "58e168a81ab3e7054ce57b76d0c9251e05bf52d38a859768f63e6f8840f03a0a",
        s: "58e168a81ab3e7054ce57b76d0c9251e05bf52d38a859768f63e6f8840f03a0a"),
      ConstructedSignature(
        "u1 = u2 = n - 1", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "58e168a81ab3e7054ce57b76d0c9251e05bf52d38a859768f63e6f8840f03a0a",
        r: "58e168a81ab3e7054ce57b76d0c9251e05bf52d38a859768f63e6f8840f03a0a",
        s: "a71e9756e54c18fbb31a84892f36dae1b727a7da1c92071bfd7b5b3abb72eb47"),
      ConstructedSignature(
        "u1 = n - 1, u2 = 1", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "38c1062995394fcd7120e9b9cfff31fb17c03dda5e0a06dd09ff66ccef244026",
        r: "c73ef9d56ac6b0338edf16463000ce04a526bcd3490d97a7e9ba63f60d3ee52b",
        s: "c73ef9d56ac6b0338edf16463000ce04a526bcd3490d97a7e9ba63f60d3ee52b"),
      ConstructedSignature(
        "u1 = 1, u2 = 2^255", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "a3c1d8d3800ecdc430c70f14e60338839337eaac01a943ebcdf37c12e3d5097c",
        r: "2878e2a8393fb7e8b74c463a6815f2303c41c0164cae10dc289ffd7a7000ffa7",
        s: "a3c1d8d3800ecdc430c70f14e60338839337eaac01a943ebcdf37c12e3d5097c"),
      ConstructedSignature(
        "u1 = 2^252, u2 = n - 2^252", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "521e08d31fecdae1f9b980d7f5763c6dbcedfef2698fb9d8c5aba6028ae50b15",
        r: "ade1f72be013251f06467f280a89c391fff8fbbb3d87e4ac2e0e24c0717e1a3c",
        s: "0243322bc716b762958ec199e191fb48700e3effa001e7570a6562831bc4dddf"),
      ConstructedSignature(
        "the digest is n", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        r: "64dd12eb7ec00f1db69b0020c246c79cafe36ca5e31a7610e4fc3e639fe58a56",
        s: "5ea53603950c1d7f7d9ade7699b9ab4adc2ddb9604f947728023ca00e2b68f6b"),
      ConstructedSignature(
        "the digest is n + 1", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552",
        r: "64dd12eb7ec00f1db69b0020c246c79cafe36ca5e31a7610e4fc3e639fe58a56",
        s: "7e13407ab646994cf94f4ceb3ebf2ed779839de5a5a161eb1e512e0f40e521a2"),
      ConstructedSignature(
        "the digest is 2^256 - 1", isValid: true,
        x: "f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446",
        y: "f8e9cee1a0c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
        digest: "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        r: "64dd12eb7ec00f1db69b0020c246c79cafe36ca5e31a7610e4fc3e639fe58a56",
        s: "33dcb68a81e2e53348d8173a24d7210e499a21b368ab9d5eb35c4d04629280a5"),
    ]
  }
}
