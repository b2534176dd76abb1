import type { IdentityProvider } from "../domain/identities/identity-provider.ts"
import { createIdentityStore } from "../storage/accounts/identities.ts"
import { createNotificationStore } from "../storage/notifications/notifications.ts"
import type { Foundation } from "./foundation.ts"

/** Sign-in with an OpenID Connect provider, and what users are told. */
export function createIdentities({ config, db, log, now }: Foundation) {
  const { oidc } = config
  return {
    identities: createIdentityStore(db, now),
    notifications: createNotificationStore(db),
    identityProvider: oidc && createProvider(oidc, { log, now }),
    signUpPolicy: oidc ?? { signUp: "none" as const, domains: [], linksByEmail: false },
    /** What the sign-in page calls the provider; null for none. */
    providerName: oidc?.name ?? null,
  }
}

/** The provider, whose library is large and is loaded at the first sign-in. */
function createProvider(
  settings: NonNullable<Foundation["config"]["oidc"]>,
  { log, now }: Pick<Foundation, "log" | "now">,
): IdentityProvider {
  let loading: Promise<IdentityProvider> | undefined
  const load = () => {
    loading ??= import("../runtime/oidc/oidc-provider.ts").then(({ createOidcProvider }) =>
      createOidcProvider(settings, now, (reason) => log.warn("oidc_failed", { reason })),
    )
    return loading
  }
  return {
    begin: async () => (await load()).begin(),
    finish: async (response, checks) => (await load()).finish(response, checks),
  }
}
