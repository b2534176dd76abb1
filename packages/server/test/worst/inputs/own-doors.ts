import type { Door, Stage } from "../../freeze/door.ts"
import { openSocket, startProcess } from "../../freeze/open-socket.ts"

const counts = { fetches: 20, frames: 100_000, requests: 20, followers: 200 }
/** Characters of a head that the server accepts. */
const headChars = 14_000
const fill = (part: string) => part.repeat(Math.floor(headChars / part.length))

/** Values of headers and queries that are read as lists, or decoded. */
const lists: Readonly<Record<string, { path: string; headers?: Record<string, string> }>> = {
  cookies: { path: "/v1/me", headers: { cookie: fill("a=b; ") } },
  etags: { path: "/v1/alias/ada/inbox", headers: { "if-none-match": fill('"a", ') } },
  ranges: { path: "/v1/blob/k", headers: { range: `bytes=${fill("0-0,")}1-1` } },
  types: { path: "/v1/me", headers: { accept: fill("a/b;q=0.1, ") } },
  addresses: { path: "/v1/me", headers: { "x-client-address": fill("192.0.2.1, ") } },
  cursors: { path: `/v1/vals?cursor=${"W1tb".repeat(2_400)}` },
  parameters: { path: `/v1/vals?${fill("limit=1&")}` },
}

/** Vals that doors of this test run, as the first user. */
export const worstVals = {
  fetchesAnswers: `export default async (url, count) => {
  const read = async () => (await (await fetch(url)).arrayBuffer()).byteLength
  return (await Promise.allSettled(Array.from({ length: count }, read))).length
}`,
}

/** What no other table has, since only its manner makes it large. */
export const ownDoors: readonly Door[] = [
  ...Object.entries(lists).map(([name, request]) => ({
    name: `head with as many ${name} as fit`,
    async drive({ send }: Stage) {
      for (let count = 0; count < counts.requests; count++)
        await send({ method: "GET", ...request })
    },
  })),
  {
    name: "followers of logs",
    async drive({ run, headers, host }) {
      const leaving = new AbortController()
      const following = Array.from({ length: counts.followers }, () =>
        fetch(`http://${host}/v1/me/logs`, {
          headers: { ...headers, accept: "text/event-stream" },
          signal: leaving.signal,
        }),
      )
      await Promise.all(following)
      await run("logs")
      leaving.abort()
    },
  },
  {
    name: "egress fetchesAnswers",
    async drive({ send, outside }) {
      const body = JSON.stringify({ args: [`${outside.url}/`, counts.fetches] })
      await send({ method: "POST", path: "/v1/run/ada.fetchesAnswers", body })
    },
  },
  {
    name: "WebSocket frames of one byte",
    async drive({ host }) {
      await startProcess(host, "ada-sockets")
      const socket = await openSocket(host, "ada-sockets")
      for (let count = 0; count < counts.frames; count++) socket.send("a")
      socket.send("end")
      await socket.closed
    },
  },
]
