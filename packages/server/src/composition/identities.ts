import { prepareOnce } from "@hamlet/kit"
import type { Sessions } from "../domain/accounts/sessions.ts"
import type { Users } from "../domain/accounts/users.ts"
import { createIdentities } from "../domain/identities/identities.ts"
import type { IdentityProvider } from "../domain/identities/identity-provider.ts"
import { createProviderSignIn } from "../domain/identities/provider-sign-in.ts"
import { createSignInAttempts } from "../domain/identities/sign-in-state.ts"
import { createAuthorizations } from "../domain/oauth/authorizations.ts"
import { createClientTokens } from "../domain/oauth/client-tokens.ts"
import { createOAuthClients } from "../domain/oauth/clients.ts"
import { createDevices } from "../domain/oauth/devices.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import type { Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

/** Sign-in with an OpenID Connect provider, and programs that users authorize. */
export function composeIdentities(
  foundation: Foundation,
  stores: Stores,
  cipher: Cipher,
  sessions: Sessions,
  users: Users,
) {
  const { baseUrl, oidc } = foundation.config
  const attempts = createSignInAttempts(createProvider(foundation), cipher, foundation)
  const policy = oidc ?? { signUp: "none" as const, domains: [], linksByEmail: false }
  return {
    identities: createIdentities(stores.identities, attempts, foundation),
    providerSignIn: createProviderSignIn(
      stores.identities,
      attempts,
      policy,
      sessions,
      users,
      foundation,
    ),
    oauthClients: createOAuthClients(stores.oauth, foundation),
    authorizations: createAuthorizations(stores.oauth, baseUrl, foundation),
    clientTokens: createClientTokens(stores.oauth, baseUrl, foundation),
    devices: createDevices(stores.oauth, foundation),
  }
}

/** The provider, whose library is large and is loaded at the first sign-in. */
function createProvider({ config, log, now }: Foundation): IdentityProvider | undefined {
  const { oidc } = config
  if (!oidc) return undefined
  const load = prepareOnce(async () => {
    const { createOidcProvider } = await import("../runtime/oidc/oidc-provider.ts")
    return createOidcProvider(oidc, now, (reason) => log.warn("oidc_failed", { reason }))
  })
  return {
    begin: async () => (await load()).begin(),
    finish: async (response, checks) => (await load()).finish(response, checks),
  }
}
