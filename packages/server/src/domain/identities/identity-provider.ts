/** The OpenID Connect provider of this server. It throws `oidc_failed` or `sign_in_refused`. */
export interface IdentityProvider {
  /** Prepares a sign-in. */
  begin(): Promise<{ readonly url: string; readonly checks: ProviderChecks }>
  /** Exchanges the response, the query with which the browser came back, for an identity. */
  finish(response: string, checks: ProviderChecks): Promise<ProvenIdentity>
}

/** Random values of one sign-in, which its response must repeat or prove to know. */
export interface ProviderChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Names a person at a provider. A subject is unique at its issuer only. */
export interface IdentityKey {
  readonly issuer: string
  readonly subject: string
}

/** The person whom the provider has named. */
export interface ProvenIdentity extends IdentityKey {
  /** May send another request to the provider. */
  readProfile(): Promise<ProviderProfile>
}

/** What the provider says about a person. */
export interface ProviderProfile {
  readonly email: string | null
  readonly isEmailVerified: boolean
  /** The name that the person has there, of any shape. */
  readonly username: string | null
}
