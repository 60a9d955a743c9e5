# SPDX-License-Identifier: Apache-2.0
"""An independent verifier of purchase receipts, written from ReceiptFormats.md, and a harness of the conformance suite.

It reads a case a line from standard input and writes an answer a line. Section names between asterisks are the page's.
A ValueError of a parser of Python or of a library means the same here as a refusal as malformed."""
import base64, datetime, decimal, functools, hashlib, hmac, json, math, re, sys, urllib.parse, uuid  # noqa: E401
from asn1crypto.core import ObjectIdentifier
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
decimal.setcontext(decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation]))
UNDETERMINED = "environment-unproven signing-time-missing issuer-missing key-missing standing-unknown policy-malformed".split()
MAXIMUM_NESTING, MAXIMUM_WRAPPINGS, DAY = 32, 3, 86_400_000
remembered = functools.lru_cache(4096)
class Refused(ValueError):
    """Why a receipt is not valid: a reason of the page."""
def require(condition, reason="malformed"):
    """Refuses the receipt unless the condition holds."""
    if not condition:
        raise Refused(reason)
class Facts(dict):
    """An object with any members; a member that it does not have is None."""
    __getattr__, __setattr__ = dict.get, dict.__setitem__

# Instants (decimal numbers of milliseconds since 1970), base64 and JSON.
EPOCH = datetime.datetime(1970, 1, 1)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))", re.ASCII)
def instant_of(year, *rest):
    """The instant of a date in UTC, which must exist. The year 0 is a leap year as the year 400 is."""
    span = datetime.datetime(int(year) or 400, *map(int, rest)) - EPOCH
    return decimal.Decimal((span.days - (0 if int(year) else 146_097)) * DAY + span.seconds * 1000)
def rfc3339(text):
    """The instant of a date of RFC 3339."""
    require(match := DATE.fullmatch(text))
    offset = (int(match[9] or 0) * 60 + int(match[10] or 0)) * (-60_000 if match[8] == "-" else 60_000)
    return instant_of(*match.groups()[:6]) + decimal.Decimal(f"0.{(match[7] or '0')[:12]}") * 1000 - offset
def text_of(value):
    """A value as the suite writes it; no instant before the year 1 and after the year 9999."""
    if not isinstance(value, decimal.Decimal) or not -62135596800000 <= value < 253402300800000:
        return None if isinstance(value, decimal.Decimal) else value
    return (EPOCH + datetime.timedelta(milliseconds=math.floor(value))).isoformat(timespec="milliseconds") + "Z"
def strict_base64(text, url=False):
    """The octets of base64 in its one spelling: of RFC 4648 section 4 with padding, or of section 5 without."""
    bare, signs = text.rstrip("="), b"-_" if url else b"+/"
    require(re.fullmatch(r"[A-Za-z0-9_-]*" if url else r"[A-Za-z0-9+/]*={0,2}", text) and len(bare) % 4 != 1)
    octets = base64.b64decode(bare + "==", signs)
    require(base64.b64encode(octets, signs).decode().rstrip("=" if url else "") == text)
    return octets
def lenient_base64(text):
    """The octets of the base64 of a wrapping: either alphabet, with or without padding and line breaks."""
    text = text.replace("\r", "").replace("\n", "")
    bare = text.rstrip("=")
    require(re.fullmatch(r"([A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={,2}", text) and (text == bare or len(text) % 4 == 0))
    return strict_base64(bare.replace("+", "-").replace("/", "_"), url=True)
Number = type("Number", (str,), {"__doc__": "The text of a JSON number."})
def json_object(pairs):
    """An object without two members of one name."""
    require(len(dict(pairs)) == len(pairs))
    return dict(pairs)
def read_json(text):
    """The value of a JSON text, with numbers as text. Half a surrogate has no UTF-8, and NaN is no int."""
    value = json.loads(text, object_pairs_hook=json_object, parse_int=Number, parse_float=Number, parse_constant=int)
    json.dumps(value, ensure_ascii=False).encode()
    return value
def number_of(text, is_integer=False):
    """A number: up to 2^53, or an integer of 64 bits if it is written without fraction and exponent."""
    value, is_plain = decimal.Decimal(text), is_integer and re.fullmatch("-?[0-9]{1,20}", text)
    require(-(1 << 63) <= value < 1 << 63 if is_plain else value.copy_abs() <= 1 << 53)
    require(not is_integer or value == value.to_integral_value())
    value = value or decimal.Decimal(0)  # Without the exponent that a zero may have.
    return int(value) if is_integer else value
# The members of each object, `name/type`: I Int64, B Bool, T Timestamp, P Int64 or String, [S] a list, {Object} and [{Object}]
# of another table. Without a type it is a String. An enumeration has the type that the page states beside it.
TABLES = """signed-transaction: originalTransactionId transactionId previousOriginalTransactionId webOrderLineItemId bundleId
  productId subscriptionGroupIdentifier purchaseDate/T originalPurchaseDate/T expiresDate/T quantity/I type appAccountToken
  inAppOwnershipType signedDate/T revocationReason/I revocationDate/T isUpgraded/B offerType/I offerIdentifier environment
  storefront storefrontId transactionReason currency price/I offerDiscountType appTransactionId offerPeriod revocationType
  revocationPercentage/I billingPlanType deviceVerification deviceVerificationNonce commitmentInfo/{TransactionCommitment}
  advancedCommerceInfo/{AdvancedTransaction}
signed-renewal-info: expirationIntent/I originalTransactionId autoRenewProductId productId autoRenewStatus/I currency
  isInBillingRetryPeriod/B priceIncreaseStatus/I gracePeriodExpiresDate/T offerType/I offerIdentifier signedDate/T environment
  recentSubscriptionStartDate/T renewalDate/T renewalPrice/I offerDiscountType eligibleWinBackOfferIds/[S] appAccountToken
  appTransactionId offerPeriod advancedCommerceInfo/{AdvancedRenewal} commitmentInfo/{RenewalCommitment} renewalBillingPlanType
  deviceVerification deviceVerificationNonce
signed-app-transaction: receiptType appAppleId/I bundleId applicationVersion versionExternalIdentifier/I receiptCreationDate/T
  originalPurchaseDate/T originalApplicationVersion deviceVerification deviceVerificationNonce preorderDate/T appTransactionId
  originalPlatform storeType requestDate/T
signed-notification: notificationType subtype notificationUUID version signedDate/T data/{data} summary/{summary}
  externalPurchaseToken/{token} appData/{appData}
signed-realtime-request: originalTransactionId appAppleId/I productId userLocale requestIdentifier environment signedDate/T
data: environment appAppleId/I bundleId bundleVersion signedTransactionInfo signedRenewalInfo status/I consumptionRequestReason
summary: environment appAppleId/I bundleId productId requestIdentifier storefrontCountryCodes/[S] succeededCount/I failedCount/I
appData: appAppleId/I bundleId environment signedAppTransactionInfo
token: externalPurchaseId tokenCreationDate/T appAppleId/I bundleId tokenType tokenExpirationDate/T
TransactionCommitment: billingPeriodNumber/I commitmentExpiresDate/T commitmentPrice/I totalBillingPeriods/I
RenewalCommitment: commitmentAutoRenewProductId commitmentAutoRenewStatus/I commitmentRenewalBillingPlanType
  commitmentRenewalDate/T commitmentRenewalPrice/I
AdvancedTransaction: descriptors/{Descriptors} estimatedTax/I items/[{TransactionItem}] period requestReferenceId taxCode
  taxExclusivePrice/I taxRate
TransactionItem: SKU description displayName offer/{Offer} price/I refunds/[{Refund}] revocationDate/T
Refund: refundAmount/I refundDate/T refundReason refundType
AdvancedRenewal: consistencyToken descriptors/{Descriptors} items/[{RenewalItem}] period requestReferenceId taxCode
RenewalItem: SKU description displayName offer/{Offer} price/I priceIncreaseInfo/{PriceIncrease}
PriceIncrease: dependentSKUs/[S] price/I status
Descriptors: description displayName
Offer: period periodCount/I price/I reason
header: alg x5c/[S] kid typ
google-play-purchase: orderId packageName productId productIds/[S] purchaseTime/T purchaseState/I developerPayload purchaseToken
  obfuscatedAccountId obfuscatedProfileId quantity/I autoRenewing/B acknowledged/B notificationId
orders: orders/[{google-play-purchase}] nonce/I
huawei-purchase: autoRenewing/B orderId packageName applicationId/I applicationIdString kind/I productId productName
  purchaseTime/T purchaseTimeMillis/T purchaseState/I developerPayload developerChallenge purchaseToken consumptionState/I
  confirmed/I purchaseType/I currency price/P country payOrderId payType sdkChannel lastOrderId productGroup quantity/I
  oriPurchaseTime/T subscriptionId oriSubscriptionId daysLasted/I numOfPeriods/I numOfDiscount/I expirationDate/T
  expirationIntent/I retryFlag/I introductoryFlag/I trialFlag/I cancelTime/T cancelReason/I appInfo notifyClosed/I renewStatus/I
  priceConsentStatus/I renewPrice/P subIsvalid/B deferFlag/I cancelWay/I cancellationTime/T cancelledSubKeepDays/I resumeTime/T
  surveyReason/I surveyDetails graceExpirationTime/T"""
