import type { ReadSocketRequest } from "@hamlet/sandbox"
import type { Door } from "../door.ts"

/** How long a val floods a socket of its listener. */
const floodMs = 300

type SocketKind = Extract<ReadSocketRequest, { readonly kind: "request" }>["request"]["kind"]

/** The longest frame of each kind. A kind without a row does not compile. */
const socketFrames: Readonly<Record<SocketKind, object>> = {
  connect: { kind: "connect", host: "a.".repeat(450), port: 1, run: "" },
  lookup: { kind: "lookup", host: "z%FF".repeat(225), run: "" },
  records: { kind: "records", host: "a.".repeat(450), type: "TXT", run: "" },
}

/** Loops that open a Unix socket, write bytes and close it. A refused loop waits a moment. */
function flood(path: string, toBytes: string): string {
  return `export default async () => {
  const bytes = ${toBytes}
  const until = Date.now() + ${floodMs}
  let opened = 0
  const loop = async () => {
    while (Date.now() < until) {
      try {
        const socket = await Deno.connect({ transport: "unix", path: "${path}" })
        opened++
        if (bytes.length > 0) await socket.write(bytes)
        socket.close()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  }
  await Promise.all(Array.from({ length: 100 }, loop))
  return opened
}`
}

function frame(request: object): string {
  const json = JSON.stringify(JSON.stringify(request))
  return `(() => { const json = new TextEncoder().encode(${json}); return new Uint8Array([json.length >> 8, json.length & 255, ...json]) })()`
}

const fetchAll = (url: string, count: number) =>
  `export default async () => (await Promise.allSettled(Array.from({ length: ${count} }, () => fetch(${url})))).length`

/** Requests of vals to the outside, over both sockets of the listener, by the name of the val. */
export const egressVals: Readonly<Record<string, string>> = {
  fetchesEscapes: fetchAll(`"http://10.0.0.1/" + "z%FF".repeat(15_000)`, 40),
  fetchesPlain: fetchAll(`"http://10.0.0.1/" + "a".repeat(60_000)`, 40),
  fetchesHeaders: `export default async () => {
  const headers = Array.from({ length: 1_000 }, (_, index) => ["x-" + index, "a".repeat(40)])
  return (await Promise.allSettled(Array.from({ length: 40 }, () => fetch("http://10.0.0.1/", { headers })))).length
}`,
  opensProxy: flood("/run/val/out.sock", "new Uint8Array()"),
  opensSockets: flood("/run/val/tcp.sock", "new Uint8Array()"),
  ...Object.fromEntries(
    Object.entries(socketFrames).map(([kind, request]) => [
      `asks_${kind}`,
      flood("/run/val/tcp.sock", frame(request)),
    ]),
  ),
  readsPieces: `export default async (url) => (await Promise.allSettled(Array.from({ length: 20 }, async () => (await (await fetch(url)).text()).length))).length`,
  /** Leaves a response unread that never ends. */
  leavesUnread: `export default async (url) => (await fetch(url)).status`,
}

export const egressDoors: readonly Door[] = Object.keys(egressVals)
  .filter((name) => name !== "leavesUnread" && name !== "readsPieces")
  .map((name) => ({
    name: `egress ${name}`,
    drive: async (stage) => void (await stage.run(name)),
  }))
