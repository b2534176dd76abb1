import { createOidcProvider } from "../runtime/oidc/oidc-provider.ts"
import { createIdentityStore } from "../storage/accounts/identities.ts"
import { createNotificationStore } from "../storage/notifications/notifications.ts"
import type { Foundation } from "./foundation.ts"

/** Sign-in with an OpenID Connect provider, and what users are told. */
export function createIdentities({ config, db, log, now }: Foundation) {
  const { oidc } = config
  return {
    identities: createIdentityStore(db, now),
    notifications: createNotificationStore(db),
    identityProvider:
      oidc && createOidcProvider(oidc, now, (reason) => log.warn("oidc_failed", { reason })),
    signUpPolicy: oidc ?? { signUp: "none" as const, domains: [], linksByEmail: false },
    /** What the sign-in page calls the provider; null for none. */
    providerName: oidc?.name ?? null,
  }
}
