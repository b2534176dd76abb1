import { limits, type secret } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { Retirer } from "../runs/retirement.ts"
import type { Cipher, Sealed } from "./cipher.ts"

/** A secret without its value. */
export type Secret = Stored<typeof secret>

/** A secret with its encrypted value. */
export interface SealedSecret extends Secret {
  readonly userId: string
  readonly sealed: Sealed
}

/** Stores encrypted secrets. */
export interface SecretStore {
  list(userId: string, page: PageRequest): Promise<Page<Secret>>
  /** All secrets of a user, with their encrypted values. */
  listSealed(userId: string): Promise<readonly SealedSecret[]>
  /**
   * Returns false when the user has `countMax` other secrets already. As `remove`, it increases the
   * user's `ownerSecretsVersion`.
   */
  put(secret: SealedSecret, countMax: number): Promise<boolean>
  remove(userId: string, name: string): Promise<boolean>
  /** Some secrets that are not encrypted with this key. */
  listOtherKeys(keyId: string, countMax: number): Promise<readonly SealedSecret[]>
  /** Replaces the encrypted value, unless it was changed since it was read. */
  reseal(secret: SealedSecret, sealed: Sealed): Promise<void>
}

/** A secret as its owner sets it. */
export interface SecretInput {
  readonly name: string
  readonly value: string
  /** Null for a secret that vals can read themselves. */
  readonly hosts: readonly string[] | null
}

/** The rules of the secrets of accounts. */
export type Secrets = ReturnType<typeof createSecrets>

/** Creates the rules of secrets. */
export function createSecrets(
  store: SecretStore,
  cipher: Cipher,
  runner: Retirer,
  { now }: Pick<Clock, "now">,
) {
  return {
    list: (caller: Caller, page: PageRequest) => store.list(caller.ownerId, page),
    /** Sets a secret of the caller. */
    async put({ ownerId }: Caller, { name, value, hosts }: SecretInput): Promise<void> {
      assertLimitable(name, hosts)
      const at = now()
      const sealed = cipher.seal(value, toAccountPurpose({ userId: ownerId, name }))
      const secret = { userId: ownerId, name, hosts, sealed, createdAt: at, updatedAt: at }
      if (!(await store.put(secret, limits.secretsPerUserMax)))
        throw new AppError(
          "too_many_secrets",
          `Cannot add secret "${name}": you have ${limits.secretsPerUserMax} already`,
        )
      runner.retire({ ownerId })
    },
    /** Deletes a secret of the caller. */
    async delete({ ownerId }: Caller, name: string): Promise<void> {
      if (!(await store.remove(ownerId, name)))
        throw new AppError(
          "secret_not_found",
          `Cannot delete secret "${name}": you have none with that name`,
        )
      runner.retire({ ownerId })
    },
    /** Encrypts all secrets with the newest key, in batches. Returns their number. */
    reseal: (batchMax?: number) => resealAll(store, cipher, toAccountPurpose, batchMax),
  }
}

/** Encrypts all secrets of a store with the newest key, in batches. Returns their number. */
export async function resealAll<Stored extends { readonly sealed: Sealed }>(
  store: {
    listOtherKeys(keyId: string, countMax: number): Promise<readonly Stored[]>
    reseal(secret: Stored, sealed: Sealed): Promise<void>
  },
  cipher: Cipher,
  toPurpose: (secret: Stored) => string,
  batchMax = 100,
): Promise<number> {
  let count = 0
  for (;;) {
    const batch = await store.listOtherKeys(cipher.keyId, batchMax)
    for (const secret of batch) {
      const value = cipher.open(secret.sealed, toPurpose(secret))
      await store.reseal(secret, cipher.seal(value, toPurpose(secret)))
    }
    count += batch.length
    if (batch.length === 0) return count
  }
}

/** Authenticated by the cipher: a value moved to another user or name cannot be decrypted. */
export function toAccountPurpose(secret: {
  readonly userId: string
  readonly name: string
}): string {
  return `secret:${secret.userId}:${secret.name}`
}

/** Headers carry the name of a secret that is limited to hosts, between other words. */
export function assertLimitable(name: string, hosts: SecretInput["hosts"] | undefined): void {
  if (!hosts || /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return
  throw new AppError(
    "invalid_request",
    `Cannot limit secret "${name}" to hosts: its name must have only letters, digits and _, and not start with a digit`,
    { issues: [{ path: "hosts", message: "must be absent for this name" }] },
  )
}
