import {
  choice,
  inLowerCase,
  type ReadSetting,
  readTable,
  refuse,
  text,
  texts,
  toggle,
} from "./setting.ts"

const nameCharsMax = 60
const standardScopes = "openid email profile"

/** Visible ASCII. The message does not repeat it. */
const credential = {
  accept: /^[\x20-\x7e]{1,1000}$/,
  reason: "it must be up to 1000 visible ASCII characters",
  isSecret: true,
}

const clientSettings = {
  issuer: text({
    env: "HAMLET_OIDC_ISSUER",
    accept: toIssuer,
    reason: "it must be an https address without a query",
    meaning:
      "OpenID Connect provider with which users may sign in: its issuer, an https address (http for a provider on this machine). Register `{HAMLET_BASE_URL}/sign-in/provider` there as the redirect URI. See docs/administration.md.",
  }),
  clientId: text({
    env: "HAMLET_OIDC_CLIENT_ID",
    ...credential,
    meaning: "Client id that the provider has given to this server.",
  }),
  clientSecret: text({
    env: "HAMLET_OIDC_CLIENT_SECRET",
    ...credential,
    meaning: "Client secret of this server. Empty: a public client, which PKCE alone protects.",
  }),
}

/** Sign-in with an OpenID Connect provider. */
export const oidcSettings = {
  ...clientSettings,
  name: text({
    env: "HAMLET_OIDC_NAME",
    default: "host of the issuer",
    accept: (value) => (value.length <= nameCharsMax && !/\p{Cc}/u.test(value) ? value : undefined),
    reason: `it must be up to ${nameCharsMax} characters`,
    meaning: "Name of the provider on the sign-in page.",
  }),
  scopes: text({
    env: "HAMLET_OIDC_SCOPES",
    default: standardScopes,
    accept: toScopes,
    reason: "it must be names separated by spaces, with openid",
    meaning: "Scopes that are requested from the provider, with `openid`, separated by spaces.",
  }),
  signUp: choice({
    env: "HAMLET_OIDC_SIGN_UP",
    choices: ["invited", "all", "none"],
    meaning:
      "Who may create an account after the first sign-in with the provider: `invited` (who has an invitation), `all`, or `none`.",
  }),
  domains: texts({
    env: "HAMLET_OIDC_DOMAINS",
    accept: inLowerCase(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i),
    reason: "each one must be a domain",
    meaning:
      "Domains of email addresses, separated by commas: who has an address there that the provider has verified needs no invitation.",
  }),
  linksByEmail: toggle({
    env: "HAMLET_OIDC_LINK_EMAIL",
    meaning:
      "Whether a verified address at the provider signs in the existing user who has confirmed the same address here: `yes` or `no`. Say `yes` only if you trust the provider to verify addresses.",
  }),
}

/** Undefined if there is no provider. */
export function loadOidcConfig(read: ReadSetting, baseUrl: string) {
  const { issuer, clientId, clientSecret } = readTable(clientSettings, read)
  if (issuer === undefined) {
    if (clientId !== undefined || clientSecret !== undefined)
      refuse("HAMLET_OIDC_CLIENT_ID", "…", "HAMLET_OIDC_ISSUER must be set too")
    return undefined
  }
  if (clientId === undefined) return refuse("HAMLET_OIDC_ISSUER", issuer, "it needs a client id")
  const settings = readTable(oidcSettings, read)
  const { signUp, domains } = settings
  if (signUp === "all" && domains.length > 0)
    refuse("HAMLET_OIDC_DOMAINS", domains.join(","), "with HAMLET_OIDC_SIGN_UP=all it does nothing")
  return {
    ...settings,
    issuer,
    clientId,
    name: settings.name ?? new URL(issuer).host,
    scopes: settings.scopes ?? standardScopes,
    /** The page of the web app to which the provider sends the browser back. */
    redirectUri: `${baseUrl}/sign-in/provider`,
  }
}

/** Accepts an issuer as it is: it is compared letter by letter, and may end with a slash. */
function toIssuer(value: string): string | undefined {
  const isLocal = /^http:\/\/(127\.\d+\.\d+\.\d+|\[::1\]|localhost)(:\d+)?(\/[^\s?#@]*)?$/
  const isAddress = /^https:\/\/[^\s?#@]+$/
  return (isAddress.test(value) || isLocal.test(value)) && URL.canParse(value) ? value : undefined
}

function toScopes(value: string): string | undefined {
  const isList = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value)
  return isList && value.split(" ").includes("openid") ? value : undefined
}