TABLES = {name: {m.partition("/")[0]: m.partition("/")[2] or "S" for m in members.split()}
          for name, members in re.findall(r"^([\w-]+): (.*(?:\n .*)*)", TABLES, re.MULTILINE)}
def converted(value, sort):
    """A JSON value of a type of the tables."""
    if sort[0] == "[":
        require(isinstance(value, list))
        return [converted(element, sort[1:-1]) for element in value]
    if sort[0] == "{":
        return read_members(value, sort[1:-1])
    require(type(value) in {"S": (str,), "I": (Number,), "T": (Number,), "B": (bool,), "P": (str, Number)}[sort])
    return number_of(value, is_integer=sort != "T") if isinstance(value, Number) else value
def read_members(value, table, null_is_absent=True):
    """The known members of an object, with their types."""
    require(isinstance(value, dict))
    known = {name: sort for name, sort in TABLES[table].items() if name in value}
    return Facts({n: converted(value[n], sort) for n, sort in known.items() if value[n] is not None or not null_is_absent})

# ASN.1.
class Node:
    """A value of ASN.1: its tag, the octets of header and content, and the values inside."""
    def __init__(self, tag, octets, start, body, end, stop, kids):
        self.tag, self.octets, self.start, self.body, self.end, self.stop, self.kids = tag, octets, start, body, end, stop, kids
    value = property(lambda self: self.octets[self.body : self.end])
    raw = property(lambda self: self.octets[self.start : self.stop])
    integer = property(lambda self: int.from_bytes(self.value, "big", signed=True))
    oid = property(lambda self: ObjectIdentifier(contents=self.value).dotted if self.tag == 6 else "")
    def inside(self, tag, pattern):
        """The values inside, if this one's tag is as it must be, and so are theirs, in hexadecimal with a space after each."""
        require(self.tag == tag and re.fullmatch(pattern, "".join([f"{kid.tag:02x} " for kid in self.kids])))
        return self.kids
def read_node(octets, pos, end, mode, depth=1):
    """The value at a position. The mode is DER, SETS (DER but for the order of sets) or BER (as far as the page goes)."""
    require(depth <= MAXIMUM_NESTING and end - pos >= 2)
    start, tag, pos = pos, octets[pos], pos + 1
    if tag & 0x1F == 0x1F:
        require(match := re.compile(rb"[\x1f-\x7f]|[\x81-\xff][\x80-\xff]{,7}[\x00-\x7f]").match(octets, pos, end))
        tag, pos = tag | int.from_bytes(match[0], "big") << 8, match.end()
    require(pos < end)
    length, pos, kids = octets[pos], pos + 1, [] if tag & 0x20 else None
    is_indefinite = length == 0x80 and kids is not None and mode == "BER"
    if length >= 0x80 and not is_indefinite:
        count = length - 0x80
        length, pos = int.from_bytes(octets[pos : pos + count], "big"), pos + count
        require(0 < count <= 8 and pos <= end and length >= 0x80 and length >> 8 * (count - 1))
    body, stop = pos, end if is_indefinite else pos + length
    require(stop <= end)
    while kids is not None and pos < stop and not (is_indefinite and octets[pos : min(pos + 2, end)] == b"\0\0"):
        kids.append(read_node(octets, pos, stop, mode, depth + 1))
        pos = kids[-1].stop
    require(not is_indefinite or pos + 2 <= end)
    end, stop = (pos, pos + 2) if is_indefinite else (stop, stop)
    return checked(Node(tag, octets, start, body, end, stop, kids), mode)
INTEGER = rb"[^\x00\xff].*|.|\x00[\x80-\xff].*|\xff[\x00-\x7f].*"
CONTENTS = {1: rb"[\x00\xff]", 2: INTEGER, 3: rb"\x00.*|[\x01-\x07].+", 5: rb"", 10: INTEGER,
            6: rb"([\x81-\xff][\x80-\xff]*[\x00-\x7f]|[\x00-\x7f]){1,200}"}
def checked(node, mode):
    """A value whose encoding is right if its type is a universal one."""
    number, parts, value = node.tag & 0x1F, node.kids, node.value if node.kids is None else b""
    if node.tag < 0x40 and parts is not None:
        require(number in (8, 11, 16, 17) or number == 4 and mode == "BER" and all(kid.tag in (0x04, 0x24) for kid in parts))
        require(number != 17 or mode != "DER" or all(a.raw <= b.raw for a, b in zip(parts, parts[1:])))
    elif node.tag < 0x40:
        require(number not in (0, 16, 17) and re.fullmatch(CONTENTS.get(number, b".*"), value, re.DOTALL))
        require(number != 3 or mode == "BER" or not value[-1] & (1 << value[0]) - 1)
    return node
def read_all(octets, mode="DER"):
    """The one value that octets are."""
    node = read_node(octets, 0, len(octets), mode)
    require(node.stop == len(octets))
    return node

