import type { Env } from "../options.ts"
import { type ReadSetting, readChoice, refuse } from "../readers.ts"

/** The settings of sign-in with an OpenID Connect provider. */
export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** What the sign-in page calls the provider. */
  readonly name: string
  readonly scopes: string
  /** The page of the web app to which the provider sends the browser back. */
  readonly redirectUri: string
  readonly signUp: "all" | "invited" | "none"
  readonly domains: readonly string[]
  readonly linksByEmail: boolean
}

const nameCharsMax = 60

/** Reads the settings of the provider. Undefined if there is none. */
export function loadOidcConfig(read: ReadSetting, baseUrl: string): OidcConfig | undefined {
  const issuer = readIssuer(read("HAMLET_OIDC_ISSUER"))
  const clientId = readVisible("HAMLET_OIDC_CLIENT_ID", read("HAMLET_OIDC_CLIENT_ID"))
  const clientSecret = readVisible("HAMLET_OIDC_CLIENT_SECRET", read("HAMLET_OIDC_CLIENT_SECRET"))
  if (issuer === undefined) {
    if (clientId !== undefined || clientSecret !== undefined)
      refuse("HAMLET_OIDC_CLIENT_ID", "…", "HAMLET_OIDC_ISSUER must be set too")
    return undefined
  }
  if (clientId === undefined) return refuse("HAMLET_OIDC_ISSUER", issuer, "it needs a client id")
  const signUp = readChoice("HAMLET_OIDC_SIGN_UP", read("HAMLET_OIDC_SIGN_UP"), [
    "invited",
    "all",
    "none",
  ])
  const domains = readDomains(read("HAMLET_OIDC_DOMAINS"))
  if (signUp === "all" && domains.length > 0)
    refuse("HAMLET_OIDC_DOMAINS", domains.join(","), "with HAMLET_OIDC_SIGN_UP=all it does nothing")
  return {
    ...{ issuer, clientId, clientSecret, signUp, domains },
    name: readName(read("HAMLET_OIDC_NAME")) ?? new URL(issuer).host,
    redirectUri: `${baseUrl}/sign-in/provider`,
    scopes: readScopes(read("HAMLET_OIDC_SCOPES")),
    linksByEmail:
      readChoice("HAMLET_OIDC_LINK_EMAIL", read("HAMLET_OIDC_LINK_EMAIL"), ["no", "yes"]) === "yes",
  }
}

/** As it is: an issuer is compared letter by letter, and may end with a slash. */
function readIssuer(text: string): string | undefined {
  if (text === "") return undefined
  const isLocal = /^http:\/\/(127\.\d+\.\d+\.\d+|\[::1\]|localhost)(:\d+)?(\/[^\s?#@]*)?$/
  const isAddress = /^https:\/\/[^\s?#@]+$/
  return (isAddress.test(text) || isLocal.test(text)) && URL.canParse(text)
    ? text
    : refuse("HAMLET_OIDC_ISSUER", text, "it must be an https address without a query")
}

/** The message does not repeat it. */
function readVisible(env: Env, text: string): string | undefined {
  if (text === "") return undefined
  return /^[\x20-\x7e]{1,1000}$/.test(text)
    ? text
    : refuse(env, "…", "it must be up to 1000 visible ASCII characters")
}

function readName(text: string): string | undefined {
  if (text === "") return undefined
  return text.length <= nameCharsMax && !/\p{Cc}/u.test(text)
    ? text
    : refuse("HAMLET_OIDC_NAME", text, `it must be up to ${nameCharsMax} characters`)
}

function readScopes(text: string): string {
  const scopes = text === "" ? "openid email profile" : text
  return /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(scopes) &&
    scopes.split(" ").includes("openid")
    ? scopes
    : refuse("HAMLET_OIDC_SCOPES", text, "it must be names separated by spaces, with openid")
}

function readDomains(text: string): readonly string[] {
  const domains = text
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
  const wrong = domains.find((domain) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain))
  return wrong === undefined
    ? domains
    : refuse("HAMLET_OIDC_DOMAINS", wrong, "each one must be a domain")
}
