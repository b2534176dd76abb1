import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { cleanEnv, hamletPath, type Started, startAtTerminal } from "./support/processes.ts"
import { until } from "./support/until.ts"

const document = readFileSync(new URL("../../../docs/tour.md", import.meta.url), "utf8")
/** What the document says, and what this server has. */
const documentedHost = "localhost:8080"
/** A dozen scripts with several programs each, one after the other. */
const testMsMax = 240_000

interface Block {
  readonly script: string
  /** What follows it, where the document shows that. */
  readonly shown: string | undefined
}

const blocks: readonly Block[] = [
  ...document.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm),
].map(([, script = "", shown]) => ({ script, shown }))

test(
  "docs/tour.md does what it says",
  async () => {
    // The document has no other blocks: each command in it is tried, and what it shows follows one.
    expect(document.match(/^```\w/gm)).toHaveLength(
      blocks.length + blocks.filter(({ shown }) => shown !== undefined).length,
    )
    const folder = mkdtempSync(join(tmpdir(), "hamlet-tour-"))
    try {
      await takeTour(folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
  testMsMax,
)

async function takeTour(folder: string): Promise<void> {
  const [programs, cwd, home] = ["bin", "empty", "home"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [programs, cwd, home]) mkdirSync(path)
  symlinkSync(hamletPath, join(programs, "hamlet"))
  const own = {
    HOME: home,
    HAMLET_CONFIG_DIR: join(home, "hamlet"),
    NO_COLOR: "1",
    PATH: `${programs}:${process.env.PATH}`,
  }
  const env = { ...cleanEnv(), ...own }
  const start = (script: string, more: Record<string, string> = {}) =>
    startAtTerminal("bash", {
      args: ["-ec", `exec </dev/tty\n${script}`],
      env: { ...env, ...more },
      cwd,
    })

  const [first, ...others] = blocks
  await using server = start(`exec ${first?.script}`, {
    HAMLET_PORT: "0",
    HAMLET_PROCESSES_READY: "1",
    HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
  })
  const [welcome, url = ""] = await server.waitFor(
    /Hamlet \S+ listens at (\S+)[\s\S]*docs {2,}\S+\r\n/,
  )
  const [, token = ""] = /token {2,}(\S+)/.exec(welcome) ?? []
  const { host } = new URL(url)
  expectShown(first, welcome, host)
  const client = createClient({ baseUrl: url, token })
  let requests = 0
  for (const block of others) {
    // Runs of requests are written a little late.
    if (block.script.includes("hamlet logs"))
      await until(async () => (await countRuns(client)) >= requests, `${requests} runs`)
    await using started = start(block.script.replaceAll(documentedHost, host))
    if (block.script === `hamlet login http://${documentedHost}\n`)
      await answer(started, /Token for \S+: /, token)
    const { exit, stdout } = await started.ended()
    expect([block.script, exit, exit === 0 ? "" : stdout]).toEqual([block.script, 0, ""])
    expectShown(block, stdout, host)
    requests += block.script.match(/^curl /gm)?.length ?? 0
  }
  server.type("\x03")
  expect((await server.ended()).exit).toBe(0)
}

async function answer(started: Started, question: RegExp, text: string): Promise<void> {
  await started.waitFor(question)
  started.type(`${text}\r`)
}

async function countRuns(client: ReturnType<typeof createClient>): Promise<number> {
  return (await Array.fromAsync(client.items("listMyRuns"))).length
}

/** `…` in the document stands for anything: on a line of its own for any lines. */
function expectShown(block: Block | undefined, printed: string, host: string): void {
  if (block?.shown === undefined) return
  const actual = normalise(Bun.stripANSI(printed).replaceAll(host, documentedHost))
  const pattern = normalise(block.shown)
    .split("\n")
    .map((line) =>
      line.trim() === "…" ? "(?:.*\n)*?" : `${RegExp.escape(line).replaceAll("…", ".*")}\n`,
    )
    .join("")
  // Both texts in the message, when they differ.
  if (!new RegExp(`^${pattern}$`).test(`${actual}\n`)) expect(actual).toBe(normalise(block.shown))
}

/** What is different each time looks the same. */
function normalise(text: string): string {
  return (
    text
      .split("\n")
      .map((line) => line.replace(/\r+$/, ""))
      // What takes long says how far it is, and writes over that in the end.
      .map((line) => line.slice(line.lastIndexOf("\r") + 1))
      .join("\n")
      .replaceAll(/ +$/gm, "")
      .replaceAll(/\S {2,}/g, (gap) => `${gap.slice(0, 1)}  `)
      .replaceAll(/\d\d:\d\d:\d\d/g, "00:00:00")
      .replaceAll(/[\d.]+ (bytes|kB|MB) /g, "0 kB ")
      .replaceAll(/\b\d+ ms\b/g, "0 ms")
      .replaceAll(/\b\d+ minutes? ago\b/g, "just now")
      .trimEnd()
  )
}
