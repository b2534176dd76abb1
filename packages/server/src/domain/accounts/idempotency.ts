import { createHash } from "node:crypto"
import { type Claim, Once, type OnceStep, runOnce } from "../../shared/once.ts"
import { AppError } from "../app-error.ts"
import type { Cipher } from "../secrets/cipher.ts"

/** A response that is stored to be sent again. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A key that was used before. The response is undefined while the first request is in progress. */
export interface IdempotencyRecord {
  readonly fingerprint: Uint8Array
  readonly response: Uint8Array | undefined
}

/**
 * The result of claiming a key. `progress` is what an earlier attempt had recorded before its
 * server crashed.
 */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly progress: Uint8Array | undefined }
  | ({ readonly kind: "known" } & IdempotencyRecord)

/** A claim of a key. */
export interface NewClaim extends Claim {
  readonly nodeId: string
  readonly fingerprint: Uint8Array
  readonly at: number
  /** Keys that expired before then are deleted, even if something was written under them. */
  readonly discardBefore: number
}

/** Stores keys and responses. */
export interface IdempotencyStore {
  /**
   * Claims the key, or returns its record. A key that has expired, or whose node is gone, can be
   * claimed again; if something was written under it, only by the same request.
   */
  claim(claim: NewClaim): Promise<ClaimOutcome | undefined>
  /** Stores the response, unless another request has claimed the key meanwhile. */
  saveResponse(claim: Claim, response: Uint8Array, until: number): Promise<void>
  /** Frees the key, unless another request has claimed it meanwhile. */
  release(claim: Claim): Promise<void>
  /** Frees the key for the same request only, which continues from what was written. */
  suspend(claim: Claim, at: number): Promise<void>
  /** Deletes some keys that are no longer needed. Returns false when there are none. */
  purge(at: number, discardBefore: number, countMax: number): Promise<boolean>
}

/** What the rules of idempotency need. */
export interface IdempotencyDeps {
  readonly idempotency: IdempotencyStore
  readonly cipher: Cipher
  /** The id of this process in the database. */
  readonly nodeId: string
  /** The maximum duration of a request. After that its server has crashed, and the key is free. */
  readonly requestMsMax: number
  now(): number
}

const limits = {
  /** How long a response is stored. */
  storedMs: 24 * 60 * 60 * 1000,
}

/** A request that is executed once, however often it is sent. */
export interface OnceRequest {
  readonly userId: string
  readonly key: string
  /** Two requests with the same content are the same: method, path, body and scopes. */
  readonly content: readonly (string | Uint8Array)[]
}

/**
 * Does the work, or returns the response that the same request got before. Server errors are not
 * stored, since a retry may succeed. What the work writes through `writeOnce` is written once, even
 * if the server crashes before the response is stored.
 */
export async function respondOnce(
  deps: IdempotencyDeps,
  request: OnceRequest,
  work: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const fingerprint = toFingerprint(request.content)
  const at = deps.now()
  const claim = { userId: request.userId, key: request.key, expiresAt: at + deps.requestMsMax }
  const newClaim = {
    ...claim,
    nodeId: deps.nodeId,
    fingerprint,
    at,
    discardBefore: toDiscardBefore(at),
  }
  const outcome = await deps.idempotency.claim(newClaim)
  if (outcome?.kind === "known") return repeat(deps, request, outcome, fingerprint)
  const known =
    outcome?.progress === undefined
      ? []
      : (openJson(deps, request, outcome.progress) as readonly OnceStep[])
  const once = new Once(claim, known, (steps) => sealJson(deps, request, steps))
  let response: StoredResponse | undefined
  try {
    response = await runOnce(once, work)
  } finally {
    if (!response || !isStorable(response)) await giveUpClaim(deps, once)
  }
  if (isStorable(response))
    await deps.idempotency.saveResponse(
      claim,
      sealJson(deps, request, response),
      deps.now() + limits.storedMs,
    )
  return response
}

/** Keys that expired before the result are deleted, even if something was written under them. */
export function toDiscardBefore(at: number): number {
  return at - limits.storedMs
}

function isStorable({ status }: StoredResponse): boolean {
  return status < 500 && status !== 429
}

function giveUpClaim(deps: IdempotencyDeps, once: Once): Promise<void> {
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
      `Cannot use idempotency key "${request.key}" again: it belongs to another request`,
    )
  }
  if (!known.response)
    throw new AppError(
      "idempotency_in_flight",
      `Cannot use idempotency key "${request.key}" yet: its first request is still in progress`,
    )
  return openJson(deps, request, known.response) as StoredResponse
}

/** Encrypts the value, since it may contain a new token. */
function sealJson(deps: IdempotencyDeps, request: OnceRequest, value: unknown): Uint8Array {
  const sealed = deps.cipher.seal(JSON.stringify(value), purposeOf(request))
  return Buffer.concat([Buffer.from(sealed.keyId), sealed.bytes])
}

/**
 * The encryption key may have been dropped by a rotation. Then the response is lost, but the work
 * was done and must not be repeated.
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
      `Cannot use idempotency key "${request.key}" again: its response can no longer be decrypted`,
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
