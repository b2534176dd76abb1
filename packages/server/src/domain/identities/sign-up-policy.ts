import { AppError } from "../app-error.ts"
import type { ProviderProfile } from "./identity-provider.ts"

/** Who may create an account after a sign-in with the provider. */
export interface SignUpPolicy {
  /** `all`: everyone at the provider. `invited`: people with an invitation. `none`: no one. */
  readonly signUp: "all" | "invited" | "none"
  /** Who has a verified address of one of these domains needs no invitation. */
  readonly domains: readonly string[]
  /** Whether a verified address signs in the user who has confirmed the same address here. */
  readonly linksByEmail: boolean
}

type Address = Pick<ProviderProfile, "email" | "isEmailVerified">

/** Throws unless the person may create an account. Returns whether that needs an invitation. */
export function needsInvitation(policy: SignUpPolicy, address: Address): boolean {
  if (policy.signUp === "all" || isOfDomain(policy.domains, address)) return false
  if (policy.signUp === "invited") return true
  throw signUpRefused("the operator of this server has to create it")
}

/** The error for a person who may not create an account. */
export function signUpRefused(reason: string): AppError {
  return new AppError(
    "sign_up_refused",
    `Cannot sign in: you have no account on this server, and ${reason}`,
  )
}

/** A domain does not include its subdomains, which may belong to others. */
function isOfDomain(domains: readonly string[], { email, isEmailVerified }: Address): boolean {
  const domain = /@([^@]+)$/.exec(email ?? "")?.[1]?.toLowerCase()
  return isEmailVerified && domain !== undefined && domains.includes(domain)
}

const usernameCharsMax = 30

/** A username like the one at the provider or the email address; null when nothing is usable. */
export function suggestUsername({ username, email }: ProviderProfile): string | null {
  const wanted = (username ?? email ?? "").split("@", 1)[0] ?? ""
  const name = wanted
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-zA-Z0-9_]+/g, "_")
    .replace(/^[^a-zA-Z]+/, "")
    .slice(0, usernameCharsMax)
    .replace(/_+$/, "")
  return name === "" ? null : name
}