# Certificates.
KEY_USAGE, BASIC, NAME_CONSTRAINTS = "2.5.29.15", "2.5.29.19", "2.5.29.30"
# The extensions of RFC 5280 section 4.2 that may be critical here: policies and names are not constrained by this verifier.
KNOWN = {*(f"2.5.29.{n}" for n in (9, 14, 15, 17, 18, 19, 31, 32, 35, 37, 46)), "1.3.6.1.5.5.7.1.1", "1.3.6.1.5.5.7.1.11"}
HASHES = {"sha1": hashes.SHA1(), "sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}
SIGNATURES = {**{f"1.2.840.113549.1.1.{n}": ("RSA", h) for n, h in zip((5, 11, 12, 13), HASHES)},
              **{f"1.2.840.10045.4.{n}": ("EC", h) for n, h in zip(("1", "3.2", "3.3", "3.4"), HASHES)}}
def read_key(octets):
    """A public key with its sort, RSA or EC, and its bits; without a sort if it is not supported."""
    try:
        public, parameters = serialization.load_der_public_key(octets), read_all(octets).kids[0].kids[1:]
        is_rsa = isinstance(public, rsa.RSAPublicKey)
        exponent, bits = public.public_numbers().e if is_rsa else 3, public.key_size
        is_right = 1024 <= bits <= 8192 if is_rsa else public.curve.name in ("secp256r1", "secp384r1", "secp521r1")
        require(is_right and 2 < exponent < 1 << 32 and exponent & 1 and not any(p.kids for p in parameters))
        return Facts(sort="RSA" if is_rsa else "EC", bits=bits, public=public)
    except Exception:  # noqa: BLE001, the errors of the library have no class in common
        return Facts()
def verifies(key, signature, data, digest, sort):
    """Whether it is a signature by a key: RSA is RSASSA-PKCS1-v1_5, EC ECDSA in DER, RSA-PSS the third."""
    digest, pss = HASHES[digest], padding.PSS(padding.MGF1(HASHES[digest]), 32)
    schemes = {"RSA": (padding.PKCS1v15(), digest), "RSA-PSS": (pss, digest), "EC": (ec.ECDSA(digest),)}
    try:
        return sort.partition("-")[0] == key.sort and key.public.verify(signature, data, *schemes[sort]) is None
    except (InvalidSignature, ValueError):
        return False
class Certificate:
    """A certificate of X.509, by the section *Encoding*: strict DER, with the grammar that the library checks."""
    def __init__(self, raw):
        fields, self.algorithm, signature = read_all(raw).inside(0x30, "30 30 03 ")
        kids = fields.inside(0x30, r"(a0 )?02 30 30 30 30 30 (\w+ ){,3}")
        kids = kids[kids[0].tag == 0xA0 :]
        self.key = read_key(kids[5].raw)
        try:
            parsed = x509.load_der_x509_certificate(raw)
            self.extensions = {extension.oid.dotted_string: extension for extension in parsed.extensions}
            dates = parsed.not_valid_before_utc, parsed.not_valid_after_utc
        except Exception as error:  # noqa: BLE001, as above. It reads no key without parameters.
            raise Refused("malformed" if self.key.sort else "unsupported-algorithm") from error
        self.begin, self.end = (int(date.timestamp()) for date in dates)
        require(all((node.tag == 0x18) == (date.year >= 2050) for node, date in zip(kids[3].kids, dates)))
        require(signature.value[0] == 0 and (parsed.version == x509.Version.v3 or not kids[6:]))
        require(all(kid.kids[0].kids for kid in kids[6:] if kid.tag == 0xA3))
        self.raw, self.signed, self.signature = raw, fields.raw, signature.value[1:]
        self.serial, self.issuer, self.subject, self.spki = kids[0].raw, kids[2].raw, kids[4].raw, kids[5].raw
        self.is_self_issued, self.is_consistent = self.subject == self.issuer, kids[1].raw == self.algorithm.raw
        self.organizations, self.issuer_organizations = (
            {a.kids[1].value for rdn in n.kids for a in rdn.kids if a.kids[0].oid == "2.5.4.10"} for n in (kids[4], kids[2]))
        basic, usage = (self.extensions[oid].value if oid in self.extensions else None for oid in (BASIC, KEY_USAGE))
        require(not usage or any(usage.public_bytes()[3:]))
        self.is_authority, self.path_length = bool(basic and basic.ca), basic and basic.path_length
        self.may_sign, self.may_certify = (usage.digital_signature, usage.key_cert_sign) if usage else (True, True)
read_certificate = remembered(Certificate)
@remembered
def read_policy_items(text, read):
    """Certificates or keys of the policy, in PEM or base64. One that is none is an error of the caller."""
    try:
        blocks = re.findall(r"-----BEGIN [A-Z ]+-----([^-]*)-----END", text) or [text]
        return [read(strict_base64("".join(block.split()))) for block in blocks]
    except ValueError as error:
        raise Refused("policy-malformed") from error

# One path. The demands of a format are the sort of the leaf's key, its sizes, pairs of markers, and whether SHA-1 may do.
def accept_key(leaf, demands):
    """Refuses a leaf with a key that the format does not use."""
    require(leaf.key.sort == demands[0] and leaf.key.bits in demands[1], "unsupported-algorithm")
@remembered
def check_path(leaf, intermediate, root, demands):
    """The rules of *One path*, but for the time. Returns the fault, if there is one."""
    try:
        accept_key(leaf, demands)
        for certificate, issuer in ((leaf, intermediate), (intermediate, root)):
            require(certificate.issuer == issuer.subject and issuer.key.sort and certificate.is_consistent, "chain-untrusted")
            sort, digest = SIGNATURES.get(certificate.algorithm.kids[0].oid, ("", ""))
            require(sort and (digest != "sha1" or demands[3]), "unsupported-algorithm")
            require(verifies(issuer.key, certificate.signature, certificate.signed, digest, sort), "chain-untrusted")
            require(issuer.may_certify, "certificate-purpose")
        may_issue = intermediate.is_authority and not leaf.is_authority and leaf.may_sign and root.path_length != 0
        pairs = [pair for pair in demands[2] if pair[0] in leaf.extensions and pair[1] in intermediate.extensions]
        require(may_issue and pairs, "certificate-purpose")
        extensions = [pair for certificate in (leaf, intermediate, root) for pair in certificate.extensions.items()]
        unknown = [o for o, e in extensions if o == NAME_CONSTRAINTS or e.critical and o not in KNOWN.union(*demands[2])]
        require(not unknown, "chain-untrusted")
    except Refused as refusal:
        return refusal
def paths_that_hold(paths, demands):
    """Those of the paths that hold. If none does, the fault is that of the first."""
    faults = [check_path(*path, demands) for path in paths]
    require(not all(faults), *(faults[0] and faults[0].args or ()))
    return [path for path, fault in zip(paths, faults) if not fault]
def embedded_paths(certificates, policy, demands):
    """The paths of a JWS, by *An embedded path*: several if a root was issued again."""
    if len(certificates) == 1 and policy.is_test(certificates[0]):
        accept_key(certificates[0], demands)
        return [certificates]
    require(len(certificates) == 3, "chain-length")
    leaf, intermediate, last = certificates
    roots = [root for root in policy.roots if root.raw == last.raw]
    roots = roots or [root for root in policy.roots if (root.subject, root.spki) == (last.subject, last.spki)]
    require(roots, "chain-untrusted")
    require(not (any(root.raw == leaf.raw for root in policy.roots) or leaf.issuer == roots[0].subject), "chain-length")
    return paths_that_hold([(leaf, intermediate, root) for root in roots[:8]], demands)
def searched_paths(leaf, embedded, policy, demands):
    """The paths of an app receipt or a transaction receipt, by *A searched path*."""
    if embedded and policy.is_test(leaf):
        accept_key(leaf, demands)
        return [(leaf,)]
    require(not (any(root.raw == leaf.raw or root.subject == leaf.issuer for root in policy.roots)), "chain-length")
    others = [c for c in dict.fromkeys((*embedded, *policy.intermediates)) if c.raw != leaf.raw]
    candidates = [c for c in others if c.subject == leaf.issuer][:8]
    is_plausible = not leaf.is_self_issued and any(root.organizations & leaf.issuer_organizations for root in policy.roots)
    require(candidates, "issuer-missing" if is_plausible else "chain-untrusted")
    paths = [(leaf, c, root) for c in candidates for root in [r for r in policy.roots if r.subject == c.issuer][:8]]
    is_longer = any(c.subject == candidates[0].issuer and not c.is_self_issued for c in others)
    require(paths, "chain-length" if is_longer else "chain-untrusted")
    return paths_that_hold(paths, demands)

# The policy, and the last steps of every verification.
APP_STORE, ITUNES_STORE = (tuple(f"1.2.840.113635.100.6.{n}" for n in pair) for pair in (("11.1", "2.1"), ("5.1", "2.2")))
EVERY_XCODE = "ff0ba36e721d2db741d2aa11e6112ef78bf7131b46c7f035b00891d045c864fe"
WORDS = {"Production": "production", "ProductionVPP": "production", "Sandbox": "sandbox", "ProductionSandbox": "sandbox",
         "ProductionVPPSandbox": "sandbox", "Xcode": "xcode", "LocalTesting": "local-testing"}
NUMBERED = ("signed-app-transaction", "signed-notification", "signed-realtime-request", "app-receipt")
class Policy:
    """What a caller demands, and the instant of evaluation."""
    def __init__(self, members, now):
        self.now, self.get = rfc3339(now), members.get
        trusted, others, tests = ([c for text in members.get(name, []) for c in read_policy_items(text, read_certificate)]
                                  for name in ("trust", "intermediates", "xcodeCertificates"))
        self.roots = [certificate for certificate in trusted if certificate.is_self_issued]
        require(all(root.is_authority for root in self.roots), "policy-malformed")
        self.intermediates = others + [certificate for certificate in trusted if not certificate.is_self_issued]
        self.tests = [hashlib.sha256(c.raw).hexdigest() for c in tests] + [EVERY_XCODE] * bool(members.get("admitXcode"))
        pairs = [(pair["leaf"], pair["intermediate"]) for pair in members.get("markers") or []] or [APP_STORE, ITUNES_STORE]
        self.markers, self.itunes_markers = (tuple(p for p in pairs if p != other) for other in (ITUNES_STORE, APP_STORE))
        digits = (members.get("deviceId") or "").replace("-", "")
        require(re.fullmatch("([0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})?", digits), "policy-malformed")
        self.is_test = lambda certificate: hashlib.sha256(certificate.raw).hexdigest() in self.tests
        self.accepts_sha1 = "RSA-SHA1" in (members.get("algorithms") or ["RSA-SHA1"])
        self.device, self.uuid = bytes.fromhex(digits), str(uuid.UUID(digits)) if len(digits) == 32 else None
    def demand(self, algorithm, known=None):
        """Refuses an algorithm that is not known or that it does not accept."""
        accepted = self.get("algorithms") or [algorithm]
        require(algorithm in (known or accepted) and algorithm in accepted, "unsupported-algorithm")
def apply_policy(receipt, policy, is_part=False):
    """Kind, time, app, test certificate, device, environment and standing."""
    require(is_part or receipt.kind in (policy.get("kinds") or [receipt.kind]), "wrong-kind")
    check_time(receipt, policy, is_part)
    is_nameless = receipt.kind in ("signed-renewal-info", "signed-realtime-request") or policy.get("anyBundleId")
    require(is_nameless or receipt.bundle in policy.get("bundleIds", []), "wrong-bundle")
    needs_number = receipt.kind in NUMBERED and receipt.environment == "production"
    is_right = receipt.number == policy.get("appAppleId") if receipt.number not in (None, 0) else not needs_number
    require(is_right or policy.get("appAppleId") is None, "wrong-app")
    is_test = receipt.paths and len(receipt.paths[0]) == 1
    require(not is_test or receipt.environment in ("xcode", "local-testing"), "chain-untrusted")
    require(not policy.device or receipt.is_bound and receipt.is_bound(policy), "wrong-device")
    store = {"g": "play", "h": "huawei"}.get(receipt.kind[0])
    accepted = policy.get(f"{store}Environments") or policy.get("environments", ["production"])
    unstated, is_both = policy.get("unstatedEnvironment") if store else None, {"production", "sandbox"} <= set(accepted)
    unproven = receipt.is_claimed and "production" in accepted and not is_both and not policy.get("acceptClaimedEnvironment")
    if not unproven and receipt.environment is None:
        require(unstated != "refuse", "wrong-environment")
        unproven = unstated != "accept" and not is_part and not is_both
    elif not unproven:
        require(receipt.environment in accepted, "wrong-environment")
    if policy.get("requireCurrent") and not is_part:
        check_current(receipt, policy.now, unproven)
    require(not unproven, "environment-unproven")
def check_time(receipt, policy, is_part):
    """The section *Instants and time rules*."""
    now, signed, age = policy.now, receipt.signed, None if is_part else policy.get("maximumAge")
    skew = decimal.Decimal(str(policy.get("allowedClockSkew", 60))) * 1000
    require(signed is None or signed <= now + skew, "signed-in-future")
    instant = now if not receipt.paths or policy.get("time") == "evaluation" else signed
    require(instant is not None and (age is None or signed is not None), "signing-time-missing")
    require(age is None or now <= signed + decimal.Decimal(str(age)) * 1000, "too-old")
    second, paths = math.floor(instant) // 1000, receipt.paths or [()]
    require(any(all(c.begin <= second <= c.end for c in path) for path in paths), "chain-expired")
def check_current(receipt, now, unproven):
    """The section *A receipt as a whole, and requireCurrent*. What a store can tell is left to it."""
    standings = {standing(purchase, now) for purchase in receipt.purchases}
    license, ends = receipt.license or Facts(isLicensed=receipt.expires is not None, until=receipt.expires), receipt.expires
    def began(purchase):
        dates = [ends, *map(purchase.reported.get, ("purchaseDate", "expiresDate", "revocationDate"))]
        return min((d for d in dates if d is not None and standing(purchase, d) == standing(purchase, now)), default=0)
    if not standings:
        require(license.isLicensed and (license.until is None or now < license.until), "not-current")
    elif "active" not in standings and not (unproven and (
            "unknown" in standings or standing(max(receipt.purchases, key=began), now) == "expired")):
        raise Refused("standing-unknown" if "unknown" in standings else "not-current")
def standing(purchase, t):
    """The standing of a purchase at an instant, by its rule or *Purchases of the App Store*."""
    if purchase.rule:
        return purchase.rule(t)
    taken = None if purchase.revoked is None else "revoked" if purchase.is_withdrawn else "refunded"
    if purchase.bought is None or purchase.is_subscription and purchase.ends is None:
        return taken or "unknown"
    is_late = purchase.is_upgraded and not taken and purchase.signed is not None
    t, end, seen = max(t, purchase.signed if is_late else purchase.bought), purchase.ends, purchase.info_signed
    is_known, info = None not in (end, purchase.info, seen), purchase.info or Facts()
    later, is_retrying = info.renewalDate, info.isInBillingRetryPeriod
    is_renewed = is_known and later is not None and later > seen >= end and not is_retrying and info.expirationIntent is None
    if is_renewed and t >= end and not (taken and purchase.is_withdrawn):
        return "active" if t < later else "expired"
    if taken and t >= purchase.revoked:
        return taken
    if purchase.is_upgraded or end is None or t < end:
        return "upgraded" if purchase.is_upgraded else "active"
    has_problem = is_known and is_retrying is not False and seen >= max(purchase.bought, end - 2 * DAY)
    return "active" if has_problem and t < info.get("gracePeriodExpiresDate", end) else "expired"

# JWS.
PARTS = {"signedTransactionInfo": "signed-transaction", "signedRenewalInfo": "signed-renewal-info",
         "signedAppTransactionInfo": "signed-app-transaction"}
ROWS = {"signed-transaction": {"transactionId"}, "signed-notification": {"notificationType", "notificationUUID"},
        "signed-app-transaction": {"receiptType", "receiptCreationDate"},
        "signed-renewal-info": {"autoRenewProductId", "autoRenewStatus"}}
REPORTED = """transactionId originalTransactionId productId quantity purchaseDate originalPurchaseDate expiresDate
    revocationDate""".split()
def kind_of(payload):
    """The kind that the members of a payload imply."""
    require(isinstance(payload, dict))
    kinds = [kind for kind, row in ROWS.items() if row & set(payload)]
    kinds += ["signed-realtime-request"] if {"requestIdentifier", "userLocale"} <= set(payload) else []
    if not kinds and {"bundleId", "environment"} <= set(payload) <= set(TABLES["signed-transaction"]):
        return "signed-transaction"
    require(len(kinds) == 1)
    return kinds[0]
def read_jws(text, policy, outer=None):
    """Steps 1 to 8 of the verification of a JWS; of a notification with its parts, to which the policy is applied."""
    parts = text.split(".")
    require(len(parts) == 3 and parts[0] and parts[1])
    header, payload, signature = (strict_base64(part, url=True) for part in parts)
    header = read_json(header.decode())
    members = read_members(header, "header", null_is_absent=False)
    require("crit" not in header and "alg" in header)
    policy.demand(members.alg, ["ES256"])
    require(len(members.x5c or []) <= 16, "chain-length")
    certificates = tuple(read_certificate(strict_base64(encoded)) for encoded in members.x5c or [])
    paths = embedded_paths(certificates, policy, ("EC", (256,), policy.markers, False))
    require(signature, "unsigned")
    der = utils.encode_dss_signature(*(int.from_bytes(half, "big") for half in (signature[:32], signature[32:64])))
    signed = text.rpartition(".")[0].encode()
    require(len(signature) == 64 and verifies(certificates[0].key, der, signed, "sha256", "EC"), "signature-mismatch")
    payload = read_json(payload.decode())
    members = read_members(payload, kind := kind_of(payload))
    require(outer in (None, kind), "nested-mismatch")
    names = ("receiptType", "receiptCreationDate") if kind == "signed-app-transaction" else ("environment", "signedDate")
    receipt = Facts(kind=kind, algorithm="ES256", paths=paths, members=members, purchases=[], bundle=members.bundleId,
                    number=members.appAppleId, environment=word_of(members.get(names[0])), signed=members.get(names[1]))
    if kind in ("signed-transaction", "signed-app-transaction"):
        receipt.is_bound = lambda policy: is_verified_device(members, policy)
        receipt.purchases = [purchase_of(members)] if kind == "signed-transaction" else []
    elif kind == "signed-notification":
        read_notification(receipt, members, policy)
    else:
        require(kind == "signed-renewal-info" or len(members) == len(TABLES[kind]))
        reported = {name: members.get(name) for name in ("originalTransactionId", "productId")}
        receipt.purchases = [Facts(reported=reported, is_paid=True, rule=lambda t: "unknown")]
    return receipt
def word_of(environment):
    """The word of the policy of an environment; another text for one that no policy accepts."""
    return None if environment is None else WORDS.get(environment, f"unknown {environment}")
def is_verified_device(members, policy):
    """Whether a JWS is bound to the device of the policy."""
    nonce, stated = members.deviceVerificationNonce, members.deviceVerification
    digest = base64.b64encode(hashlib.sha384(f"{nonce}{policy.uuid}".lower().encode()).digest())
    return None not in (policy.uuid, nonce, stated) and hmac.compare_digest(digest, stated.encode())
def purchase_of(members):
    """The purchase of a signed transaction."""
    is_shared = members.inAppOwnershipType in ("FAMILY_SHARED", "ASSIGNED")
    return Facts(reported={name: members.get(name) for name in REPORTED}, is_paid=True, bought=members.purchaseDate,
                 ends=members.expiresDate, is_subscription=members.type == "Auto-Renewable Subscription",
                 is_upgraded=members.isUpgraded, revoked=members.revocationDate, signed=members.signedDate,
                 is_withdrawn=members.get("revocationType", is_shared) in (True, "FAMILY_REVOKE", "ASSIGNMENT_REVOKE"))
def read_notification(receipt, members, policy):
    """*Signed parts of a notification*, and what the notification states."""
    require(receipt.kind in (policy.get("kinds") or [receipt.kind]), "wrong-kind")
    subjects = [members[name] for name in ("data", "summary", "externalPurchaseToken", "appData") if name in members]
    require(len(subjects) <= 1)
    subject, token = subjects[0] if subjects else Facts(), (members.externalPurchaseToken or {}).get("externalPurchaseId")
    environment = word_of(subject.environment) if token is None else "sandbox" if token.startswith("SANDBOX") else "production"
    found = {kind: read_jws(subject[name], policy, outer=kind) for name, kind in PARTS.items() if name in subject}
    stated = [(p.bundle, p.environment, p.number or None, p.members.originalTransactionId) for p in found.values()]
    own = subject.bundleId, environment, subject.appAppleId or None, None
    agreed = [next((value for value in values if value is not None), None) for values in zip(own, *stated)]
    for part in found.values():
        part.environment = part.environment or agreed[1]
        apply_policy(part, policy, is_part=True)
    require(all(value in (None, other) for values in stated for value, other in zip(values, agreed)), "nested-mismatch")
    receipt.bundle, receipt.environment, receipt.number, _ = agreed
    if receipt.signed is None:
        receipt.signed = max((part.signed for part in found.values() if part.signed is not None), default=None)
    info, event, transaction = found.get("signed-renewal-info"), members.notificationType, found.get("signed-transaction")
    receipt.purchases = transaction.purchases if transaction else []
    for purchase in receipt.purchases:
        purchase.signed = receipt.signed if purchase.signed is None else purchase.signed
        if info:
            purchase.info, purchase.info_signed = info.members, info.signed
        if event in ("REFUND", "REVOKE") and purchase.revoked is None:
            purchase.revoked, purchase.is_withdrawn = receipt.signed, event == "REVOKE"
        purchase.revoked = None if event == "REFUND_REVERSED" else purchase.revoked

# App receipt.
DIGESTS = {"2.16.840.1.101.3.4.2.1": "sha256", "1.3.14.3.2.26": "sha1"}
RSA_ENCRYPTION, SIGNED_DATA, DATA = "1.2.840.113549.1.1.1", "1.2.840.113549.1.7.2", "1.2.840.113549.1.7.1"
# The known attributes of receipt and purchase: T text, N number, D date, F flag.
ATTRIBUTES = dict(zip((0, 1, 2, 3, 8, 9, 10, 11, 12, 15, 16, 18, 19, 21, 32), "TNTTDNTNDNNDTDD"))
IN_APP = dict(zip((1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719, 1720, 1721), "NTTDTDNDNDFFNT"))
def joined(node):
    """The octets of an octet string, which may have segments."""
    return node.value if node.kids is None else b"".join(joined(kid) for kid in node.kids)
def algorithm_name(node):
    """The algorithm of an AlgorithmIdentifier that has no parameters but NULL."""
    name, *parameters = node.inside(0x30, r"06 (\w+ )?")
    is_known = name.oid in DIGESTS or name.oid == RSA_ENCRYPTION or SIGNATURES.get(name.oid, ("",))[0] == "RSA"
    require(not is_known or all(kid.tag == 5 for kid in parameters))
    return name.oid
def read_app_receipt(octets, policy):
    """The verification of an app receipt, but for the policy."""
    kind, content = read_all(octets, "BER").inside(0x30, "06 a0 ")
    version, digests, content, *sets, signers = content.inside(0xA0, "30 ")[0].inside(0x30, "02 31 30 (a0 )?(a1 )?31 ")
    sort, content = content.inside(0x30, "06 a0 ")
    require(kind.oid == SIGNED_DATA and sort.oid == DATA and version.integer in (1, 3, 4, 5))
    content = joined(content.inside(0xA0, "(04|24) ")[0])
    embedded = [kid for kids in sets if kids.tag == 0xA0 for kid in kids.kids]
    require(len(embedded) <= 16, "chain-length")
    embedded = [read_certificate(kid.raw) for kid in embedded]
    require(signers.kids, "unsigned")
    [kids] = [kid.inside(0x30, "02 30 30 (a0 )?30 (04|24) (a1 )?") for kid in signers.kids]
    version, signer, digest, *attributes, algorithm, signature = (kid for kid in kids if kid.tag != 0xA1)
    digest, algorithm = algorithm_name(digest), algorithm_name(algorithm)
    known = [name for name, pair in SIGNATURES.items() if pair == ("RSA", DIGESTS.get(digest))]
    require(known and algorithm in [RSA_ENCRYPTION, *known], "unsupported-algorithm")
    require(version.integer == 1 and digest in [algorithm_name(kid) for kid in digests.kids])
    digest, label = DIGESTS[digest], f"RSA-{DIGESTS[digest].upper()}"
    policy.demand(label)
    leaves = [c for c in embedded if [c.issuer, c.serial] == [kid.raw for kid in signer.inside(0x30, "30 02 ")]]
    require(len(leaves) == 1, "chain-untrusted")
    paths = searched_paths(leaves[0], embedded, policy, ("RSA", range(2048, 8193), policy.markers, policy.accepts_sha1))
    signed = b"\x31" + attributes[0].raw[1:] if attributes else content
    is_right = not attributes or hmac.compare_digest(message_digest(signed), hashlib.new(digest, content).digest())
    require(is_right and verifies(leaves[0].key, joined(signature), signed, digest, "RSA"), "signature-mismatch")
    values, purchases, raw = read_attributes(content, ATTRIBUTES)
    return Facts(
        kind="app-receipt", algorithm=label, paths=paths, signed=values.get(12), bundle=values.get(2), number=values.get(1),
        environment=word_of(values.get(0)), expires=values.get(21), purchases=[in_app(p, values.get(21)) for p in purchases],
        is_bound=lambda policy: {2, 4, 5} <= set(raw) and hmac.compare_digest(
            raw[5], hashlib.sha1(policy.device + raw[4] + raw[2]).digest()))
def message_digest(octets):
    """The message-digest of signed attributes."""
    attributes = [attribute.inside(0x30, "06 31 ") for attribute in read_all(octets).inside(0x31, "(30 )+")]
    values = {kind.oid: values.kids for kind, values in attributes}
    [kind], [digest] = (values.get(f"1.2.840.113549.1.9.{n}", []) for n in (3, 4))
    require(len(values) == len(attributes) and all(values.values()) and kind.oid == DATA and digest.tag == 4)
    return digest.value
def read_attribute(octets, sort):
    """The value of a known attribute."""
    node = read_all(octets, "SETS")
    is_number = node.tag == 2 and node.end - node.body <= 8 and (sort == "N" or node.integer in (0, 1))
    require(node.tag in (0x0C, 0x16) if sort in "TD" else is_number)
    text = node.value.decode() if sort in "TD" else ""
    return node.integer if sort in "NF" else text if sort == "T" else rfc3339(text) if text else None
def read_attributes(content, known):
    """The values of known attributes, the values of the purchases, and the octets of all."""
    values, purchases, raw = {}, [], {}
    for attribute in read_all(content, "SETS").inside(0x31, "(30 )*"):
        sort, version, value = attribute.inside(0x30, "02 02 04 ")
        require(max(sort.end - sort.body, version.end - version.body) <= 8 and sort.integer not in raw)
        if sort.integer == 17 and known is ATTRIBUTES:
            purchases.append(read_attributes(value.value, IN_APP)[0])
            continue
        raw[sort.integer] = value.value
        if sort.integer in known:
            values[sort.integer] = read_attribute(value.value, known[sort.integer])
    return values, purchases, raw
def in_app(values, expiration):
    """A purchase of an app receipt."""
    is_subscription = values.get(1707) == 3 or 1707 not in values and values.get(1711, 0) != 0
    purchase = Facts(bought=values.get(1704), ends=values.get(1708), revoked=values.get(1712), is_subscription=is_subscription)
    def rule(t):
        is_over = expiration is not None and t >= expiration and standing(purchase, expiration) == "active"
        return "expired" if is_over else standing(purchase, t)
    reported = dict(zip(REPORTED, map(values.get, (1703, 1705, 1702, 1701, 1704, 1706, 1708, 1712))))
    return Facts(reported=reported, is_paid=True, rule=rule)

# Transaction receipt.
SPACE = r"[ \t\r\n]*"
QUOTED = r'"((?:[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]|\\(?:["\\\x27ntrabvf]|U[0-9A-Fa-f]{4}|[0-7]{1,3}))*+)"'
STRING = f"{SPACE}(?:{QUOTED}|([A-Za-z0-9_$/:.-]+)){SPACE}"
BEGIN, ENTRY, END = (re.compile(form) for form in (rf"\{{{STRING}=", f"{STRING}={STRING};", rf"{SPACE}\}}{SPACE}"))
ESCAPES = dict(zip("ntrabvf", "\n\t\r\a\b\v\f"))
def read_list(text):
    """A property list in the OpenStep format, of strings alone."""
    require(begin := re.match(SPACE + r"\{", text))
    entries, pos = {}, begin.end()
    while match := ENTRY.match(text, pos):
        name, value = (bare if quoted is None else unescaped(quoted) for quoted, bare in (match.group(1, 2), match.group(3, 4)))
        require(name not in entries)
        entries[name], pos = value, match.end()
    require(END.fullmatch(text, pos))
    return entries
def unescaped(text):
    """A quoted string without its escapes."""
    def character(match):
        code = int(match[1], 16) if match[1] else int(match[2], 8) if match[2] else 0
        require(not match[2] or code <= 0x7F)
        return ESCAPES.get(match[3], match[3]) if match[3] else chr(code)
    text = re.sub(r"\\(?:U([0-9A-Fa-f]{4})|([0-7]{1,3})|(.))", character, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16")
def read_transaction_receipt(text, policy):
    """The verification of a transaction receipt, but for the policy."""
    outer = read_list(text)
    block, info = (strict_base64(re.sub("[ \t\r\n]", "", outer[name])) for name in ("signature", "purchase-info"))
    require(block)
    require(block[0] in (2, 3, 4), "unsupported-algorithm")
    size, digest = 128 if block[0] == 2 else 256, "sha256" if block[0] == 4 else "sha1"
    signature, length, leaf = block[1 : size + 1], block[size + 1 : size + 5], block[size + 5 :]
    require(len(length) == 4 and int.from_bytes(length, "big") == len(leaf))
    algorithm, leaf = f"RSA-{digest.upper()}", read_certificate(leaf)
    policy.demand(algorithm)
    markers = policy.itunes_markers if block[0] == 2 else policy.markers
    paths = searched_paths(leaf, [], policy, ("RSA", range(size * 8, 8193), markers, policy.accepts_sha1))
    require(verifies(leaf.key, signature, block[:1] + info, digest, "RSA"), "signature-mismatch")
    inner = read_list(info.decode())
    bought, original = (list_date(inner, f"{name}-ms", name) for name in ("purchase-date", "original-purchase-date"))
    ends = list_date(inner, "expires-date", "expires-date-formatted")
    quantity, number = inner.get("quantity"), inner.get("app-item-id")
    require(quantity is None or re.fullmatch("-?[0-9]+", quantity))
    names = ("transaction-id", "original-transaction-id", "product-id")
    values = [*map(inner.get, names), quantity and number_of(quantity, True)]
    purchase = Facts(reported=dict(zip(REPORTED, (*values, bought, original, ends))), is_paid=True, bought=bought, ends=ends,
                     is_subscription=bool(inner.get("web-order-line-item-id")))
    return Facts(
        kind="transaction-receipt", algorithm=algorithm, paths=paths, signed=bought, bundle=inner.get("bid"), is_claimed=True,
        number=int(number) if number and re.fullmatch("-?[0-9]{1,20}", number) else number, purchases=[purchase],
        environment=word_of(outer.get("environment", "Production")),
        is_bound=lambda policy: inner.get("unique-vendor-identifier", "").lower() == policy.uuid)
def list_date(entries, milliseconds, formatted):
    """A date in milliseconds, or else the one in GMT."""
    instant, text = entries.get(milliseconds), entries.get(formatted)
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) Etc/GMT", text or "", re.ASCII)
    require((match or text is None) and re.fullmatch("-?[0-9]+", instant or "0" * (instant is None)))
    instant, date = None if instant is None else number_of(instant), match and instant_of(*match.groups())
    require(None in (instant, date) or abs(instant - date) <= 1000)
    return date if instant is None else instant

# Data with a signature beside it.
ALGORITHMS = {"play": {"": "RSA-SHA1", "sha1withrsa": "RSA-SHA1"},
              "huawei": {"": "RSA-SHA256", "sha256withrsa": "RSA-SHA256", "sha256withrsa/pss": "RSA-PSS-SHA256"}}
HUAWEI_MEMBERS = {"applicationId", "applicationIdString", "purchaseTimeMillis", "payType"}
def read_signed_data(data, signature, stated, policy):
    """The verification of data with a signature beside it, but for the policy."""
    require(signature, "unsigned")
    signature, is_license = strict_base64(signature), re.match("[0-9-]", data)
    content = {} if is_license else read_json(data)
    require(isinstance(content, dict))
    is_list = "orders" in content and "packageName" not in content
    stores = ["huawei", "play"] if not is_list and HUAWEI_MEMBERS & set(content) else ["play", "huawei"]
    receipt = read_license(data) if is_license else read_purchases(content, stores[0])
    keys = {s: [k["key"] for k in policy.get(f"{s}Keys", []) if k["package"] == receipt.bundle] for s in stores}
    store = stores[1] if keys[stores[1]] and not keys[stores[0]] else stores[0]
    receipt = receipt if store == stores[0] else read_purchases(content, store)
    require(stated.lower() in ALGORITHMS[store], "unsupported-algorithm")
    receipt.algorithm = ALGORITHMS[store][stated.lower()]
    policy.demand(receipt.algorithm)
    require(keys[store], "key-missing")
    least, sort = 1024 if policy.get("admitShortKeys") else 2048, receipt.algorithm.rpartition("-")[0]
    keys = [key for text in keys[store] for key in read_policy_items(text, read_key) if key.sort == "RSA" and key.bits >= least]
    require(keys, "unsupported-algorithm")
    digest = "sha1" if store == "play" else "sha256"
    require(any(verifies(key, signature, data.encode(), digest, sort) for key in keys), "signature-mismatch")
    return receipt
def read_license(text):
    """A response of Google Play's licensing service."""
    fields, _, extras = text.partition(":")
    code, nonce, package, _, _, signed = fields.split("|")
    require(package and all(re.fullmatch("0|-?[1-9][0-9]*", number) for number in (code, nonce, signed)))
    code, _, signed = (number_of(number, True) for number in (code, nonce, signed))
    until = next((value for name, _, value in (field.partition("=") for field in extras.split("&")) if name == "VT"), "")
    until = number_of(until) if re.fullmatch("-?[0-9]+", until) else None
    license = Facts(responseCode=code, isLicensed=code in (0, 2), until=until)
    return Facts(kind="google-play-license", bundle=package, signed=number_of(str(signed)), license=license, purchases=[])
def read_purchases(content, store):
    """The purchases of data of Google Play or Huawei."""
    is_list = store == "play" and "orders" in content and "packageName" not in content
    kind = "huawei-purchase" if store == "huawei" else "google-play-purchase"
    orders = read_members(content, "orders").get("orders", []) if is_list else [read_members(content, kind)]
    packages = {order.packageName for order in orders}
    require(len(packages) == 1 and all(packages))
    dates = [date for date in (order.get("purchaseTime", order.purchaseTimeMillis) for order in orders) if date is not None]
    environment = {0: "sandbox", 1: "production", None: "production"}.get(orders[0].purchaseType) if store == "huawei" else None
    receipt = Facts(kind=kind, bundle=packages.pop(), environment=environment, signed=max(dates, default=None))
    receipt.purchases = [p for order in orders for p in (huawei_purchases if store == "huawei" else play_purchases)(order)]
    return receipt
def play_purchases(order):
    """A purchase for each product of an order."""
    state, is_unknown = order.get("purchaseState", 0), "purchaseTime" not in order or "autoRenewing" in order
    found = {0: "unknown" if is_unknown else "active", 1: "revoked", 2: "refunded", 4: "pending"}.get(state, "unknown")
    reported = {"transactionId": order.orderId or None, "quantity": order.quantity, "purchaseDate": order.purchaseTime,
                "purchaseToken": order.purchaseToken}
    products = dict.fromkeys([*([order.productId] if "productId" in order else []), *order.get("productIds", [])]) or [None]
    return [Facts(reported={**reported, "productId": p}, rule=lambda t: found, is_paid=state == 0) for p in products]
def huawei_purchases(order):
    """The one purchase of Huawei's data."""
    state, bought = order.get("purchaseState", 0), order.get("purchaseTime", order.purchaseTimeMillis)
    def rule(t):
        """*Purchases of Huawei*."""
        if state != 0 or order.consumptionState == 1:
            return {0: "consumed", 1: "revoked", 2: "refunded", 3: "pending", -2147483648: "pending"}.get(state, "unknown")
        if bought is None or order.kind == 2 and order.expirationDate is None:
            return "unknown"
        if order.cancelTime is not None and max(t, bought) >= order.cancelTime:
            return "refunded"
        end = max(order.get("expirationDate", bought), order.get("graceExpirationTime", bought))
        is_over = order.expirationDate is not None and max(t, bought) >= end
        return "expired" if is_over or order.subIsvalid is False and order.cancelTime is None else "active"
    values = (order.orderId, order.get("oriSubscriptionId", order.subscriptionId), order.productId, order.quantity, bought,
              order.oriPurchaseTime, order.expirationDate)
    reported = {**dict(zip(REPORTED, values)), "purchaseToken": order.purchaseToken}
    return [Facts(reported=reported, rule=rule, is_paid=state == 0)]
# Wrappings.
WHOLES = """signedTransactionInfo signedRenewalInfo signedAppTransactionInfo signedPayload receipt-data latest_receipt jws
    jwsRepresentation appStoreReceipt transactionReceipt""".split()
DATA_NAMES = """data json receipt originalJson INAPP_PURCHASE_DATA purchaseData dataAndroid inAppPurchaseData
    purchaseTokenData""".split()
SIGNATURE_NAMES = """signature INAPP_DATA_SIGNATURE dataSignature signatureAndroid inAppPurchaseDataSignature inAppSignature
    inAppDataSignature""".split()
def read_receipt(octets, policy, level=0, json_may="any", is_text=False):
    """Reads what may be wrapped. JSON may be any, an object (no string) or none; bare: nor is there another wrapping."""
    def inside(inner, json_may=json_may, step=1):
        is_text = isinstance(inner, str)
        return read_receipt(inner.encode() if is_text else inner, policy, level + step, json_may, is_text)
    require(level <= MAXIMUM_WRAPPINGS)
    if octets[:1] == b"\x30" and not is_text:
        return read_app_receipt(octets, policy)
    text = octets.removeprefix(b"\xef\xbb\xbf").decode().strip(" \t\r\n")
    if json_may != "bare":
        if match := re.match(r"bearer( |%20)", text, re.IGNORECASE):
            return inside(text[match.end() :])
        if (match := re.match("data:[^,]*,", text, re.IGNORECASE)) or "%" in text and text[:1] not in ("{", '"'):
            rest = text[match.end() :] if match else text
            require(not re.search("%(?![0-9A-Fa-f]{2})", rest))
            return inside(urllib.parse.unquote_to_bytes(rest))
        if match := re.fullmatch(r"-----BEGIN ([^\r\n-]+)-----[ \t]*\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----", text):
            return inside(lenient_base64("".join(match[2].split())), "bare")
        if re.fullmatch(r"<[0-9A-Fa-f \t\r\n]*>", text):
            return inside(bytes.fromhex(re.sub(r"[<> \t\r\n]", "", text)), "bare")
    if text.startswith("{"):
        if BEGIN.match(text):
            return read_transaction_receipt(text, policy)
        members = read_json(text)
        require(json_may in ("any", "object") or json_may == "pair" and set(SIGNATURE_NAMES) & set(members))
        return read_object(members, policy, inside, json_may != "pair")
    if text.startswith('"'):
        content = read_json(text)
        require(json_may == "any" and type(content) is str)
        return inside(content, "object", 0)
    if "." in text:
        return read_jws(text, policy)
    require(re.match("[A-Za-z0-9+/_-]", text))
    return inside(lenient_base64(text), "bare", int(json_may == "bare"))
def read_object(members, policy, inside, is_outer=True):
    """The one receipt that a JSON object holds: in the first row that fits."""
    members = {name: value for name, value in members.items() if value is not None}
    lasts, data, signatures = ([n for n in group if n in members] for group in (WHOLES[6:], DATA_NAMES, SIGNATURE_NAMES))
    firsts = [name for name in WHOLES[:6] if is_outer and name in members]
    is_unity = is_outer and type(members.get("Store")) is str and "Payload" in members
    if is_outer and not firsts and not signatures and not is_unity and isinstance(members.get("transaction"), dict):
        return read_object(members["transaction"], policy, inside, is_outer=False)
    wholes = firsts or ([] if signatures else ["Payload"] if is_unity else lasts)
    stated = [members[name] for name in ("signatureAlgorithm", "algorithm") if name in members] or [""]
    require(len(wholes) == 1 if wholes else len(data) == len(signatures) == len(stated) == 1)
    require(firsts or signatures or "data" not in members)
    values = [members[wholes[0]]] if wholes else [members[data[0]], members[signatures[0]], stated[0]]
    require(all(type(value) is str for value in values))
    return inside(*values, "pair" if "Payload" in wholes else "none", 0) if wholes else read_signed_data(*values, policy)
# The values of a valid receipt, and the harness.
FEATURES = """signed-transaction signed-renewal-info signed-app-transaction signed-notification signed-realtime-request
    app-receipt transaction-receipt google-play-purchase google-play-license huawei-purchase clock wrappers standing
    nested-parts resource-limits policy-device-id policy-time policy-require-current policy-maximum-age policy-kinds
    policy-algorithms policy-xcode-certificates policy-allowed-clock-skew policy-markers policy-admit-xcode
    policy-unstated-environment policy-accept-claimed-environment policy-maximum-byte-count policy-any-bundle-id
    policy-play-environments policy-huawei-environments policy-admit-short-keys""".split()
DECLARATION = {"harness": "independent", "version": "1.0", "reasons": True, "places": False, "features": FEATURES,
               "reports": ["environment", "bundleId", "signedAt", "algorithm", "transactions", "standing", "license"]}
def plain(members):
    """What is stated of members, as the suite writes it."""
    return {name: text_of(value) for name, value in members.items() if value is not None}
def reported(receipt, now):
    """The values that the suite compares."""
    license = receipt.license and plain({**receipt.license, "until": None, "validUntil": receipt.license.until})
    standings = [{"transactionId": p.reported.get("transactionId"), "standing": standing(p, now)} for p in receipt.purchases]
    return plain({"environment": receipt.environment, "bundleId": receipt.bundle, "license": license,
                  "signedAt": receipt.signed, "algorithm": receipt.algorithm, "standing": [plain(found) for found in standings],
                  "transactions": [plain(purchase.reported) for purchase in receipt.purchases if purchase.is_paid]})
def answer(case):
    """The answer to a case. Whatever goes wrong with hostile octets means that they are no receipt."""
    try:
        policy, octets = Policy(case["policy"], case["time"]), base64.b64decode(case["input"]["receipt"])
        require(len(octets) <= policy.get("maximumByteCount", 1 << 24))
        receipt = read_receipt(octets, policy)
        apply_policy(receipt, policy)
        return {"id": case["id"], "verdict": "valid", "values": reported(receipt, policy.now)}
    except Exception as error:  # noqa: BLE001
        reason = error.args[0] if isinstance(error, Refused) else "malformed"
        return {"id": case["id"], "verdict": "undetermined" if reason in UNDETERMINED else "invalid", "reason": reason}
if __name__ == "__main__":
    print(json.dumps(DECLARATION), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
