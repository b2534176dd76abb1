import type { Hamlet } from "../runs/hamlet.ts"

const limits = { clients: 4, vals: 12, pauseMsMax: 150, answerMs: 60_000, wrongKept: 100 }

/** The outcomes of the requests so far. */
export interface LoadCounts {
  good: number
  /** 429 and 503: the server asks the client to retry later. */
  refused: number
  readonly wrong: string[]
}

/** Clients that use one server in all common ways until they are stopped. */
export interface Load {
  readonly counts: LoadCounts
  stop(): Promise<LoadCounts>
}

type Action = (turn: number) => Promise<Response>

/** Starts the clients. Each repeats all actions in its own order, with short pauses. */
export async function createLoad(hamlet: Hamlet): Promise<Load> {
  const counts: LoadCounts = { good: 0, refused: 0, wrong: [] }
  const actions = await createActions(hamlet)
  let isStopped = false
  const work = async (client: number) => {
    for (let turn = client; !isStopped; turn += limits.clients) {
      const [name, action] = actions[Math.floor(Math.random() * actions.length)] as [string, Action]
      await attempt(hamlet, name, () => action(turn), counts)
      await Bun.sleep(Math.random() * limits.pauseMsMax)
    }
  }
  const working = Array.from({ length: limits.clients }, (_, client) => work(client))
  return {
    counts,
    async stop() {
      isStopped = true
      await Promise.all(working)
      return counts
    },
  }
}

async function attempt(
  hamlet: Hamlet,
  name: string,
  action: () => Promise<Response>,
  counts: LoadCounts,
): Promise<void> {
  try {
    const response = await action()
    const text = await response.text()
    if (response.ok) counts.good += 1
    else if (response.status === 429 || response.status === 503) counts.refused += 1
    else
      note(
        counts,
        `${name}: ${response.status} ${text.slice(0, 200)}${await describeRun(hamlet, response)}`,
      )
  } catch (error) {
    note(counts, `${name}: ${error}`)
  }
}

/** The end of the run that a response names: only its owner sees the error. */
async function describeRun(hamlet: Hamlet, { headers }: Response): Promise<string> {
  const id = headers.get("x-run-id")
  if (id === null) return ""
  const run = await hamlet.send(`/v1/runs/${id}`)
  return `, run: ${(await run.text()).slice(0, 1_000)}`
}

function note({ wrong }: LoadCounts, text: string): void {
  if (wrong.length < limits.wrongKept) wrong.push(text)
}

async function createActions(hamlet: Hamlet): Promise<readonly (readonly [string, Action])[]> {
  const vals = await Promise.all(
    Array.from({ length: limits.vals }, (_, index) => hamlet.putVal(`soak${index}`, toCode(index))),
  )
  const valAt = (turn: number) => vals[turn % vals.length] as (typeof vals)[number]
  const send = (path: string, init: RequestInit = {}) => hamlet.send(path, init)
  const visit = (turn: number, path: string, init: RequestInit = {}) =>
    fetch(hamlet.program.url + path, {
      ...init,
      headers: { host: valAt(turn).host, accept: "application/json" },
      signal: AbortSignal.timeout(limits.answerMs),
    })
  const json = (method: string, body: unknown) => ({ method, body: JSON.stringify(body) })
  return [
    ["visit", (turn) => visit(turn, "/")],
    ["visit with logs", (turn) => visit(turn, "/log")],
    [
      "visit with a body",
      (turn) => visit(turn, "/echo", { method: "POST", body: "x".repeat(turn % 50_000) }),
    ],
    ["visit a stream", (turn) => visit(turn, "/stream")],
    ["run", (turn) => send(`/v1/vals/${valAt(turn).id}/runs`, json("POST", { args: [turn] }))],
    [
      "save",
      (turn) =>
        send(
          "/v1/vals",
          json("PUT", { name: `saved${turn % 50}`, code: toCode(turn), type: "http" }),
        ),
    ],
    [
      "save and visit",
      async (turn) => {
        await hamlet.putVal(valAt(turn).name, toCode(turn))
        return visit(turn, "/")
      },
    ],
    ["read a val", (turn) => send(`/v1/vals/${valAt(turn).id}`)],
    ["list vals", () => send("/v1/vals?limit=20")],
    ["list runs", () => send("/v1/me/runs?limit=20")],
    ["search", (turn) => send(`/v1/search/vals?query=turn%20${turn % 100}`)],
    [
      "set a blob",
      (turn) =>
        send(`/v1/blob/soak${turn % 200}`, { method: "POST", body: "x".repeat(turn % 20_000) }),
    ],
    ["list blobs", () => send("/v1/blob?prefix=soak1")],
    ["use SQLite", () => send("/v1/sqlite/execute", json("POST", { statement: "select 1" }))],
    ["open the web app", () => send("/")],
  ]
}

function toCode(turn: number): string {
  return `// turn ${turn}
export default async function soak(request) {
  if (!(request instanceof Request)) return request
  const { pathname } = new URL(request.url)
  if (pathname === "/log") for (let line = 0; line < 20; line++) console.log("line", line, pathname)
  if (pathname === "/echo") return new Response(await request.text())
  if (pathname === "/stream") return new Response(new Blob(["x".repeat(200_000)]).stream())
  return new Response("turn ${turn}")
}
`
}
