import { limits } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import {
  type AssertVal,
  assertOwner,
  getVal,
  type Val,
  type ValStore,
  valNotFound,
} from "../vals/vals.ts"
import type { Sealed } from "./cipher.ts"
import { resealAll, type Secret, type SecretDeps, type SecretInput } from "./secrets.ts"

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

/** What the rules of a val's secrets need. */
export interface ValSecretDeps extends Pick<SecretDeps, "cipher" | "runner" | "now"> {
  readonly vals: ValStore
  readonly valSecrets: ValSecretStore
}

/** The secrets of a val of the caller. */
export async function listValSecrets(
  deps: Pick<ValSecretDeps, "vals" | "valSecrets">,
  caller: Caller,
  valId: string,
  page: PageRequest,
): Promise<Page<Secret>> {
  assertOwner(await getVal(deps, caller, valId), caller)
  return deps.valSecrets.list(valId, page)
}

/** Sets a secret of one val of the caller. It takes the place of the account's in this val. */
export async function putValSecret(
  deps: ValSecretDeps,
  caller: Caller,
  valId: string,
  { name, value, hosts }: SecretInput,
): Promise<void> {
  const at = deps.now()
  const sealed = deps.cipher.seal(value, toValPurpose({ valId, name }))
  const secret = { valId, name, hosts, sealed, createdAt: at, updatedAt: at }
  const isKept = await deps.valSecrets.put(
    secret,
    (val) => assertOwner(val, caller),
    limits.secretsPerValMax,
  )
  if (isKept === undefined) throw valNotFound(valId)
  if (!isKept)
    throw new AppError(
      "too_many_secrets",
      `Cannot add secret "${name}": the val has ${limits.secretsPerValMax} already`,
    )
  deps.runner.retire({ ownerId: caller.userId })
}

/** Deletes a secret of one val of the caller. The val then reads the account's of that name. */
export async function deleteValSecret(
  deps: ValSecretDeps,
  caller: Caller,
  valId: string,
  name: string,
): Promise<void> {
  const isRemoved = await deps.valSecrets.remove(valId, name, (val) => assertOwner(val, caller))
  if (isRemoved === undefined) throw valNotFound(valId)
  if (!isRemoved)
    throw new AppError(
      "secret_not_found",
      `Cannot delete secret "${name}": the val has none with that name`,
    )
  deps.runner.retire({ ownerId: caller.userId })
}

/** Encrypts the secrets of all vals with the newest key, in batches. Returns their number. */
export function resealValSecrets(
  deps: Pick<ValSecretDeps, "valSecrets" | "cipher">,
  batchMax?: number,
): Promise<number> {
  return resealAll(deps.valSecrets, deps.cipher, toValPurpose, batchMax)
}

/** Authenticated by the cipher: a value moved to another val or name cannot be decrypted. */
export function toValPurpose(secret: { readonly valId: string; readonly name: string }): string {
  return `val secret:${secret.valId}:${secret.name}`
}
