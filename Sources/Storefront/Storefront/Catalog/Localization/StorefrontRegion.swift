// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import FoundationInternationalization

/// A country or region in which a store sells, by its three letters (`storefront` of a signed transaction).
///
/// Storefront, locale and currency belong together: `DEU`, `de_DE`, `EUR`. The three-letter and two-letter codes are
/// those of ISO 3166-1, and `XKS` is Kosovo. The currency is the region's current legal tender, and the locale has the
/// region's most widely read language, both from Unicode's CLDR. The currencies in a catalogue are independent of
/// this.
public struct StorefrontRegion: Sendable, Hashable, CustomStringConvertible {
  /// Three capital letters, such as `USA`.
  package let countryCode: String
  /// Two capital letters, such as `US`.
  package let regionCode: String

  /// Creates the storefront with a three-letter code; `nil` if there is no such country or region.
  public init?(countryCode: String) {
    guard let region = CountryCodes.twoByThree[countryCode] else { return nil }
    self.countryCode = countryCode
    regionCode = region
  }

  /// Creates the storefront of a locale's region; `nil` if the locale has no region, or one that is not a country.
  public init?(_ locale: Locale) {
    guard let region = locale.region?.identifier, let country = CountryCodes.threeByTwo[region] else {
      return nil
    }
    countryCode = country
    regionCode = region
  }

  private init(countryCode: String, regionCode: String) {
    self.countryCode = countryCode
    self.regionCode = regionCode
  }

  /// The United States, which is the default.
  public static let unitedStates = StorefrontRegion(countryCode: "USA", regionCode: "US")

  /// The locale that formats prices: the region with its most widely read language.
  public var locale: Locale {
    let language = Locale.Language(
      identifier: Locale.Language(identifier: "und-\(regionCode)").maximalIdentifier)
    return locale(language: language.languageCode?.identifier ?? "en")
  }

  /// The locale that formats prices in another language, such as `fr` in `CAN`.
  package func locale(language: String) -> Locale { Locale(identifier: "\(language)_\(regionCode)") }

  /// The region's currency (ISO 4217); `USD` if the region has none.
  package var currency: String {
    let code = Locale(identifier: "en_\(regionCode)").currency?.identifier.uppercased()
    // `XXX` means no currency (ISO 4217).
    return code.flatMap { $0 == "XXX" || $0.utf8.count != 3 ? nil : $0 } ?? "USD"
  }

  /// The three-letter code.
  public var description: String { countryCode }
}

extension StorefrontRegion {
  /// Creates the storefront of a locale identifier such as `de_DE`.
  init?(localeIdentifier: String) {
    guard localeIdentifier.utf8.count <= 64 else { return nil }
    self.init(Locale(identifier: localeIdentifier))
  }
}

/// Codes of countries and regions: the two-letter and three-letter codes of ISO 3166-1, and Kosovo's codes in app
/// stores.
enum CountryCodes {
  /// All pairs of codes, sorted by the two letters.
  static let all: [(two: String, three: String)] = table.split { $0 == " " || $0 == "\n" }.map { pair in
    (String(pair.prefix(2)), String(pair.dropFirst(2)))
  }

  static let threeByTwo = Dictionary(all.map { ($0.two, $0.three) }, uniquingKeysWith: { first, _ in first })
  static let twoByThree = Dictionary(all.map { ($0.three, $0.two) }, uniquingKeysWith: { first, _ in first })

  private static let table = """
    ADAND AEARE AFAFG AGATG AIAIA ALALB AMARM AOAGO AQATA ARARG ASASM ATAUT AUAUS AWABW AXALA AZAZE
    BABIH BBBRB BDBGD BEBEL BFBFA BGBGR BHBHR BIBDI BJBEN BLBLM BMBMU BNBRN BOBOL BQBES BRBRA BSBHS
    BTBTN BVBVT BWBWA BYBLR BZBLZ CACAN CCCCK CDCOD CFCAF CGCOG CHCHE CICIV CKCOK CLCHL CMCMR CNCHN
    COCOL CRCRI CUCUB CVCPV CWCUW CXCXR CYCYP CZCZE DEDEU DJDJI DKDNK DMDMA DODOM DZDZA ECECU EEEST
    EGEGY EHESH ERERI ESESP ETETH FIFIN FJFJI FKFLK FMFSM FOFRO FRFRA GAGAB GBGBR GDGRD GEGEO GFGUF
    GGGGY GHGHA GIGIB GLGRL GMGMB GNGIN GPGLP GQGNQ GRGRC GSSGS GTGTM GUGUM GWGNB GYGUY HKHKG HMHMD
    HNHND HRHRV HTHTI HUHUN IDIDN IEIRL ILISR IMIMN ININD IOIOT IQIRQ IRIRN ISISL ITITA JEJEY JMJAM
    JOJOR JPJPN KEKEN KGKGZ KHKHM KIKIR KMCOM KNKNA KPPRK KRKOR KWKWT KYCYM KZKAZ LALAO LBLBN LCLCA
    LILIE LKLKA LRLBR LSLSO LTLTU LULUX LVLVA LYLBY MAMAR MCMCO MDMDA MEMNE MFMAF MGMDG MHMHL MKMKD
    MLMLI MMMMR MNMNG MOMAC MPMNP MQMTQ MRMRT MSMSR MTMLT MUMUS MVMDV MWMWI MXMEX MYMYS MZMOZ NANAM
    NCNCL NENER NFNFK NGNGA NINIC NLNLD NONOR NPNPL NRNRU NUNIU NZNZL OMOMN PAPAN PEPER PFPYF PGPNG
    PHPHL PKPAK PLPOL PMSPM PNPCN PRPRI PSPSE PTPRT PWPLW PYPRY QAQAT REREU ROROU RSSRB RURUS RWRWA
    SASAU SBSLB SCSYC SDSDN SESWE SGSGP SHSHN SISVN SJSJM SKSVK SLSLE SMSMR SNSEN SOSOM SRSUR SSSSD
    STSTP SVSLV SXSXM SYSYR SZSWZ TCTCA TDTCD TFATF TGTGO THTHA TJTJK TKTKL TLTLS TMTKM TNTUN TOTON
    TRTUR TTTTO TVTUV TWTWN TZTZA UAUKR UGUGA UMUMI USUSA UYURY UZUZB VAVAT VCVCT VEVEN VGVGB VIVIR
    VNVNM VUVUT WFWLF WSWSM XKXKS YEYEM YTMYT ZAZAF ZMZMB ZWZWE
    """
}
