// The program of the other user: ordinary requests in a process of its own, so that the work of those
// who keep the server busy does not delay them. It answers each message with what it has measured.
import { forgetPeak, readMemory } from "../../freeze/loop-meter.ts"
import { MemoryMeter } from "./memory-meter.ts"
import {
  type OtherUserSettings,
  type OtherUserWindow,
  otherUserLimits,
} from "./other-user-window.ts"

const settings = JSON.parse(process.argv[2] ?? "") as OtherUserSettings
const { port, pid, headers, valId, host } = settings
const memory = new MemoryMeter(pid)

let window = openWindow()
let saves = 0

function openWindow() {
  forgetPeak(pid)
  const { now } = readMemory(pid)
  return {
    slowest: { action: "none", ms: 0 },
    failures: [""].slice(1),
    actions: 0,
    serverMb: now,
    childrenMb: memory.restart(),
  }
}

function call(method: string, path: string, body?: object, more: Record<string, string> = {}) {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...more },
    signal: AbortSignal.timeout(otherUserLimits.waitMsMax),
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
}

/** What a user does all day. Each list is a loop of its own. */
const loops: readonly (readonly (readonly [string, () => Promise<Response>])[])[] = [
  [
    ["profile", () => call("GET", "/v1/me")],
    ["val", () => call("GET", `/v1/vals/${valId}`)],
    ["list", () => call("GET", "/v1/me/vals?limit=20")],
  ],
  [
    ["save", () => call("POST", `/v1/vals/${valId}/versions`, { code: toCode(++saves) })],
    ["like", () => call("PUT", `/v1/vals/${valId}/like`)],
    ["unlike", () => call("DELETE", `/v1/vals/${valId}/like`)],
  ],
  [["request", () => call("GET", "/", undefined, { host, authorization: "" })]],
  [["new connection", () => call("GET", "/v1/me", undefined, { connection: "close" })]],
]

function toCode(number: number): string {
  return `export const number = ${number}`
}

async function act(action: string, send: () => Promise<Response>): Promise<void> {
  const before = performance.now()
  const failure = await send().then(
    async (response) => {
      const text = await response.text()
      return response.status >= 429 ? `${action}: ${response.status} ${text.slice(0, 200)}` : ""
    },
    (error) => `${action}: ${error}`,
  )
  const ms = performance.now() - before
  window.actions++
  if (ms > window.slowest.ms) window.slowest = { action, ms }
  if (failure !== "") window.failures.push(failure)
}

/** Actions that are under way, so that a window ends with the end of what began in it. */
const underWay = new Set<Promise<void>>()

for (const loop of loops)
  void (async () => {
    for (let count = 0; ; count++) {
      const [action, send] = loop[count % loop.length] ?? []
      if (action === undefined || send === undefined) return
      const acting = act(action, send)
      underWay.add(acting)
      await acting
      underWay.delete(acting)
      await Bun.sleep(otherUserLimits.restMs)
    }
  })()

process.on("message", async (message) => {
  if (message === "stop") return process.exit()
  await Promise.all(underWay)
  const { now, peak } = readMemory(pid)
  const closed: OtherUserWindow = {
    slowest: window.slowest,
    failures: window.failures,
    actions: window.actions,
    server: { beforeMb: window.serverMb, peakMb: peak, nowMb: now },
    children: { beforeMb: window.childrenMb, ...memory.read() },
  }
  window = openWindow()
  process.send?.(closed)
})
