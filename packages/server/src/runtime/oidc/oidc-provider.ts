import { readBytes } from "@hamlet/kit"
import * as client from "openid-client"
import { AppError } from "../../domain/app-error.ts"
import type {
  IdentityProvider,
  ProvenIdentity,
  ProviderChecks,
  ProviderProfile,
} from "../../domain/identities/identity-provider.ts"
import { signInRefused } from "../../domain/identities/sign-in-state.ts"

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which has PKCE alone. */
  readonly clientSecret: string | undefined
  readonly scopes: string
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string
}

const limits = {
  requestSeconds: 10,
  /** Endpoints and keys of a provider may change. */
  settingsMs: 3_600_000,
  clockToleranceSeconds: 60,
  subjectCharsMax: 255,
  emailCharsMax: 254,
  usernameCharsMax: 200,
  reasonCharsMax: 300,
}

/**
 * The provider of the settings. Its own settings are fetched when they are first needed. `onProblem`
 * gets the reason of each failure, which contains no code, token or claim.
 */
export function createOidcProvider(
  settings: OidcSettings,
  now: () => number,
  onProblem: (reason: string) => void,
): IdentityProvider {
  const find = createDiscovery(settings, now)
  const attempt = async <T>(work: () => Promise<T>) => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError) throw error
      onProblem(toReason(error))
      throw new AppError(
        "oidc_failed",
        "Cannot sign in: the provider cannot be reached, or its response is not valid",
        { cause: error },
      )
    }
  }
  return {
    begin: () => attempt(async () => begin(await find(), settings)),
    finish: (response, checks) =>
      attempt(async () => finish(await find(), settings, response, checks, attempt)),
  }
}

/** The settings of the provider, as `discover` returns them, but fetched once per hour. */
function createDiscovery(
  settings: OidcSettings,
  now: () => number,
): () => Promise<client.Configuration> {
  let found: { readonly value: Promise<client.Configuration>; readonly at: number } | undefined
  return () => {
    if (found && now() - found.at < limits.settingsMs) return found.value
    const value = discover(settings)
    const current = { value, at: now() }
    found = current
    // The next sign-in tries again.
    value.catch(() => {
      if (found === current) found = undefined
    })
    return value
  }
}

/** Fetches the settings of the provider, which must name the same issuer. */
export async function discover(settings: OidcSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = settings
  const isLocal = issuer.startsWith("http:") && isThisMachine(new URL(issuer).hostname)
  const insecure = isLocal ? [client.allowInsecureRequests] : []
  const customFetch: client.CustomFetch = (url, init) =>
    boundedFetch(url, init as RequestInit, isLocal)
  const discovered = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    [client.customFetch]: customFetch,
    timeout: limits.requestSeconds,
    execute: insecure,
  })
  const server = discovered.serverMetadata()
  const configuration = new client.Configuration(
    server,
    clientId,
    { [client.clockTolerance]: limits.clockToleranceSeconds },
    toAuthentication(clientSecret, server.token_endpoint_auth_methods_supported),
  )
  configuration[client.customFetch] = customFetch
  configuration.timeout = limits.requestSeconds
  for (const allow of insecure) allow(configuration)
  // Otherwise the signature of an ID token is not verified where TLS has protected it.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

/** Without a list, a provider accepts the secret in the `Authorization` header. */
function toAuthentication(
  secret: string | undefined,
  methods: readonly string[] = ["client_secret_basic"],
): client.ClientAuth {
  if (secret === undefined) return client.None()
  return methods.includes("client_secret_basic") || !methods.includes("client_secret_post")
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret)
}

async function begin(configuration: client.Configuration, settings: OidcSettings) {
  const checks: ProviderChecks = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: settings.redirectUri,
    scope: settings.scopes,
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: "S256",
  })
  // The browser of the user opens it.
  if (url.protocol !== "https:" && !isThisMachine(url.hostname))
    throw new TypeError("the provider names a sign-in page without HTTPS")
  return { url: url.href, checks }
}

