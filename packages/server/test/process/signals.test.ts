import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { createClient } from "@hamlet/contract/client"
import { waitUntil } from "@hamlet/kit/testing"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const startScript = `${root}scripts/start.mjs`
const npmStart = ["npm", "--silent", "--prefix", root, "start", "--"]
const isRoot = process.getuid?.() === 0

/** Answers in two parts, so that a signal can come between them. */
const slowVal = `export default () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("begun "))
        setTimeout(() => {
          controller.enqueue(new TextEncoder().encode("ended"))
          controller.close()
        }, 1_500)
      },
    }),
  )`

/** Starts a server, and a val that has begun with its response. */
async function begin(
  fixture: ServerFixture,
): Promise<{ readonly hamlet: HamletProcess; readonly rest: Promise<string> }> {
  const { hamlet, baseUrl } = await fixture.serve({ HAMLET_LOG_LEVEL: "none" })
  await createClient({ baseUrl, token: chosenToken }).createVal({
    name: "slow",
    type: "http",
    code: slowVal,
    privacy: "public",
  })
  const { port } = new URL(baseUrl)
  const headers = { host: `ada-slow.localhost:${port}` }
  // A busy machine may not start a process in time at first.
  const response = await waitUntil(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers })
    return answer.status !== 503 && answer
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const first = (await reader?.read())?.value ?? ""
  expect(first).toStartWith("begun ")
  // On a slow machine both parts may have come together.
  return { hamlet, rest: readRest(reader, first.slice("begun ".length)) }
}

async function readRest(
  reader: ReadableStreamDefaultReader<string> | undefined,
  begun: string,
): Promise<string> {
  let text = begun
  for (;;) {
    const { value, done } = (await reader?.read().catch(() => undefined)) ?? { done: true }
    if (done) return text
    text += value
  }
}

describe("npm start", () => {
  test("forwards SIGTERM to the server, which finishes its requests, and ends after it", async () => {
    await using fixture = await openServerFixture(undefined, [], npmStart)
    const { hamlet, rest } = await begin(fixture)
    hamlet.signal("SIGTERM")
    expect(await rest).toBe("ended")
    // The server has the same standard output: it ends when none of them is left.
    expect((await hamlet.ended()).exitCode).toBe(0)
  })

  test.skipIf(!isRoot)("is process 1 of a container, and lets the server finish", async () => {
    await using fixture = await openServerFixture(
      undefined,
      [],
      ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", ...npmStart],
    )
    const { hamlet, rest } = await begin(fixture)
    process.kill(findChild(hamlet.pid), "SIGTERM")
    expect(await rest).toBe("ended")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })
})

describe("the launcher of the server", () => {
  test("treats the SIGINT that a terminal sends to the whole process group as one", async () => {
    await using fixture = await openServerFixture(undefined, [], ["node", startScript])
    const { hamlet, rest } = await begin(fixture)
    hamlet.signalGroup("SIGINT")
    expect(await rest).toBe("ended")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })

  test("treats the SIGTERM that a service manager sends to every process as one, and vals continue", async () => {
    await using fixture = await openServerFixture(undefined, [], ["node", startScript])
    const { hamlet, rest } = await begin(fixture)
    for (const pid of [hamlet.pid, ...listDescendants(hamlet.pid)]) endPolitely(pid)
    expect(await rest).toBe("ended")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })

  test.each([
    ["scripts/start.mjs", ["node", startScript]],
    ["hamlet serve", [`${root}packages/cli/bin/hamlet`]],
  ])("when it is killed, ends the server: %s", async (_name, launcher) => {
    await using fixture = await openServerFixture(undefined, [], launcher)
    const { hamlet, rest } = await begin(fixture)
    hamlet.signal("SIGKILL")
    expect(await rest).toBe("ended")
    await hamlet.ended()
  })
})

describe("hamlet serve", () => {
  test("stops on SIGHUP as on SIGTERM", async () => {
    await using fixture = await openServerFixture()
    const { hamlet, rest } = await begin(fixture)
    hamlet.signal("SIGHUP")
    expect(await rest).toBe("ended")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })

  test("ignores SIGHUP when nohup has started it", async () => {
    await using fixture = await openServerFixture(undefined, ["nohup"])
    const { hamlet, rest } = await begin(fixture)
    hamlet.signal("SIGHUP")
    expect(await rest).toBe("ended")
    hamlet.signal("SIGTERM")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })

  test("stops cleanly on a signal during its start", async () => {
    await using fixture = await openServerFixture()
    const hamlet = fixture.start(["serve"], { HAMLET_TOKEN: chosenToken })
    await waitUntil(() => existsSync(fixture.dataDir))
    hamlet.signal("SIGTERM")
    expect((await hamlet.ended()).exitCode).toBe(0)
  })
})

function endPolitely(pid: number): void {
  try {
    process.kill(pid, "SIGTERM")
  } catch {
    // The process has just ended by itself.
  }
}

function findChild(parent: number): number {
  return Number(listDescendants(parent)[0])
}

/** The processes below one, parents before their children. */
function listDescendants(parent: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const children = pids.filter((pid) => readParent(pid) === parent).map(Number)
  return children.flatMap((child) => [child, ...listDescendants(child)])
}

function readParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}
