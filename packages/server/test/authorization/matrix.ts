import { errorCodes, errorsOf, type RouteDefinition } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import type { TestApi, TestResponse, TestUser } from "../support/api.ts"
import type { TestCaller } from "./callers.ts"
import { type Expected, expectedOf, type Privacy } from "./rules.ts"
import { createSubject, type Subject } from "./subject.ts"

/**
 * A link is visible only to its creator, a token has no session to sign out of, and evaluated code
 * is not the run of a val. Formatting changes nothing. A program gets
 * nothing until it has exchanged its code.
 */
const unseen: readonly string[] = [
  "createSignInLink",
  "signOut",
  "evalCode",
  "evalCodeByQuery",
  "formatCode",
  "checkAuthorization",
  "createAuthorization",
]

/** One row of the matrix: a route, on a val of the owner's with that privacy. */
interface MatrixRow {
  readonly api: TestApi
  readonly owner: TestUser
  readonly callers: readonly TestCaller[]
  readonly name: string
  readonly route: RouteDefinition
  readonly privacy: Privacy
}

/** Lets every caller try the route. Gives a line for each answer that is not what the rules say. */
export async function findFaults(row: MatrixRow): Promise<readonly string[]> {
  const { callers, route } = row
  if (route.method === "get") return findReadFaults(row)
  const refused = callers.filter((caller) => expectedFor(row, caller) !== "allowed")
  const faults = [...(await findRefusalFaults(row, refused))]
  const allowed = callers.filter((caller) => !refused.includes(caller))
  // What is read back is the same for all of them, and takes most of the time of a row.
  const watched = allowed.find((caller) => isSeen(row, caller))
  for (const caller of allowed)
    faults.push(...(await findWriteFaults(row, caller, caller === watched)))
  return faults
}

/** Whether the owner or an administrator sees what the caller has written. */
function isSeen({ name, route }: MatrixRow, caller: TestCaller): boolean {
  const isOfReader = caller.isOwner || route.scope === "admin"
  return isOfReader && !isRead(route) && !unseen.includes(name)
}

function expectedFor({ name, route, privacy }: MatrixRow, caller: TestCaller): Expected {
  return expectedOf(name, route, caller, privacy)
}

/** Reads run concurrently. HEAD responds like GET: one caller of each outcome tries it. */
async function findReadFaults(row: MatrixRow): Promise<readonly string[]> {
  const subject = await newSubject(row)
  const byOutcome = new Map(row.callers.map((caller) => [expectedFor(row, caller), caller]))
  const tryAs = async (caller: TestCaller) => {
    const isHeadTried = byOutcome.get(expectedFor(row, caller)) === caller
    const [got, head] = await Promise.all([
      send(row.api, subject, caller),
      isHeadTried ? send(row.api, subject, caller, "HEAD") : undefined,
    ])
    const fault = findFault(row, caller, got)
    return head === undefined || head.status === got.status
      ? fault
      : [...fault, `${caller.name}: HEAD answers ${head.status}, GET ${got.status}`]
  }
  if (row.name !== "getBackup") return (await Promise.all(row.callers.map(tryAs))).flat()
  // There may be one at a time.
  const faults: string[] = []
  for (const caller of row.callers) faults.push(...(await tryAs(caller)))
  return faults
}

/**
 * All callers who must be refused send the request at once: afterwards the owner must find
 * everything as it was.
 */
async function findRefusalFaults(
  row: MatrixRow,
  refused: readonly TestCaller[],
): Promise<readonly string[]> {
  const subject = await newSubject(row)
  const before = await subject.read()
  const tries = refused.map(async (caller) =>
    findFault(row, caller, await send(row.api, subject, caller)),
  )
  const faults = (await Promise.all(tries)).flat()
  const after = await subject.read()
  return after === before
    ? faults
    : [...faults, `one of those who must be refused changed something:\n${before}\n${after}`]
}

/**
 * A caller that may write gets a subject of its own, which no other caller has changed. Were a write
 * not to be seen in what is read back, nothing would be proved by reading back after a refusal.
 */
async function findWriteFaults(
  row: MatrixRow,
  caller: TestCaller,
  isWatched: boolean,
): Promise<readonly string[]> {
  const subject = await newSubject(row)
  const before = isWatched ? await subject.read() : undefined
  const response = await send(row.api, subject, caller)
  await waitForRun(row, response)
  const faults = findFault(row, caller, response)
  return isWatched && (await subject.read()) === before
    ? [...faults, `${caller.name}: was allowed, yet nothing changed`]
    : faults
}

/** A queued run goes on after the response, and would change what is read next. */
async function waitForRun(
  { api, owner }: MatrixRow,
  { status, json }: TestResponse,
): Promise<void> {
  if (status !== 202 || json?.runEndAt !== null) return
  await waitUntil(
    async () => (await api.call("GET", `/v1/runs/${json.id}`, { as: owner })).json.runEndAt,
  )
}

/** Nothing is kept of a preview: it is no GET because what it answers is a key. */
function isRead(route: RouteDefinition): boolean {
  return route.path.endsWith("/preview")
}

function newSubject({ api, owner, name, route, privacy }: MatrixRow): Promise<Subject> {
  return createSubject(api, owner, name, route, privacy)
}

function send(
  api: TestApi,
  { request }: Subject,
  { authorization }: TestCaller,
  method = request.method,
): Promise<TestResponse> {
  return api.call(method, request.path, {
    body: request.body,
    headers: authorization === undefined ? {} : { authorization },
  })
}

function findFault(row: MatrixRow, caller: TestCaller, response: TestResponse): readonly string[] {
  const expected = expectedFor(row, caller)
  const fault =
    expected === "allowed"
      ? whatIsRefused(row.route, response)
      : whatIsWrong(row.route, expected, response)
  return fault === undefined ? [] : [`${caller.name}: ${fault}`]
}

function whatIsRefused(route: RouteDefinition, response: TestResponse): string | undefined {
  const isPromised =
    response.status >= 200 && response.status < 300 && response.status in route.responses
  return isPromised ? undefined : `should be allowed, got ${describeAnswer(response)}`
}

function whatIsWrong(
  route: RouteDefinition,
  expected: Exclude<Expected, "allowed">,
  response: TestResponse,
): string | undefined {
  const { status } = errorCodes[expected]
  if (response.status !== status || response.json?.code !== expected)
    return `should get ${status} ${expected}, got ${describeAnswer(response)}`
  if (!errorsOf(route).includes(expected))
    return `${expected} is not among the errors that the route names`
  if (status === 401 && response.headers.get("www-authenticate") !== "Bearer")
    return "got 401 without www-authenticate: Bearer"
  if (expected !== "missing_scope") return undefined
  const { message } = response.json
  const scopes = [route.scope, route.scopeToWrite].filter((scope) => scope !== undefined)
  const isHelpful =
    message.includes("required permissions") && scopes.some((scope) => message.includes(scope))
  return isHelpful
    ? undefined
    : `should be told the required permissions and ${scopes.join(" or ")}, got ${message}`
}

function describeAnswer({ status, text }: TestResponse): string {
  return `${status} ${text.slice(0, 300)}`
}