async function finish(
  configuration: client.Configuration,
  settings: OidcSettings,
  response: string,
  checks: ProviderChecks,
  attempt: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<ProvenIdentity> {
  const query = new URLSearchParams(response)
  // Another page began it, or an attacker has sent the user here.
  if (query.get("state") !== checks.state) throw signInRefused("another page began this sign-in")
  const tokens = await exchange(configuration, `${settings.redirectUri}?${query}`, checks)
  const claims = tokens.claims()
  const subject = claims?.sub
  if (!claims || typeof subject !== "string" || !isSubject(subject))
    throw new TypeError("the ID token has no usable subject")
  return {
    issuer: claims.iss,
    subject,
    readProfile: () =>
      attempt(async () => {
        // Many providers put the address into the claims of another endpoint only.
        const needsMore =
          claims.email === undefined &&
          configuration.serverMetadata().userinfo_endpoint !== undefined
        const more = needsMore
          ? await client.fetchUserInfo(configuration, tokens.access_token, subject)
          : {}
        return toProfile({ ...claims, ...more })
      }),
  }
}

async function exchange(configuration: client.Configuration, url: string, checks: ProviderChecks) {
  try {
    return await client.authorizationCodeGrant(configuration, new URL(url), {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
    })
  } catch (error) {
    // The person has cancelled, or the provider does not want them.
    if (error instanceof client.AuthorizationResponseError)
      throw signInRefused(`the provider refused it (${toErrorName(error.error)})`)
    if (error instanceof client.ResponseBodyError && error.error === "invalid_grant")
      throw signInRefused("the response of the provider was used before, or has expired")
    throw error
  }
}

/**
 * The name of an error comes from an address that anyone can write: only a name as RFC 6749 has
 * them is repeated.
 */
function toErrorName(error: string): string {
  return /^[a-z_]{1,40}$/.test(error) ? error : "unknown error"
}

function isSubject(text: string): boolean {
  return text.length > 0 && text.length <= limits.subjectCharsMax && isStorable(text)
}

function toProfile(claims: Readonly<Record<string, unknown>>): ProviderProfile {
  const email = toText(claims.email, limits.emailCharsMax)
  const isAddress = email !== null && /^[^\s@]+@[^\s@]+$/.test(email)
  return {
    email: isAddress ? email : null,
    isEmailVerified: isAddress && claims.email_verified === true,
    username: toText(claims.preferred_username, limits.usernameCharsMax),
  }
}

function toText(value: unknown, charsMax: number): string | null {
  return typeof value === "string" && value.length <= charsMax && isStorable(value) ? value : null
}

/** Both databases store it, and it shows nothing that a reader would not see. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** The library's messages name what is wrong, not the values. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown"
  const { code } = error as { readonly code?: unknown }
  const name = typeof code === "string" ? code : error.name
  return `${name}: ${error.message}`.slice(0, limits.reasonCharsMax)
}

/** The largest response of a provider: its keys, its settings or the claims about a person. */
const responseBytesMax = 1_048_576

/**
 * A fetch for the provider. The provider names the URLs of its endpoints itself, so each is checked:
 * HTTPS, or this machine where the operator has set a provider on this machine. Redirects are not
 * followed, and a response has a maximum size.
 */
async function boundedFetch(
  url: string,
  init: RequestInit,
  allowsThisMachine: boolean,
): Promise<Response> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== "https:" && !(allowsThisMachine && isThisMachine(hostname)))
    throw new TypeError("the provider names an endpoint without HTTPS")
  const response = await fetch(url, { ...init, redirect: "manual" })
  const { status, headers } = response
  const body = await readBytes(response.body, responseBytesMax)
  if (!body) throw new TypeError("the response of the provider is too large")
  return new Response(body.length === 0 ? null : body, { status, headers })
}

/** Whether a host name means the loopback interface. */
function isThisMachine(hostname: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname)
}
