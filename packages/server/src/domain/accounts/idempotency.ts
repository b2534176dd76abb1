import { createHash } from "node:crypto"
import { type KeyClaim, Once, type OnceStep, parseOwnJson, runOnce, toOwnJson } from "@hamlet/kit"
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
export interface NewClaim extends KeyClaim {
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
  saveResponse(claim: KeyClaim, response: Uint8Array, until: number): Promise<void>
  /** Frees the key, unless another request has claimed it meanwhile. */
  release(claim: KeyClaim): Promise<void>
  /** Frees the key for the same request only, which continues from what was written. */
  suspend(claim: KeyClaim, at: number): Promise<void>
  /** Deletes some keys that are no longer needed. Returns false when there are none. */
  purge(at: number, discardBefore: number, countMax: number): Promise<boolean>
}

/** The node that works on idempotent requests. */
export interface IdempotencyNode {
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

/** The rules of idempotent requests. */
export type Idempotency = ReturnType<typeof createIdempotency>

/** Creates the rules of idempotent requests. */
export function createIdempotency(
  store: IdempotencyStore,
  cipher: Cipher,
  { nodeId, requestMsMax, now }: IdempotencyNode,
) {
  return {
    /**
     * Does the work, or returns the response that the same request got before. Server errors are not
     * stored, since a retry may succeed. What the work writes through `writeOnce` is written once,
     * even if the server crashes before the response is stored.
     */
    async respondOnce(
      request: OnceRequest,
      work: () => Promise<StoredResponse>,
    ): Promise<StoredResponse> {
      const fingerprint = toFingerprint(request.content)
      const at = now()
      const claim = { userId: request.userId, key: request.key, expiresAt: at + requestMsMax }
      const discardBefore = toDiscardBefore(at)
      const outcome = await store.claim({ ...claim, nodeId, fingerprint, at, discardBefore })
      if (outcome?.kind === "known") return repeat(cipher, request, outcome, fingerprint)
      const known =
        outcome?.progress === undefined
          ? []
          : (openJson(cipher, request, outcome.progress) as readonly OnceStep[])
      const once = new Once(
        claim,
        { hash: toHash(request, fingerprint), at, discardBefore },
        known,
        (steps) => sealJson(cipher, request, steps),
      )
      let response: StoredResponse | undefined
      try {
        response = await runOnce(once, work)
      } finally {
        if (!response || !isStorable(response))
          await (once.hasWritten ? store.suspend(claim, now()) : store.release(claim))
      }
      if (isStorable(response))
        await store.saveResponse(
          claim,
          sealJson(cipher, request, response),
          now() + limits.storedMs,
        )
      return response
    },
  }
}

/** Keys that expired before the result are deleted, even if something was written under them. */
export function toDiscardBefore(at: number): number {
  return at - limits.storedMs
}

function isStorable({ status }: StoredResponse): boolean {
  return status < 500 && status !== 429
}

function repeat(
  cipher: Cipher,
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
  return openJson(cipher, request, known.response) as StoredResponse
}

/** Encrypts the value, since it may contain a new token. */
function sealJson(cipher: Cipher, request: OnceRequest, value: unknown): Uint8Array {
  const sealed = cipher.seal(toOwnJson(value), purposeOf(request))
  return Buffer.concat([Buffer.from(sealed.keyId), sealed.bytes])
}

/**
 * The encryption key may have been dropped by a rotation. Then the response is lost, but the work
 * was done and must not be repeated.
 */
function openJson(cipher: Cipher, request: OnceRequest, kept: Uint8Array): unknown {
  const keyIdBytes = cipher.keyId.length
  const sealed = {
    keyId: Buffer.from(kept.subarray(0, keyIdBytes)).toString(),
    bytes: kept.subarray(keyIdBytes),
  }
  try {
    return parseOwnJson(cipher.open(sealed, purposeOf(request)))
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

function toHash({ userId, key }: OnceRequest, fingerprint: Uint8Array): string {
  return Buffer.from(toFingerprint([userId, key, fingerprint])).toString("base64url")
}

function purposeOf(request: OnceRequest): string {
  return `idempotency:${request.userId}:${request.key}`
}
