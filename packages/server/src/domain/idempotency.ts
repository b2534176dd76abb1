import { createHash } from "node:crypto"
import { AppError } from "./app-error.ts"
import type { Cipher } from "./cipher.ts"

/** An answer as it was given, to be given again. */
export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What is known of a key that was used before; the answer is undefined while the first request is worked on. */
export interface IdempotencyRecord {
  readonly fingerprint: Uint8Array
  readonly answer: Uint8Array | undefined
}

/** A key that is being worked under; no two claims of a key expire at the same time. */
export interface Claim {
  readonly userId: string
  readonly key: string
  readonly expiresAt: number
}

/** Where keys and answers are kept. */
export interface IdempotencyStore {
  /** Takes the key, or gives what is known of it. One that has expired counts as new. */
  claim(claim: Claim & { readonly fingerprint: Uint8Array; readonly at: number }): Promise<IdempotencyRecord | undefined>
  /** Keeps the answer until then, unless the claim has expired and somebody else has the key now. */
  keep(claim: Claim, answer: Uint8Array, until: number): Promise<void>
  /** Gives the key back, unless somebody else has it now. */
  release(claim: Claim): Promise<void>
  /** Deletes some expired keys; false when there are none. */
  purge(at: number, countMax: number): Promise<boolean>
}

/** What the rules of idempotency need. */
export interface IdempotencyDeps {
  readonly idempotency: IdempotencyStore
  readonly cipher: Cipher
  /** How long a request may be worked on. After that, the server must have died over it, and the key is free again. */
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

/** Does the work, or gives the answer that the same request got before. Server errors are not kept: trying again may help. */
export async function answerOnce(deps: IdempotencyDeps, request: OnceRequest, work: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
  const fingerprint = toFingerprint(request.content)
  const at = deps.now()
  const claim = { userId: request.userId, key: request.key, expiresAt: at + deps.requestMsMax }
  const known = await deps.idempotency.claim({ ...claim, fingerprint, at })
  if (known) return repeat(deps, request, known, fingerprint)
  let answer: KeptAnswer | undefined
  try {
    answer = await work()
  } finally {
    if (!answer || answer.status >= 500 || answer.status === 429) await deps.idempotency.release(claim)
  }
  // The answer may hold a new token, so it is no more readable in the database than a secret is.
  if (answer.status < 500 && answer.status !== 429) {
    const sealed = deps.cipher.seal(JSON.stringify(answer), purposeOf(request))
    await deps.idempotency.keep(claim, Buffer.concat([Buffer.from(sealed.keyId), sealed.bytes]), deps.now() + limits.keptMs)
  }
  return answer
}

function repeat(deps: IdempotencyDeps, request: OnceRequest, known: IdempotencyRecord, fingerprint: Uint8Array): KeptAnswer {
  if (!Buffer.from(known.fingerprint).equals(fingerprint)) {
    throw new AppError("idempotency_mismatch", `Cannot use idempotency key "${request.key}" again: it stands for another request`)
  }
  if (!known.answer)
    throw new AppError(
      "idempotency_in_flight",
      `Cannot use idempotency key "${request.key}" yet: its first request is still being worked on`,
    )
  return reopen(deps, request, known.answer)
}

/** The key that encrypted it may be gone since: then the answer is lost, but what it tells of was done, and must not be done again. */
function reopen(deps: IdempotencyDeps, request: OnceRequest, kept: Uint8Array): KeptAnswer {
  const keyIdBytes = deps.cipher.keyId.length
  const sealed = { keyId: Buffer.from(kept.subarray(0, keyIdBytes)).toString(), bytes: kept.subarray(keyIdBytes) }
  try {
    return JSON.parse(deps.cipher.open(sealed, purposeOf(request))) as KeptAnswer
  } catch (cause) {
    throw new AppError("idempotency_mismatch", `Cannot use idempotency key "${request.key}" again: its answer can no longer be read`, {
      cause,
    })
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
