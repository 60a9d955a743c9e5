# SPDX-License-Identifier: Apache-2.0
"""Google Play's pushes by way of receipt-server and its configuration file, and bodies of both stores at one address."""

import json

import requests

from service import Service
from test_google_play import ACTIVE, AUDIENCE, EMAIL, PACKAGE, account, google, push, subscribed  # noqa: F401


def test_pushes_are_taken_as_the_configuration_says(tmp_path, google, account):  # noqa: F811
    service = Service(tmp_path / "data")
    _, key_file, _, url = account

    def configure(configuration):
        configuration["app"]["demo"]["googlePlay"] = {
            "serviceAccount": str(key_file), "package": PACKAGE, "url": url, "tokenURL": f"{url}/token",
            "pushAudience": AUDIENCE, "pushEmail": EMAIL, "pushKeysURL": f"{google.url}/certs",
        }  # fmt: skip

    service.configure(configure)
    service.start()
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE

    def deliver(body: bytes, authorization: str | None) -> int:
        headers = {"Authorization": authorization} if authorization else {}
        return requests.post(f"{service.url}/v1/notifications/demo", data=body, headers=headers, timeout=60).status_code

    body = push(subscribed("t1"), "m1")
    for authorization in [
        None, "Basic YTpi", f"Bearer {google.token(aud='https://example.com/other')}",
        f"Bearer {google.token(email='other@example.iam.gserviceaccount.com')}",
        f"Bearer {google.token(exp=1, iat=0)}", f"Bearer {google.token()[:-8]}AAAAAAAA", "Bearer x.y.z",
    ]:  # fmt: skip
        assert deliver(body, authorization) == 401, authorization
    assert not [line for line in google.received if line[1].startswith("/purchases")]
    # It comes again until Google Play answers.
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 403, {"error": {"code": 403}}
    assert deliver(body, f"Bearer {google.token()}") == 503
    google.answers["GET", "/purchases/subscriptionsv2/tokens/t1"] = 200, ACTIVE
    assert deliver(body, f"Bearer {google.token()}") == 200
    assert service.get("/v1/entitlements/t1").json()["entitlements"]
    # The App Store's has no token, and a proxy may add a header: the body says whose it is.
    forged = json.dumps({"signedPayload": "e30.e30.e30"}).encode()
    for authorization in [None, "Basic YTpi", f"Bearer {google.token()}"]:
        assert deliver(forged, authorization) == 400
    assert deliver(b"{}", f"Bearer {google.token()}") == 400
    assert service.end() == 0
