import { connect, type Socket } from "node:net"
import { limits } from "@hamlet/contract"
import type { Door, Stage } from "../door.ts"

/** How many clients ask at the same time, and how many runs of one user end. */
const clients = 8
const runs = 40

/** Control characters take six characters each in JSON: no text of that length is longer. */
export function controlCharacters(length: number): string {
  return "\u0001".repeat(length)
}

/** The largest responses: what they are, and the path of each. */
const largeResponses: Readonly<Record<string, (stage: Stage) => string | Promise<string>>> = {
  vals: () => "/v1/vals?limit=100",
  "vals by rank": () => "/v1/vals?limit=100&sort=likes",
  "vals of a user": async ({ client }) => `/v1/users/${(await client.getMe()).id}/vals?limit=100`,
  "own vals": () => "/v1/me/vals?limit=100",
  "found vals": () => "/v1/search/vals?limit=100&query=large",
  versions: async ({ client }) => {
    const { id } = await client.getValByName({ username: "ada", val_name: "lines" })
    return `/v1/vals/${id}/versions?limit=100`
  },
  "a val": async ({ client }) => {
    const { id } = await client.getValByName({ username: "ada", val_name: "large1" })
    return `/v1/vals/${id}`
  },
  "a difference of branches": openDifference,
}

/** Each asked for by many at once, who read it, and by as many who do not. */
const doorsOfResponses: readonly Door[] = Object.entries(largeResponses).flatMap(
  ([name, toPath]) => [
    {
      name: `responses: ${name}, ${clients} at once`,
      async drive(stage: Stage) {
        const path = await toPath(stage)
        await Promise.all(
          Array.from({ length: clients }, () => stage.send({ method: "GET", path })),
        )
      },
    },
    {
      name: `responses: ${name}, unread`,
      drive: async (stage: Stage) => leaveUnread(stage, await toPath(stage)),
    },
  ],
)

/** The name of the val whose runs have the largest records. */
export const recordedVal = "recorded"

/** Returns and logs as much as is recorded of a run. */
export const recordedCode = `export default (text) => {
  for (let line = 0; line < 10; line++) console.log(text.slice(0, ${limits.runLogBytesMax / 10}))
  return text
}`

/** The doors of responses, and of what is recorded together. */
export const responseDoors: readonly Door[] = [
  ...doorsOfResponses,
  {
    name: `responses: ${runs} runs with the largest records, and lists of them`,
    async drive({ client, send }) {
      const { id } = await client.getValByName({ username: "ada", val_name: recordedVal })
      const body = JSON.stringify({ args: [controlCharacters(limits.runValueBytesMax / 6)] })
      const path = `/v1/vals/${id}/runs`
      await Promise.all(Array.from({ length: runs }, () => send({ method: "POST", path, body })))
      const lists = [`${path}?limit=100`, "/v1/me/logs", "/v1/telemetry/logs?limit=100"]
      await Promise.all(
        Array.from({ length: clients }, () =>
          Promise.all(lists.map((list) => send({ method: "GET", path: list }))),
        ),
      )
    },
  },
]

/** Asks many times without an account, waits for the beginning of each response, and reads no more. */
async function leaveUnread({ host }: Stage, path: string): Promise<void> {
  const [, port = ""] = host.split(":")
  const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`
  const sockets = await Promise.all(Array.from({ length: clients }, () => ask(Number(port), head)))
  for (const socket of sockets) socket.destroy()
}

/** Resolves when the response begins, or the server has closed the connection. */
function ask(port: number, head: string): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const socket = connect(port, "127.0.0.1", () => socket.write(head))
  socket.once("data", () => {
    socket.pause()
    resolve(socket)
  })
  socket.on("error", () => {})
  socket.on("close", () => resolve(socket))
  return promise
}

/** Two branches whose files have nothing in common, in lines of one letter. */
async function openDifference({ client }: Stage): Promise<string> {
  const name = "differs"
  const found = await client
    .getValByName({ username: "ada", val_name: name })
    .catch(() => undefined)
  const { id: val_id } = found ?? (await client.createVal({ code: "1", name, privacy: "public" }))
  const { data } = await client.listBranches({ val_id })
  const known = data.find((branch) => branch.name === "other")
  const { id: branch_id } = known ?? (await client.createBranch({ val_id, name: "other" }))
  const toChanges = (letter: string) =>
    Array.from({ length: 18 }, (_, index) => ({
      path: `lines/${index}.txt`,
      content: `${letter}\n`.repeat(limits.codeCharsMax / 2),
    }))
  if (!known) {
    await client.changeFiles({ val_id, changes: toChanges("a") })
    await client.changeFiles({ val_id, branch_id, changes: toChanges("b") })
  }
  return `/v1/vals/${val_id}/branches/${branch_id}/diff?other_branch_id=${val_id}`
}
