import { createMask, type Mask } from "@hamlet/kit"
import type { Substitution } from "@hamlet/sandbox"
import type { Cipher } from "./cipher.ts"
import { type SecretInput, type SecretStore, toAccountPurpose } from "./secrets.ts"
import { toValPurpose, type ValSecretStore } from "./val-secrets.ts"

/** Decrypts the secrets of vals. */
export type SecretOpener = ReturnType<typeof createSecretOpener>

/** Creates the opener: it decrypts what a val reads, its own secrets and those of its owner's account. */
export function createSecretOpener(
  ofAccounts: Pick<SecretStore, "listSealed">,
  ofVals: Pick<ValSecretStore, "listSealed">,
  cipher: Pick<Cipher, "open">,
) {
  return {
    async open(val: { readonly id: string; readonly ownerId: string }): Promise<OpenSecrets> {
      const [ofAccount, ofVal] = await Promise.all([
        ofAccounts.listSealed(val.ownerId),
        ofVals.listSealed(val.id),
      ])
      // A secret of the val takes the place of the account's, also where only one has hosts.
      const own = new Set(ofVal.map(({ name }) => name))
      return toOpenSecrets([
        ...ofAccount
          .filter(({ name }) => !own.has(name))
          .map((it) => ({ ...it, value: cipher.open(it.sealed, toAccountPurpose(it)) })),
        ...ofVal.map((it) => ({ ...it, value: cipher.open(it.sealed, toValPurpose(it)) })),
      ])
    },
  }
}

/** A mask of all secrets that the val reads. */
export async function openMask(
  secrets: SecretOpener,
  val: Parameters<SecretOpener["open"]>[0],
): Promise<Mask> {
  const { values, substitutions } = await secrets.open(val)
  return createMask(
    new Map([...values, ...substitutions.map(({ name, value }) => [name, value] as const)]),
  )
}

/** For a secret that is limited to certain hosts, the val gets a placeholder. */
function toOpenSecrets(secrets: readonly SecretInput[]): OpenSecrets {
  const values = new Map<string, string>()
  const substitutions: NamedSubstitution[] = []
  for (const { name, value, hosts } of secrets) {
    if (hosts === null) values.set(name, value)
    else
      substitutions.push({
        name,
        placeholder: `hamlet-secret:${name}`,
        value,
        hosts: hosts.map((host) => host.toLowerCase()),
      })
  }
  return { values, substitutions }
}

/** The secrets of a program. */
export interface OpenSecrets {
  /** By name. */
  readonly values: ReadonlyMap<string, string>
  readonly substitutions: readonly NamedSubstitution[]
}

/** A substitution and the name of its secret. */
type NamedSubstitution = Substitution & { readonly name: string }
