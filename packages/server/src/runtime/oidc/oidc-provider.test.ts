import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { AppError } from "../../domain/app-error.ts"
import type { ProviderChecks } from "../../domain/identities/identity-provider.ts"
import { createOidcProvider } from "./oidc-provider.ts"

/** What a hostile provider changes; everything else is right. */
interface Lie {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs with a key that the provider does not publish. */
  readonly isForged?: true
  readonly tokenResponse?: () => Response
  readonly userInfo?: () => Response
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" }
const clientId = "hamlet"
let lie: Lie = {}
let nonce = ""
let keys: CryptoKeyPair
let otherKeys: CryptoKeyPair
let server: Bun.Server<undefined>
let issuer = ""
const problems: string[] = []

beforeAll(async () => {
  keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  otherKeys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: respond })
  issuer = `http://127.0.0.1:${server.port}`
})
afterAll(() => server.stop(true))

async function respond(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.endsWith("/openid-configuration"))
    return Response.json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
      ...lie.settings,
    })
  if (pathname === "/keys") {
    const key = await crypto.subtle.exportKey("jwk", keys.publicKey)
    return Response.json({ keys: [{ ...key, kid: "1", alg: "ES256", use: "sig" }] })
  }
  if (pathname === "/userinfo")
    return lie.userInfo?.() ?? Response.json({ sub: "ada", email: "ada@corp.example" })
  if (lie.tokenResponse) return lie.tokenResponse()
  return Response.json({
    access_token: "access-token-of-ada",
    token_type: "Bearer",
    id_token: await signIdToken(),
  })
}

async function signIdToken(): Promise<string> {
  const seconds = Math.floor(Date.now() / 1000)
  const head = { alg: "ES256", kid: "1", ...lie.header }
  const claims = {
    iss: issuer,
    aud: clientId,
    sub: "ada",
    nonce,
    iat: seconds,
    exp: seconds + 600,
    ...lie.claims,
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const content = `${encode(head)}.${encode(claims)}`
  if (head.alg === "none") return `${content}.`
  const { privateKey } = lie.isForged ? otherKeys : keys
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    privateKey,
    Buffer.from(content),
  )
  return `${content}.${Buffer.from(signature).toString("base64url")}`
}

function openProvider() {
  return createOidcProvider(
    {
      issuer,
      clientId,
      clientSecret: "secret",
      scopes: "openid email",
      redirectUri: "https://hamlet.example/sign-in/provider",
    },
    Date.now,
    (reason) => problems.push(reason),
  )
}

/** A whole sign-in against a provider that lies. */
async function signInWith(
  chosen: Lie,
  toResponse: (checks: ProviderChecks) => string = ({ state }) => `code=secret-code&state=${state}`,
) {
  lie = chosen
  problems.length = 0
  const provider = openProvider()
  const { checks } = await provider.begin()
  nonce = checks.nonce
  const { issuer: by, subject, readProfile } = await provider.finish(toResponse(checks), checks)
  return { issuer: by, subject, profile: await readProfile() }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => ({ code: "none" }),
    (error: unknown) => error as AppError,
  )
  return error.code
}

const long = "x".repeat(2_000_000)
const hour = 3_600
const lies: Readonly<Record<string, Lie>> = {
  "another nonce": { claims: { nonce: "replayed" } },
  "no nonce": { claims: { nonce: undefined } },
  "another issuer in the ID token": { claims: { iss: "https://evil.example" } },
  "another audience": { claims: { aud: "another-client" } },
  "several audiences without an authorized party": {
    claims: { aud: [clientId, "another-client"], azp: "another-client" },
  },
  "an ID token that has expired": {
    claims: {
      exp: Math.floor(Date.now() / 1000) - hour,
      iat: Math.floor(Date.now() / 1000) - 2 * hour,
    },
  },
  "no expiry": { claims: { exp: undefined } },
  "a signature with another key": { isForged: true },
  "an ID token without a signature": { header: { alg: "none" } },
  "an algorithm that the provider does not offer": { header: { alg: "HS256" } },
  "no subject": { claims: { sub: undefined } },
  "an empty subject": { claims: { sub: "" } },
  "a subject that is too long": { claims: { sub: "x".repeat(256) } },
  "a subject with a control character": { claims: { sub: "a\u0000b" } },
  "a subject that is a number": { claims: { sub: 7 } },
  "no ID token": {
    tokenResponse: () => Response.json({ access_token: "x", token_type: "Bearer" }),
  },
  "an ID token that is none": {
    tokenResponse: () => Response.json({ access_token: "x", token_type: "Bearer", id_token: "x" }),
  },
  "a response that is not JSON": { tokenResponse: () => new Response("<html>") },
  "a response that is too large": { tokenResponse: () => Response.json({ long }) },
  "a redirect to another server": {
    tokenResponse: () => Response.redirect("https://evil.example/token", 307),
  },
  "an error of its own": { tokenResponse: () => new Response("", { status: 500 }) },
  "an endpoint for tokens without HTTPS": {
    settings: { token_endpoint: "http://169.254.169.254/latest" },
  },
  "keys without HTTPS": { settings: { jwks_uri: "http://192.0.2.1/keys" } },
  "the profile of another person": { userInfo: () => Response.json({ sub: "eve" }) },
  "a profile that is not JSON": { userInfo: () => new Response("x") },
}

