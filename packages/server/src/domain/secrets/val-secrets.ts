import { limits } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Retirer } from "../runs/retirement.ts"
import { type AssertVal, assertOwner, type Val, type Vals, valNotFound } from "../vals/vals.ts"
import type { Cipher, Sealed } from "./cipher.ts"
import { resealAll, type Secret, type SecretInput } from "./secrets.ts"

/** A secret of one val, with its encrypted value. */
export interface SealedValSecret extends Secret {
  readonly valId: string
  readonly sealed: Sealed
}

/** The part of a val that the rule about who may change its secrets needs. */
export type SecretVal = Pick<Val, "id" | "name" | "privacy" | "ownerId" | "ownerName">

/** Stores the encrypted secrets of single vals. They are deleted with their val. */
export interface ValSecretStore {
  list(valId: string, page: PageRequest): Promise<Page<Secret>>
  /** All secrets of a val, with their encrypted values. */
  listSealed(valId: string): Promise<readonly SealedValSecret[]>
  /**
   * Returns false when the val has `countMax` other secrets already, and undefined when there is no
   * such val. As `remove`, it increases the `ownerSecretsVersion` of the val's owner.
   */
  put(
    secret: SealedValSecret,
    assert: AssertVal<SecretVal>,
    countMax: number,
  ): Promise<boolean | undefined>
  /** Returns false when the val has no such secret, and undefined when there is no such val. */
  remove(valId: string, name: string, assert: AssertVal<SecretVal>): Promise<boolean | undefined>
  /** Some secrets that are not encrypted with this key. */
  listOtherKeys(keyId: string, countMax: number): Promise<readonly SealedValSecret[]>
  /** Replaces the encrypted value, unless it was changed since it was read. */
  reseal(secret: SealedValSecret, sealed: Sealed): Promise<void>
}

/** The rules of the secrets of single vals. */
export type ValSecrets = ReturnType<typeof createValSecrets>

/** Creates the rules of a val's secrets. */
export function createValSecrets(
  store: ValSecretStore,
  vals: Vals,
  cipher: Cipher,
  runner: Retirer,
  { now }: Pick<Clock, "now">,
) {
  return {
    /** The secrets of a val of the caller. */
    async list(caller: Caller, valId: string, page: PageRequest): Promise<Page<Secret>> {
      assertOwner(await vals.get(caller, valId), caller)
      return store.list(valId, page)
    },
    /** Sets a secret of one val of the caller. It takes the place of the account's in this val. */
    async put(caller: Caller, valId: string, { name, value, hosts }: SecretInput): Promise<void> {
      const at = now()
      const sealed = cipher.seal(value, toValPurpose({ valId, name }))
      const secret = { valId, name, hosts, sealed, createdAt: at, updatedAt: at }
      const assert = (val: SecretVal) => assertOwner(val, caller)
      const isKept = await store.put(secret, assert, limits.secretsPerValMax)
      if (isKept === undefined) throw valNotFound(valId)
      if (!isKept)
        throw new AppError(
          "too_many_secrets",
          `Cannot add secret "${name}": the val has ${limits.secretsPerValMax} already`,
        )
      runner.retire({ ownerId: caller.userId })
    },
    /** Deletes a secret of one val of the caller. The val then reads the account's of that name. */
    async delete(caller: Caller, valId: string, name: string): Promise<void> {
      const isRemoved = await store.remove(valId, name, (val) => assertOwner(val, caller))
      if (isRemoved === undefined) throw valNotFound(valId)
      if (!isRemoved)
        throw new AppError(
          "secret_not_found",
          `Cannot delete secret "${name}": the val has none with that name`,
        )
      runner.retire({ ownerId: caller.userId })
    },
    /** Encrypts the secrets of all vals with the newest key, in batches. Returns their number. */
    reseal: (batchMax?: number) => resealAll(store, cipher, toValPurpose, batchMax),
  }
}

/** Authenticated by the cipher: a value moved to another val or name cannot be decrypted. */
export function toValPurpose(secret: { readonly valId: string; readonly name: string }): string {
  return `val secret:${secret.valId}:${secret.name}`
}
