// SPDX-License-Identifier: Apache-2.0

/** Members of a document: a policy, an identity or a receipt. */
export type Document = { readonly [member: string]: unknown };
/** A receipt of any kind. */
export type Receipt = Uint8Array | string;

export interface Reason {
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  readonly place?: string;
}

/** One purchase, by Apple's names; other members are in it as well. */
export interface Purchase {
  readonly transactionId?: string;
  readonly originalTransactionId?: string;
  readonly productId?: string;
  readonly expiresDate?: string;
  readonly standing?: string;
  /** Whether it is active: grant it. */
  readonly grantsAccess?: boolean;
  /** The quantity to grant. */
  readonly remainingQuantity?: number;
  readonly [member: string]: unknown;
}

/**
 * The verdict on one receipt. What an invalid receipt states is left out: nothing of it was verified. In JavaScript every object is
 * true in a condition, this one too: ask `isValid`.
 */
export class Verdict {
  private constructor();
  readonly verdict: "valid" | "invalid" | "undetermined";
  /** Whether the receipt is genuine and satisfies the policy. */
  readonly isValid: boolean;
  /** Whether it is valid and a purchase in it is active. Grant nothing without it. */
  readonly grantsAccess: boolean;
  /** Why it is not valid. */
  readonly reason: Reason | null;
  /** Of an undetermined one: whether trying again later may give an answer. */
  readonly retryable: boolean;
  /** The kind of receipt; of an invalid one what it claims to be. */
  readonly format: string | null;
  readonly environment: string | null;
  readonly bundleId: string | null;
  /** When the receipt was signed, in ISO 8601. */
  readonly signedDate: string | null;
  /** Whether what was bought still stands, such as `active`; `null` where there is no purchase. */
  readonly standing: string | null;
  readonly transactions: readonly Purchase[];
  /** The whole object `verdict` as the library wrote it. A `nonce` may have more digits than a number of JavaScript holds. */
  readonly json: string;
  /** The members of the object `verdict`. */
  toJSON(): Document;
}

declare class Handle {
  /** Frees it. A second call does nothing; other calls fail from now on. */
  close(): void;
  readonly isClosed: boolean;
}

/** Verifies receipts by a policy. Keep it: it remembers the signers of receipts that it accepted. */
export class Verifier extends Handle {
  /** @param policy A policy or its JSON, at least `{ bundleIds: ["com.example.app"] }`. */
  constructor(policy: Document | string);
  verify(receipt: Receipt): Verdict;
  /** Verifies on a thread of Node, with a copy of the receipt. */
  verifyAsync(receipt: Receipt): Promise<Verdict>;
  /** Verifies on all processors. The verdicts have the order of the receipts. */
  verifyMany(receipts: Iterable<Receipt>): Verdict[];
  verifyManyAsync(receipts: Iterable<Receipt>): Promise<Verdict[]>;
  /**
   * The payload as the store signed it.
   * @throws {NotValidError} if the receipt is not valid
   */
  payload(receipt: Receipt): string;
  payloadAsync(receipt: Receipt): Promise<string>;
}

export interface SignedReceipt {
  readonly format: string;
  readonly signedDate: string | null;
  /** The receipt; that of an app in base64. */
  readonly receipt: string;
}

/** Signs receipts with a private key and its certificates, for tests. */
export class Signer extends Handle {
  /** @param identity An identity or its JSON: `{ privateKey, certificates }`. */
  constructor(identity: Document | string);
  sign(format: string, receipt: Document | string, options?: { base64?: boolean; pss?: boolean }): SignedReceipt;
}

/** The answer about a proof of an audit trail: ask `isProven`. */
export class ProofCheck {
  private constructor();
  readonly isProven: boolean;
  /** Why not. */
  readonly message: string | null;
  readonly json: string;
  toJSON(): Document;
}

/** What a call fails with. A verdict is no error, whatever it says. */
export class ReceiptKitError extends Error {
  /** A stable code, such as `unexpected`. */
  readonly code: string;
  /** The status of receiptkit.h: 64 for a wrong call, 66 for an input that cannot be read, 70 for a fault. */
  readonly status: number;
  /** The place in the input, such as a JSON path. */
  readonly place: string | null;
}

/** The verifier or signer is closed. */
export class ClosedError extends ReceiptKitError {}

/** The payload of a receipt that is not valid was asked for. */
export class NotValidError extends ReceiptKitError {
  readonly verdict: Verdict;
}

/** The contents of a receipt, of which nothing is checked: the object `inspection`. Grant nothing for it. */
export function inspectUnverified(receipt: Receipt, options?: { redact?: boolean }): Document;
/** Checks a proof (C2SP tlog-proof) with either the trail's public key or a witness policy. */
export function checkProof(
  proof: Receipt,
  request: { key?: string; policy?: string; replacedKeys?: string; receipt?: Receipt },
): ProofCheck;
/** The object `version`. */
export function version(): Document;
/** Loads the library from a path, in place of where it is looked for. */
export function load(path: string): void;
