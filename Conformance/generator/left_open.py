# SPDX-License-Identifier: Apache-2.0
"""Where neither a standard nor a store says what is right: cases of any verdict, and cases whose reason is not compared.

The patterns are those of fnmatch, and each must match a case.
"""

# Both verdicts are right.
EITHER = {
    "signed-*::vector::certificate-purpose-leaf-is-authority": "RFC 5280 forbids no authority to sign data itself.",
    "signed-app-transaction::vector::wrong-app": "Apple compares the App Store identifier in production alone.",
    "signed-notification::vector::wrong-app": "Apple compares the App Store identifier in production alone.",
    "signed-realtime-request::vector::wrong-app": "Apple compares the App Store identifier in production alone.",
    "google-play-purchase::wrapper::json-string": "It can be read in one way only, and is JSON within JSON.",
}

# The input is refused, for one of several reasons.
REASON = {
    "*::reserialized::leading-byte-order-mark": "What was not signed is no JSON either.",
    "google-play-purchase::reserialized::quantity-as-text": "What was not signed has a wrong type as well.",
    "google-play-purchase::reserialized::flag-as-number": "What was not signed has a wrong type as well.",
    "signed-notification::mismatch::bundle-not-accepted": "The part contradicts the notification as well.",
    "signed-notification::mismatch::sandbox-in-production": "The part contradicts the notification as well.",
    "app-receipt::certificate::algorithms-differ": "It is malformed, or its signature is not one of that algorithm.",
    "app-receipt::certificate::leaf-key-cut": "A key that ends early is malformed, or of no length that is accepted.",
    "app-receipt::chain::intermediate-key-*-bits": "Its key is of no length that is accepted, or its signatures prove nothing.",
    "app-receipt::algorithm::leaf-exponent-*": "The key is none of RSA, or of none that is accepted, or signs nothing.",
    "app-receipt::algorithm::pss": "Its parameters are malformed, or its name is not supported.",
    "transaction-receipt::blob::version-[015]": "Nothing is known about the form of such a version, its algorithm neither.",
    "transaction-receipt::blob::version-52": "Nothing is known about the form of such a version, its algorithm neither.",
    "transaction-receipt::blob::version-255": "Nothing is known about the form of such a version, its algorithm neither.",
    "transaction-receipt::app::id-text": "It is no identifier, and not the policy's.",
    "transaction-receipt::app::id-trailing": "It is no identifier, and not the policy's.",
    "transaction-receipt::app::id-2-to-the-64": "It is no identifier, and not the policy's.",
    "play-standing::not-current::*": "The store refuses it, or the policy does not accept what the store states.",
    "witness::request::no-signature": "It is no note, or one that no key of the log signed.",
    "cosignature::time::beyond-63-bits": "The time is out of range, so that the line is no cosignature.",
    "cosignature::time::greatest": "The time is out of range, so that the line is no cosignature.",
    "ocsp::impostor::foreign-authority": "It is the signature of another issuer, or none of this one.",
    "ocsp::impostor::name-of-responder": "It is the signature of another certificate, or none of the responder.",
    "ocsp::time::reversed": "It contradicts itself, and is out of date.",
}
