import type { Config } from "../../../config/config.ts"
import { discover } from "../../../runtime/oidc/oidc-provider.ts"
import { about, type Findings, toReason } from "../../finding.ts"

const check = about("sign-in")

/** Whether the OpenID Connect provider responds and names the same issuer. It signs no user in. */
export async function checkSignIn({ oidc }: Config): Promise<Findings> {
  if (!oidc) return check.fine("with tokens and links only: HAMLET_OIDC_ISSUER is not set")
  try {
    const provider = await discover(oidc)
    const { authorization_endpoint, token_endpoint, jwks_uri } = provider.serverMetadata()
    if (!authorization_endpoint || !token_endpoint || !jwks_uri)
      return check.warning(
        `${oidc.issuer} does not name the endpoints of a sign-in`,
        "set HAMLET_OIDC_ISSUER to an OpenID Connect provider",
      )
    return check.fine(`${oidc.issuer} responds; its redirect URI must be ${oidc.redirectUri}`)
  } catch (error) {
    return check.warning(
      `${oidc.issuer} cannot be used: ${toReason(error)}`,
      "correct HAMLET_OIDC_ISSUER, or the provider; until then users sign in with tokens and links",
    )
  }
}
