import { type RouteDefinition, routeNames, routes, toCursorText } from "@hamlet/contract"
import type { TestApi, TestResponse, TestUser } from "../support/api.ts"
import { type PrivacyData, type PrivacyVal, toBlobKey } from "./privacy-data.ts"

/**
 * A record of what one did oneself, so it may mention an unlisted val: one had its address to do
 * it.
 */
const ownDeeds: readonly string[] = [
  "listMyRuns",
  "listTraces",
  "listTelemetryLogs",
  "listMyComments",
  "listMyLikes",
]

const requestsAtOnce = 8
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff"

interface SweptRequest {
  readonly name: string
  readonly path: string
}

/**
 * Reads everything through every route, as the viewer. Returns a line for each response with a
 * trace of another user's private val, and for each list with a trace of an unlisted one.
 */
export async function findLeaks(
  api: TestApi,
  data: PrivacyData,
  viewer: TestUser | undefined,
): Promise<readonly string[]> {
  const vals = [...Object.values(data.adas), ...Object.values(data.bobs)].filter(
    (val) => val.owner.id !== viewer?.id,
  )
  const traces: string[] = []
  const requests = [...toRequests(data)]
  const askAll = async () => {
    for (let request = requests.pop(); request; request = requests.pop()) {
      const response = await api.call("GET", request.path, { as: viewer })
      if (response.status === 200)
        traces.push(
          ...findHidden(vals, request, response),
          ...(await findLongerList(api, viewer, request, response)),
        )
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, askAll))
  return traces
}

/** Every reading route with every combination of what its path and its query can name. */
function toRequests(data: PrivacyData): readonly SweptRequest[] {
  return routeNames.flatMap((name) => {
    const route: RouteDefinition = routes[name]
    // Calling a val leaves a run behind, whatever the method.
    if (route.method !== "get" || route.scope?.endsWith(":write")) return []
    const queries = toQueries(name, route, data)
    return toPaths(name, route, data).flatMap((path) =>
      queries.map((query) => ({ name, path: path + query })),
    )
  })
}

function toPaths(name: string, route: RouteDefinition, data: PrivacyData): readonly string[] {
  const vals = [...Object.values(data.adas), ...Object.values(data.bobs)]
  const people = [data.ada, data.bob]
  const values: Readonly<Record<string, readonly string[]>> = {
    val_id: vals.map((val) => val.id),
    branch_id: vals.map((val) => val.id),
    file_id: vals.map((val) => val.id),
    org_id: people.map((addUser) => addUser.id),
    val_name: vals.map((val) => val.name),
    version: ["1"],
    user_id: people.map((addUser) => addUser.id),
    username: people.map((addUser) => addUser.username),
    run_id: vals.flatMap((val) => val.runIds),
    key: vals.map((val) => toBlobKey(val.name)),
    module: ["blob", "sqlite", "utils"],
    file_path: ["main.tsx", "README.md"],
    webhook_id: data.webhookIds,
    delivery_id: data.deliveryIds,
    // No user has sent an email.
    email_id: [crypto.randomUUID()],
  }
  const params = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, param]) => param ?? "")
  return params.reduce<readonly string[]>(
    (paths, param) =>
      paths.flatMap((path) =>
        known(name, param, values).map((value) => path.replace(`{${param}}`, value)),
      ),
    [route.path],
  )
}

/**
 * Without a query where none must be there, and with each value of each parameter that could widen
 * what is shown.
 */