const attempts: Readonly<Record<string, Lie>> = {
  "another issuer in its settings": { settings: { issuer: "https://evil.example" } },
  "a page that is a script": { settings: { authorization_endpoint: "javascript:alert(1)" } },
  "a page without HTTPS": { settings: { authorization_endpoint: "http://evil.example/" } },
  "no page": { settings: { authorization_endpoint: undefined } },
  "settings that are too large": { settings: { long } },
}

describe("createOidcProvider", () => {
  test("names the person by issuer and subject, with the address of the other endpoint", async () => {
    expect(await signInWith({})).toEqual({
      issuer,
      subject: "ada",
      profile: { email: "ada@corp.example", isEmailVerified: false, username: null },
    })
    expect(problems).toEqual([])
  })

  for (const [name, chosen] of Object.entries(lies))
    test(`refuses a provider with ${name}`, async () => {
      expect(await codeOf(signInWith(chosen))).toBe("oidc_failed")
      expect(problems).toHaveLength(1)
      expect(problems.join()).not.toMatch(/secret|access-token|evil/)
    })

  for (const [name, chosen] of Object.entries(attempts))
    test(`does not begin with a provider that has ${name}`, async () => {
      lie = chosen
      expect(await codeOf(openProvider().begin())).toBe("oidc_failed")
    })

  test("refuses a response with another state, or of another issuer", async () => {
    expect(await codeOf(signInWith({}, () => "code=x&state=another"))).toBe("sign_in_refused")
    expect(await codeOf(signInWith({}, () => "code=x"))).toBe("sign_in_refused")
    const mixedUp = ({ state }: ProviderChecks) =>
      `code=x&state=${state}&iss=${encodeURIComponent("https://evil.example")}`
    expect(await codeOf(signInWith({}, mixedUp))).toBe("oidc_failed")
    const twice = ({ state }: ProviderChecks) => `code=x&code=y&state=${state}`
    expect(await codeOf(signInWith({}, twice))).toBe("oidc_failed")
    const implicit = ({ state }: ProviderChecks) => `id_token=x&code=x&state=${state}`
    expect(await codeOf(signInWith({}, implicit))).toBe("oidc_failed")
  })

  test("tells a used code from a failure of the provider", async () => {
    const tokenResponse = () => Response.json({ error: "invalid_grant" }, { status: 400 })
    expect(await codeOf(signInWith({ tokenResponse }))).toBe("sign_in_refused")
    const wrongSecret = () => Response.json({ error: "invalid_client" }, { status: 401 })
    expect(await codeOf(signInWith({ tokenResponse: wrongSecret }))).toBe("oidc_failed")
  })

  test("drops claims of a profile that are not what they should be", async () => {
    const claims = {
      email: ["a@b.c"],
      email_verified: "true",
      preferred_username: { a: 1 },
    }
    expect((await signInWith({ claims })).profile).toEqual({
      email: null,
      isEmailVerified: false,
      username: null,
    })
    const wrong = { email: "no address", email_verified: true }
    expect((await signInWith({ claims: wrong })).profile).toMatchObject({
      email: null,
      isEmailVerified: false,
    })
    const text = { email: "a@b.c", email_verified: "true" }
    expect((await signInWith({ claims: text })).profile).toMatchObject({
      email: "a@b.c",
      isEmailVerified: false,
    })
  })

  test("tries again after a failure, and reports a provider that does not respond", async () => {
    lie = { settings: { issuer: "https://evil.example" } }
    const provider = openProvider()
    expect(await codeOf(provider.begin())).toBe("oidc_failed")
    lie = {}
    expect(new URL((await provider.begin()).url).origin).toBe(issuer)
  })
})
