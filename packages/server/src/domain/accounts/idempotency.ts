import { createHash } from "node:crypto"
import { type Claim, Once, type OnceStep, runOnce } from "../../shared/once.ts"
import { AppError } from "../app-error.ts"
import type { Cipher } from "../secrets/cipher.ts"

/** An answer as it was given, to be given again. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * What is known of a key that was used before; the answer is undefined while the first request is
 * worked on.
 */
export interface IdempotencyRecord {
  readonly fingerprint: Uint8Array
  readonly response: Uint8Array | undefined
}

/**
 * What came of asking for a key: it is ours, with what was done under it before the server died, or
 * it is not.
 */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly progress: Uint8Array | undefined }
  | ({ readonly kind: "known" } & IdempotencyRecord)

/** Asking for a key. */
export interface NewClaim extends Claim {
  readonly nodeId: string
  readonly fingerprint: Uint8Array
  readonly at: number
  /** What has expired before then is forgotten, whatever was done under it. */
  readonly discardBefore: number
}

/** Where keys and answers are kept. */
export interface IdempotencyStore {
  /**
   * Takes the key, or gives what is known of it. One that has expired counts as new, and so does
   * one whose node is no more; unless something was written under it, which only the same request
   * may go on with.
   */
  claim(claim: NewClaim): Promise<ClaimOutcome | undefined>
  /**
   * Keeps the answer until then, unless the claim has expired and somebody else has the key now.
   */
  saveResponse(claim: Claim, answer: Uint8Array, until: number): Promise<void>
  /** Gives the key back, unless somebody else has it now. */
  release(claim: Claim): Promise<void>
  /** Gives the key back to the same request only, which goes on with what was written. */
  suspend(claim: Claim, at: number): Promise<void>
  /** Deletes some keys that are needed no more; false when there are none. */
  purge(at: number, discardBefore: number, countMax: number): Promise<boolean>
}

/** What the rules of idempotency need. */
export interface IdempotencyDeps {
  readonly idempotency: IdempotencyStore
  readonly cipher: Cipher
  /** This process, as the database knows it. */
  readonly nodeId: string
  /**
   * How long a request may be worked on. After that, the server must have died over it, and the key
   * is free again.
   */
  readonly requestMsMax: number
  now(): number
}

const limits = {
  /** How long an answer is given again. */
  keptMs: 24 * 60 * 60 * 1000,
}

/** A request that is to be done once, however often it is sent. */
export interface OnceRequest {
  readonly userId: string
  readonly key: string
  /** Everything that makes two requests the same: method, path, body and what the caller may do. */
  readonly content: readonly (string | Uint8Array)[]
}

/**
 * Does the work, or gives the answer that the same request got before. Server errors are not kept:
 * trying again may help. What the work writes to the database through `writeOnce` is written once,
 * even when the server dies before the answer is kept.
 */
export async function respondOnce(
  deps: IdempotencyDeps,
  request: OnceRequest,
  work: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const fingerprint = toFingerprint(request.content)
  const at = deps.now()
  const claim = { userId: request.userId, key: request.key, expiresAt: at + deps.requestMsMax }
  const asked = {
    ...claim,
    nodeId: deps.nodeId,
    fingerprint,
    at,
    discardBefore: toDiscardBefore(at),
  }
  const outcome = await deps.idempotency.claim(asked)
  if (outcome?.kind === "known") return repeat(deps, request, outcome, fingerprint)
  const known =
    outcome?.progress === undefined
      ? []
      : (openJson(deps, request, outcome.progress) as readonly OnceStep[])
  const once = new Once(claim, known, (steps) => sealJson(deps, request, steps))
  let answer: StoredResponse | undefined
  try {
    answer = await runOnce(once, work)
  } finally {
    if (!answer || !isKept(answer)) await giveBack(deps, once)
  }
  if (isKept(answer))
    await deps.idempotency.saveResponse(
      claim,
      sealJson(deps, request, answer),
      deps.now() + limits.keptMs,
    )
  return answer
}

/** When a key must have expired for it to be forgotten although something was written under it. */
export function toDiscardBefore(at: number): number {
  return at - limits.keptMs
}

function isKept({ status }: StoredResponse): boolean {
  return status < 500 && status !== 429
}

function giveBack(deps: IdempotencyDeps, once: Once): Promise<void> {
  return once.hasWritten
    ? deps.idempotency.suspend(once.claim, deps.now())
    : deps.idempotency.release(once.claim)
}

function repeat(
  deps: IdempotencyDeps,
  request: OnceRequest,
  known: IdempotencyRecord,
  fingerprint: Uint8Array,
): StoredResponse {
  if (!Buffer.from(known.fingerprint).equals(fingerprint)) {
    throw new AppError(
      "idempotency_mismatch",
      `Cannot use idempotency key "${request.key}" again: it stands for another request`,
    )
  }
  if (!known.response)
    throw new AppError(
      "idempotency_in_flight",
      `Cannot use idempotency key "${request.key}" yet: its first request is still being worked on`,
    )
  return openJson(deps, request, known.response) as StoredResponse
}

/** It may hold a new token, so it is no more readable in the database than a secret is. */
function sealJson(deps: IdempotencyDeps, request: OnceRequest, value: unknown): Uint8Array {
  const sealed = deps.cipher.seal(JSON.stringify(value), purposeOf(request))
  return Buffer.concat([Buffer.from(sealed.keyId), sealed.bytes])
}

/**
 * The key that encrypted it may be gone since: then the answer is lost, but what it tells of was
 * done, and must not be done again.
 */
function openJson(deps: IdempotencyDeps, request: OnceRequest, kept: Uint8Array): unknown {
  const keyIdBytes = deps.cipher.keyId.length
  const sealed = {
    keyId: Buffer.from(kept.subarray(0, keyIdBytes)).toString(),
    bytes: kept.subarray(keyIdBytes),
  }
  try {
    return JSON.parse(deps.cipher.open(sealed, purposeOf(request)))
  } catch (cause) {
    throw new AppError(
      "idempotency_mismatch",
      `Cannot use idempotency key "${request.key}" again: its answer can no longer be read`,
      {
        cause,
      },
    )
  }
}

function toFingerprint(content: OnceRequest["content"]): Uint8Array {
  const hash = createHash("sha256")
  for (const part of content) hash.update(String(part.length)).update(":").update(part)
  return hash.digest()
}

function purposeOf(request: OnceRequest): string {
  return `idempotency:${request.userId}:${request.key}`
}
