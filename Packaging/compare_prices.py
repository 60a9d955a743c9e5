#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: Packaging/compare_prices.py TOOL REFERENCE

Checks that receipt-tool with a part of ICU's data shows products as one with all of it does: prices in every currency,
and the localisation that each of many languages gets. A use of ICU that needs what Packaging/icu_data.py leaves out must
fail here.
"""

import itertools
import json
import string
import subprocess
import sys
import tempfile
from pathlib import Path

CURRENCIES = ["".join(letters) for letters in itertools.product(string.ascii_uppercase, repeat=3)]
TITLES = ["en_US", "en_GB", "de", "fr", "fr_CA", "zh_Hans", "zh_Hant", "zh_Hant_HK", "sr_Cyrl", "sr_Latn", "pt", "pt_PT"]
LOCALES = """af am ar_EG az_Cyrl be bg bn bs_Cyrl ca cs da de_AT de_CH el en_AU en_GB en_IN es_419 es_MX et eu fa fi fil fr_BE
fr_CA ga gl gu he hi hr hu hy id is it_CH ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl_BE nn no pa pa_Arab pl pt_BR
pt_PT ro ru_UA si sk sl sq sr sr_Latn sr_ME sv sw ta te th tr uk ur uz_Arab uz_Cyrl vi yue_CN zh zh_CN zh_HK zh_Hant zh_MO zh_SG
zh_TW zu""".split()


def shown(tool: str, currencies: list[str], *locales: str) -> list[str]:
    """What the tool says of products, one in each currency: without a language, and in each language."""
    titles = [{"locale": locale, "title": f"title in {locale}"} for locale in TITLES]
    prices = itertools.cycle(["0.99", "1234567.5", "100", "0.005"])
    products = [
        {
            "productIdentifier": f"p.{code}",
            "type": "Consumable",
            "price": next(prices),
            "currency": code,
            "localizations": titles,
        }
        for code in currencies
    ]
    with tempfile.TemporaryDirectory() as folder:
        store, catalog = Path(folder, "store"), Path(folder, "catalog.json")
        catalog.write_text(json.dumps({"format": "receiptkit-catalog", "version": 1, "products": products}))
        init = [tool, "store", "init", "--store", store, "--catalog", catalog]
        subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
        show = [tool, "store", "products", "--json", "--store", store]
        languages = [[]] + [["--locale", locale] for locale in locales]
        return [subprocess.run(show + each, check=True, capture_output=True, text=True).stdout for each in languages]


def main(tool: str, reference: str) -> None:
    theirs = shown(reference, CURRENCIES) + shown(reference, ["EUR"], *LOCALES)
    if theirs[0].count("\n") != len(CURRENCIES) or len(set(theirs[1:])) < len(TITLES) - 2:
        sys.exit(f"compare_prices: the reference shows too little to compare:\n{theirs[0][:300]}\n{theirs[1]}")
    if shown(tool, CURRENCIES) + shown(tool, ["EUR"], *LOCALES) != theirs:
        sys.exit("compare_prices: products are shown differently without the data that was left out")
    print(f"compare_prices: {len(CURRENCIES)} currencies and {len(LOCALES)} languages are shown alike", file=sys.stderr)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
