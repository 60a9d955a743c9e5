# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite: what a case holds, and what is checked of each when it is added."""

import base64
import dataclasses
import fnmatch
import json
import re

import pki

# When a case is evaluated, unless it says otherwise: three months after the sample receipts were signed.
TIME = "2026-01-01T00:00:00Z"
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(::[a-z0-9]+(-[a-z0-9]+)*){2,3}")
IMPORTANCE = ("critical", "high", "medium", "low")
VERDICTS = ("valid", "invalid", "undetermined", "either")
# Members of a policy that every verifier of receipts can be given. Any other is a feature of its own.
BASIC = {"trust", "intermediates", "bundleIds", "environments", "appAppleId", "playKeys", "huaweiKeys"}
FLAGS: dict[str, dict] = {}


def flag(name: str, cause: str, effect: str, *references: str) -> str:
    """Declares a flag: what is wrong with such inputs, what a program that takes them falls for, and where to read it."""
    entry = {"cause": cause, "effect": effect, "references": list(references)}
    if FLAGS.setdefault(name, entry) != entry:
        raise ValueError(f"flag {name} is declared twice")
    return name


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    description: str
    operation: str
    features: list[str]
    importance: str
    flags: list[str]
    input: dict
    policy: dict
    time: str
    expected: dict

    def document(self) -> dict:
        return dataclasses.asdict(self)


class Suite:
    def __init__(self):
        self.cases: dict[str, Case] = {}

    def add(
        self,
        identifier: str,
        description: str,
        input: dict,
        verdict: str,
        *,
        operation: str = "verify",
        reason: str | None = None,
        place: str | None = None,
        values: dict | None = None,
        policy: dict | None = None,
        time: str = TIME,
        flags: list[str] | tuple = (),
        features: list[str] | tuple = (),
        importance: str = "high",
    ) -> None:
        """Adds a case. The first part of its identifier is its first feature; what its policy demands beyond the basics
        is a feature each, `policy-…`."""
        policy = policy or {}
        expected: dict = {"verdict": verdict}
        if reason:
            expected["reason"] = reason
        if place:
            expected["place"] = place
        if values is not None:
            expected["values"] = values
        demanded = [f"policy-{kebab(member)}" for member in sorted(policy) if member not in BASIC]
        # What a program cannot be told, it takes from the system's clock. The rule "evaluation" is a feature already, and
        # what stands is a matter of time by nature.
        told = policy.get("time") == "evaluation" or "standing" in features
        if not told and (time != TIME or "maximumAge" in policy):
            demanded.append("clock")
        if "xcode" in policy.get("environments", []):
            demanded.append("xcode")
        case = Case(
            identifier, description, operation, [identifier.split("::")[0], *features, *demanded], importance, list(flags),
            input, policy, time, expected,
        )  # fmt: skip
        self.check(case)
        self.cases[identifier] = case

    def leave_open(self, either: dict[str, str], reason: dict[str, str]) -> None:
        """Applies the patterns of left_open.py; each has a text that says why."""
        for patterns, expected in ((either, lambda case: {"verdict": "either"}), (reason, without_reason)):
            for pattern, why in patterns.items():
                matched = fnmatch.filter(self.cases, pattern)
                if not matched:
                    raise ValueError(f"left_open.py: no case is {pattern}")
                for identifier in matched:
                    case = self.cases[identifier]
                    self.cases[identifier] = dataclasses.replace(
                        case, description=f"{case.description} {why}", expected=expected(case)
                    )

    def check(self, case: Case) -> None:
        problems = {
            "its identifier has another form": not ID.fullmatch(case.id),
            "its identifier is taken": case.id in self.cases,
            "it has no description": not case.description.endswith("."),
            "its verdict is unknown": case.expected["verdict"] not in VERDICTS,
            "its importance is unknown": case.importance not in IMPORTANCE,
            "a flag is not declared": any(name not in FLAGS for name in case.flags),
            "a valid case states values and no reason": case.expected["verdict"] == "valid"
            and ("values" not in case.expected or "reason" in case.expected),
            "a refused case states a reason": case.expected["verdict"] in ("invalid", "undetermined")
            and "reason" not in case.expected,
        }
        found = [text for text, wrong in problems.items() if wrong]
        if found:
            raise ValueError(f"{case.id}: {', '.join(found)}")


def without_reason(case: Case) -> dict:
    return {"verdict": case.expected["verdict"]}


def kebab(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "-" + letter.group().lower(), name)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def receipt(data: bytes | str) -> dict:
    """The input of a case that verifies a receipt."""
    return {"receipt": b64(data.encode() if isinstance(data, str) else data)}


def json_bytes(value) -> bytes:
    """JSON without white space, as stores sign it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def base_policy(authority: pki.Authority, **changes) -> dict:
    """The policy of most cases: one root, one app, production and sandbox, the certificates as of the signing date."""
    policy = {
        "trust": [pki.pem(authority.root.encoded())],
        "bundleIds": ["com.example.app"],
        "environments": ["production", "sandbox"],
    }
    policy.update(changes)
    return {name: value for name, value in policy.items() if value is not None}
