import { limits, type valSecret } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { assertMayChange, assertMayInspect, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { Retirer } from "../runs/retirement.ts"
import type { AssertVal, Val, Vals } from "../vals/vals.ts"
import type { Cipher, Sealed } from "./cipher.ts"
import { assertLimitable, resealAll, type SecretInput } from "./secrets.ts"

/** A secret of one val, without its value. */
export type ValSecret = Stored<typeof valSecret>

/** A secret of one val, with its encrypted value. */
export interface SealedValSecret extends ValSecret {
  readonly valId: string
  readonly sealed: Sealed
}

/** The part of a val that the rule about who may change its secrets needs. */
export type SecretVal = Pick<Val, "id" | "name" | "privacy" | "ownerId" | "ownerName">

/** Makes a secret of what there is, or throws. */
export type DecideSecret = (
  val: SecretVal,
  existing: ValSecret | undefined,
  otherCount: number,
) => SealedValSecret

/** A secret as the val's owner sets it. Undefined fields stay, or are null if it is new. */
export interface ValSecretInput extends Pick<SecretInput, "name" | "value"> {
  readonly hosts?: SecretInput["hosts"] | undefined
  readonly description?: string | null | undefined
}

/** Stores the encrypted secrets of single vals. They are deleted with their val. */
export interface ValSecretStore {
  list(valId: string, page: PageRequest): Promise<Page<ValSecret>>
  /** All secrets of a val, with their encrypted values. */
  listSealed(valId: string): Promise<readonly SealedValSecret[]>
  /**
   * Writes the secret that `decide` returns. It is called inside the transaction, perhaps more than
   * once, with the secret of that name and the number of others. Undefined when there is no such
   * val. As `remove`, it increases the `ownerSecretsVersion` of the val's owner.
   */
  put(valId: string, name: string, decide: DecideSecret): Promise<ValSecret | undefined>
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
    async list(caller: Caller, valId: string, page: PageRequest): Promise<Page<ValSecret>> {
      assertMayInspect(await vals.get(caller, valId), caller, "list the secrets of")
      return store.list(valId, page)
    },
    /**
     * Sets a secret of one val of the caller. It takes the place of the account's in this val. A secret
     * that is to be `new` must not exist, and one that is not must exist; by default either is fine.
     */
    async put(
      caller: Caller,
      valId: string,
      input: ValSecretInput,
      isNew?: boolean,
    ): Promise<ValSecret> {
      const { name } = input
      assertLimitable(name, input.hosts)
      const at = now()
      const sealed = cipher.seal(input.value, toValPurpose({ valId, name }))
      const secret = await store.put(valId, name, (val, existing, otherCount) => {
        assertMayChange(val, caller)
        if (existing && isNew === true)
          throw new AppError("secret_exists", `Cannot add "${name}": the val has it already`)
        if (!existing && isNew === false) throw secretNotFound("change", name)
        if (otherCount >= limits.secretsPerValMax)
          throw new AppError(
            "too_many_secrets",
            `Cannot add secret "${name}": the val has ${limits.secretsPerValMax} already`,
          )
        const { hosts = existing?.hosts ?? null, description = existing?.description ?? null } =
          input
        const createdAt = existing?.createdAt ?? at
        // A change is always later, which shows that there was one.
        const updatedAt = existing ? Math.max(at, createdAt + 1) : at
        return { valId, name, hosts, description, sealed, createdAt, updatedAt }
      })
      if (!secret) throw valNotFound(valId)
      runner.retire({ valId })
      return secret
    },
    /** Deletes a secret of one val of the caller. The val then reads the account's of that name. */
    async delete(caller: Caller, valId: string, name: string): Promise<void> {
      const isRemoved = await store.remove(valId, name, (val) => assertMayChange(val, caller))
      if (isRemoved === undefined) throw valNotFound(valId)
      if (!isRemoved) throw secretNotFound("delete", name)
      runner.retire({ valId })
    },
    /** Encrypts the secrets of all vals with the newest key, in batches. Returns their number. */
    reseal: (batchMax?: number) => resealAll(store, cipher, toValPurpose, batchMax),
  }
}

function secretNotFound(verb: string, name: string): AppError {
  return new AppError(
    "secret_not_found",
    `Cannot ${verb} secret "${name}": the val has none with that name`,
  )
}

/** Authenticated by the cipher: a value moved to another val or name cannot be decrypted. */
export function toValPurpose(secret: { readonly valId: string; readonly name: string }): string {
  return `val secret:${secret.valId}:${secret.name}`
}
