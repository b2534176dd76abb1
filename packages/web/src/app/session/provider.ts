import { api } from "../api.ts"

/** A sign-in with the provider that began in this tab. */
export interface ProviderVisit {
  /** Encrypted by the server. */
  readonly attempt: string
  readonly purpose: "sign-in" | "link"
  /** The path of this app to continue with. */
  readonly to: string
  /** The code of the invitation that the user wants to accept. */
  readonly invitation?: string | undefined
}

const storageName = "hamlet-provider-visit"

/**
 * Sends the browser to the provider. The attempt is in storage that only this origin can write: a
 * response of a sign-in that began elsewhere, which an attacker could send here, has none.
 */
export async function visitProvider(visit: Omit<ProviderVisit, "attempt">): Promise<void> {
  const { url, attempt } = await api.startProviderSignIn()
  sessionStorage.setItem(storageName, JSON.stringify({ ...visit, attempt }))
  location.assign(url)
}

/** The sign-in that began in this tab. It is removed, because its response works once. */
export function takeVisit(): ProviderVisit | undefined {
  const text = sessionStorage.getItem(storageName)
  sessionStorage.removeItem(storageName)
  // Only this app writes it.
  return text === null ? undefined : (JSON.parse(text) as ProviderVisit)
}
