import { randomBytes } from "node:crypto"
import type { authorizationRequest, Scope } from "@hamlet/contract"
import type { PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { hashToken, makeTokenText } from "../accounts/token-text.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import { toShownCode, toUserCode } from "./devices.ts"
import {
  commandLine,
  deviceRedirect,
  grantableScopes,
  isOwnResource,
  oauthLimits as limits,
  type OAuthClient,
  type OAuthStore,
  publicScopes,
  type WaitingDevice,
} from "./oauth.ts"
import { isLoopback, isRegistered, toRedirectTarget } from "./redirect-uris.ts"

/** What a client asks of a user, as the page shows it. */
export type AuthorizationRequest = Stored<typeof authorizationRequest>

interface Checked extends AuthorizationRequest {
  readonly client: OAuthClient
  readonly redirectUri: string
  readonly state: string | undefined
  readonly challenge: string
  /** Set for a program without a browser. */
  readonly device?: WaitingDevice
}

/** The rules of what users allow programs. */
export type Authorizations = ReturnType<typeof createAuthorizations>

/** Creates the rules of authorizations. */
export function createAuthorizations(store: OAuthStore, baseUrl: string, { now }: Clock) {
  return {
    list: (caller: Caller, page: PageRequest) => store.list(caller.actorId, now(), page),
    /**
     * Checks a request of a client, given by the query of the page. The user sees an unknown client
     * or a foreign redirect URI as an error, and the browser stays here; other mistakes are told the
     * client.
     */
    check: (caller: Caller, query: string): Promise<AuthorizationRequest> =>
      check(store, baseUrl, caller, query, now()),
    /**
     * Allows a request; refuses it without scopes. Returns where the browser goes, with a code for the
     * client.
     */
    async allow(caller: Caller, query: string, scopes: readonly Scope[]): Promise<string> {
      const checked = await check(store, baseUrl, caller, query, now())
      const extra = scopes.find((scope) => !checked.scopes.includes(scope))
      if (extra !== undefined)
        throw new AppError(
          "scope_escalation",
          `Cannot allow scope ${extra}: the program did not ask for it, or you do not have the required permissions`,
        )
      const isRefused = scopes.length === 0
      if (checked.refusal && !isRefused) throw invalid(checked.refusal.message)
      const at = now()
      if (isRefused && !checked.device) return checked.denyUrl
      if (checked.device) {
        const { hash, expiresAt } = checked.device
        const code = { hash, expiresAt, ...toCodeFields(caller, checked, scopes) }
        if (!(await store.allowDevice(code, at))) throw unknownDevice()
        return isRefused ? checked.denyUrl : toDevicePage(baseUrl, "connected")
      }
      const code = makeTokenText(randomBytes(32), "code")
      const isAdded = await store.addCode(
        {
          hash: hashToken(code),
          expiresAt: at + limits.codeMs,
          ...toCodeFields(caller, checked, scopes),
        },
        at,
      )
      if (!isAdded) throw unknownClient()
      return toRedirect(baseUrl, checked.redirectUri, checked.state, { code })
    },
    /** Ends what a program may do for the caller. Its tokens stop working at once. */
    async end(caller: Caller, id: string): Promise<void> {
      if (await store.remove(caller.actorId, id)) return
      throw new AppError(
        "authorization_not_found",
        `Cannot end authorization "${id}": you have none with that id`,
      )
    },
  }
}

async function check(
  store: OAuthStore,
  baseUrl: string,
  caller: Caller,
  query: string,
  at: number,
): Promise<Checked> {
  const params = new URLSearchParams(query)
  const read = (name: string) => readOnce(params, name)
  const userCode = read("user_code")
  if (userCode !== undefined) return checkDevice(store, baseUrl, caller, userCode, at)
  const client = await findClient(store, read("client_id"))
  const redirectUri = read("redirect_uri") ?? onlyOne(client.redirectUris)
  if (redirectUri === undefined || !isRegistered(client.redirectUris, redirectUri))
    throw invalid("the program has not registered the address to which you would be sent back")
  const state = read("state")
  if ((state?.length ?? 0) > limits.stateCharsMax) throw invalid("state is too long")
  const challenge = read("code_challenge") ?? ""
  const scopes = toScopes(caller, read("scope"))
  const refuse = (error: string, message: string) => ({
    message,
    url: toRedirect(baseUrl, redirectUri, state, { error, error_description: message }),
  })
  const refusal =
    read("response_type") !== "code"
      ? refuse("unsupported_response_type", "response_type must be code")
      : read("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge)
        ? refuse("invalid_request", "PKCE with the method S256 is required")
        : !isOwnResource(baseUrl, read("resource"))
          ? refuse("invalid_target", "resource must be the address of this server")
          : scopes.length === 0
            ? refuse("invalid_scope", "none of the requested scopes can be allowed")
            : null
  return {
    client,
    redirectUri,
    state,
    challenge,
    clientName: client.name,
    clientCreatedAt: client.createdAt,
    redirectTarget: toRedirectTarget(redirectUri),
    isLocal: isLoopback(redirectUri),
    scopes,
    denyUrl: toRedirect(baseUrl, redirectUri, state, { error: "access_denied" }),
    refusal,
  }
}

/** A program without a browser, whose user has entered its code. */
async function checkDevice(
  store: OAuthStore,
  baseUrl: string,
  caller: Caller,
  userCode: string,
  at: number,
): Promise<Checked> {
  const device = await store.findDevice(toUserCode(userCode), at)
  const client = device && (await store.findClient(commandLine.id))
  if (!client) throw unknownDevice()
  const scopes = toScopes(caller, device.scope)
  const message = "none of the requested scopes can be allowed"
  return {
    device,
    client,
    redirectUri: deviceRedirect,
    state: undefined,
    challenge: "",
    clientName: commandLine.name,
    clientCreatedAt: client.createdAt,
    redirectTarget: `the program with the code ${toShownCode(device.userCode)}`,
    isLocal: false,
    scopes,
    denyUrl: toDevicePage(baseUrl, "cancelled"),
    refusal: scopes.length === 0 ? { message, url: toDevicePage(baseUrl, "cancelled") } : null,
  }
}

function unknownDevice(): AppError {
  return invalid("the code is wrong, was used, or has expired; start again in the program")
}

function toDevicePage(baseUrl: string, outcome: "connected" | "cancelled"): string {
  return `${baseUrl}/oauth/device?${outcome}`
}

function toCodeFields(
  { actorId }: Caller,
  { client, redirectUri, challenge }: Checked,
  scopes: readonly Scope[],
) {
  const allowed = grantableScopes.filter((scope) => scopes.includes(scope))
  return { clientId: client.id, userId: actorId, redirectUri, challenge, scopes: allowed }
}

async function findClient(store: OAuthStore, id: string | undefined): Promise<OAuthClient> {
  const isId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? "")
  const client = isId ? await store.findClient(id ?? "") : undefined
  if (!client) throw unknownClient()
  return client
}

function unknownClient(): AppError {
  return invalid("the program is not registered here; connect it again, so that it registers")
}

/** A parameter that occurs twice could mean different things to different readers. */
function readOnce(params: URLSearchParams, name: string): string | undefined {
  const values = params.getAll(name)
  if (values.length > 1) throw invalid(`${name} occurs more than once`)
  return values[0]
}

function onlyOne(uris: readonly string[]): string | undefined {
  return uris.length === 1 ? uris[0] : undefined
}

/** The scopes that the client wants and the user can give; all of these if it names none. */
function toScopes(caller: Caller, wanted: string | undefined): readonly Scope[] {
  const asked = (wanted ?? "").split(" ").filter((name) => name !== "")
  const names = new Set<string>(
    asked.flatMap((name): readonly string[] => publicScopes.get(name) ?? [name]),
  )
  return grantableScopes.filter(
    (scope) => caller.scopes.has(scope) && (names.size === 0 || names.has(scope)),
  )
}

/** The redirect URI with the response; `iss` says whose response it is (RFC 9207). */
function toRedirect(
  baseUrl: string,
  redirectUri: string,
  state: string | undefined,
  response: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({
    ...response,
    ...(state === undefined ? {} : { state }),
    iss: baseUrl,
  })
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`
}

function invalid(reason: string): AppError {
  return new AppError("invalid_request", `Cannot connect the program: ${reason}`)
}
