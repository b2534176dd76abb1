import type { Config } from "../../../config/config.ts"
import { discover } from "../../../runtime/oidc/oidc-provider.ts"
import { type Finding, fine, toReason, warning } from "../../finding.ts"

const check = "sign-in"

/** Whether the OpenID Connect provider responds and names the same issuer. It signs no user in. */
export async function checkSignIn({ oidc }: Config): Promise<readonly Finding[]> {
  if (!oidc) return [fine(check, "with tokens and links only: HAMLET_OIDC_ISSUER is not set")]
  try {
    const provider = await discover(oidc)
    const { authorization_endpoint, token_endpoint, jwks_uri } = provider.serverMetadata()
    if (!authorization_endpoint || !token_endpoint || !jwks_uri)
      return [
        warning(
          check,
          `${oidc.issuer} does not name the endpoints of a sign-in`,
          "set HAMLET_OIDC_ISSUER to an OpenID Connect provider",
        ),
      ]
    return [fine(check, `${oidc.issuer} responds; its redirect URI must be ${oidc.redirectUri}`)]
  } catch (error) {
    return [
      warning(
        check,
        `${oidc.issuer} cannot be used: ${toReason(error)}`,
        "correct HAMLET_OIDC_ISSUER, or the provider; until then users sign in with tokens and links",
      ),
    ]
  }
}