function toQueries(name: string, route: RouteDefinition, data: PrivacyData): readonly string[] {
  const vals = [...Object.values(data.adas), ...Object.values(data.bobs)]
  const words = [
    "code_of",
    "readme_of",
    "_of_ada",
    "_of_bob",
    "import",
    "co",
    "=",
    ...vals.flatMap((val) => [val.name, ...val.marks.slice(0, 3)]),
  ]
  const values: Readonly<Record<string, readonly string[]>> = {
    user_id: [data.ada.id, data.bob.id],
    path: ["", "main.tsx", "README.md"],
    file: ["main.tsx", "README.md"],
    branch: ["main", "trial"],
    recursive: ["true"],
    branch_id: vals.map((val) => `${val.id}&path=`),
    other_branch_id: vals.map((val) => val.id),
    version: ["0", "1&path="],
    limit: ["100"],
    offset: ["1"],
    // After what comes before everything, in lists of each kind.
    cursor: [
      [Number.MAX_SAFE_INTEGER, lastId],
      [Number.MAX_SAFE_INTEGER, lastId, lastId],
      [Number.MAX_SAFE_INTEGER, "~"],
      [lastId],
      [2_147_483_647],
    ].map(toCursorText),
    since: ["2000-01-01T00:00:00Z"],
    until: ["2999-01-01T00:00:00Z"],
    error: ["false"],
    source: ["api"],
    direction: ["asc"],
    start: ["2000-01-01T00:00:00Z"],
    end: ["2999-01-01T00:00:00Z"],
    order_by: ["end_time"],
    branch_ids: vals.map((val) => val.id),
    file_id: vals.map((val) => val.id),
    trace_ids: vals.flatMap((val) => val.runIds.map((id) => id.replaceAll("-", ""))),
    text: ["e", "_of_ada", "hamlet"],
    status: ["waiting", "failed"],
    relationship: ["any", "given", "received"],
    privacy: ["public", "unlisted", "private"],
    userId: [data.ada.id, data.bob.id],
    val_id: vals.map((val) => val.id),
    type: ["script"],
    sort: ["created", "updated", "name", "likes", "run", "runs", "trend"],
    order: ["asc"],
    omit: ["code", "readme"],
    buckets: ["2"],
    cron: ["0%209%20*%20*%20*"],
    every: ["1h"],
    timeZone: ["Europe/Berlin"],
    hours: ["720"],
    query: words,
    prefix: ["blob_of_", "blob_of_secret"],
    after: ["a"],
    action: ["user.create"],
    skipDamaged: ["true"],
    v: ["1"],
  }
  const params = Object.keys(route.query?.shape ?? {})
  if (params.includes("query")) return words.map((word) => `?query=${encodeURIComponent(word)}`)
  return [
    "",
    ...params.flatMap((param) => known(name, param, values).map((value) => `?${param}=${value}`)),
  ]
}

function known(
  name: string,
  param: string,
  values: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const found = values[param]
  if (!found) throw new Error(`Cannot sweep route ${name}: nobody says what ${param} can be`)
  return found
}

function findHidden(
  vals: readonly PrivacyVal[],
  request: SweptRequest,
  response: TestResponse,
): readonly string[] {
  const forbidden = vals.filter((val) => isForbidden(val, request, response))
  if (forbidden.length === 0) return []
  const shown = toShown(response)
  const found = forbidden.filter((val) => hasTrace(val, shown))
  return found.map(
    (val) =>
      `${request.name} ${request.path} shows ${val.privacy} val ${val.name}: ${response.text}`,
  )
}

function isForbidden(
  val: PrivacyVal,
  { name, path }: SweptRequest,
  response: TestResponse,
): boolean {
  if (val.privacy === "private") return true
  const isList = Array.isArray(response.json?.data)
  const isAddressed = path.includes(val.id) || path.includes(val.name)
  return val.privacy === "unlisted" && isList && !isAddressed && !ownDeeds.includes(name)
}

/** The texts of a response in which traces are looked for. */
interface Shown {
  readonly content: string
  readonly withoutCode: string
}

/** All of a response but its links, which repeat the request. */
function toShown({ text, json }: TestResponse): Shown {
  if (json === undefined) return { content: text, withoutCode: "" }
  const shown = json.data ?? json
  return {
    content: JSON.stringify(shown),
    withoutCode: JSON.stringify(shown, (key, value) => (isCode(key) ? "" : value)),
  }
}

/** Names are looked for everywhere but in code, where others import the val by its name. */
function hasTrace({ marks, name }: PrivacyVal, { content, withoutCode }: Shown): boolean {
  return marks.some((mark) => content.includes(mark)) || withoutCode.includes(name)
}

function isCode(key: string): boolean {
  return ["code", "before", "after"].includes(key)
}

/**
 * A list that says there is more when there is nothing more for this viewer counts what it does not
 * show. A list that changes meanwhile, such as that of deliveries, is read again.
 */
async function findLongerList(
  api: TestApi,
  viewer: TestUser | undefined,
  request: SweptRequest,
  response: TestResponse,
): Promise<readonly string[]> {
  const shown = response.json?.data?.length ?? 0
  // A client that polls goes on behind the last trace, whether there are others yet or not.
  if (request.path.includes("direction=asc")) return []
  if (shown === 0 || response.json.links === undefined || request.path.includes("limit=")) return []
  const path = `${request.path}${request.path.includes("?") ? "&" : "?"}limit=${shown}`
  const { json } = await api.call("GET", path, { as: viewer })
  if (JSON.stringify(json.data) !== JSON.stringify(response.json.data)) {
    const again = await api.call("GET", request.path, { as: viewer })
    if (again.text !== response.text) return await findLongerList(api, viewer, request, again)
    return [`${request.name} ${path} shows another list`]
  }
  return json.links.next === undefined && response.json.links.next === undefined
    ? []
    : [`${request.name} ${path} says that there is more`]
}
