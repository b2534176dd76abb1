import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import type { Sandboxes } from "../sandboxes.ts"
import {
  createDataDir,
  findRuntimeFolder,
  hasBubblewrap,
  isGrouped,
  isRoot,
  openSandboxes,
} from "../testing/sandbox-testing.ts"
import { readProcessStat } from "./process-identity.ts"
import type { ToolJob, ToolLimits, ToolOutcome } from "./tool-run.ts"

const levels = (["bubblewrap", "deno"] as const).filter(
  (level) => level === "deno" || hasBubblewrap,
)
if (!hasBubblewrap) notRun("tools in bubblewrap", "bubblewrap is not installed")
const mebibyte = 1024 ** 2
const childPath = fileURLToPath(new URL("../testing/child-tool.ts", import.meta.url))

const limits: ToolLimits = {
  memoryBytesMax: 512 * mebibyte,
  heapBytesMax: 128 * mebibyte,
  threadsMax: 64,
  scratchBytesMax: 16 * mebibyte,
  scratchEntriesMax: 1_000,
  openFilesMax: 1024,
  fileBytesMax: 16 * mebibyte,
  cpuSecondsMax: 60,
  msMax: 30_000,
  outputBytesMax: mebibyte,
}

interface RunOptions extends Partial<Omit<ToolJob, "limits" | "tool">> {
  readonly limits?: Partial<ToolLimits>
  readonly permissions?: readonly string[]
  readonly helpers?: Readonly<Record<string, string>>
}

let programs = 0

/**
 * Runs a piece of code as a tool: the body of an async function that gets `paths`, and whose result
 * goes to standard output as JSON.
 */
function run(sandboxes: Sandboxes, body: string, options: RunOptions = {}): Promise<ToolOutcome> {
  const { permissions = ["--allow-all"], helpers = {}, limits: others, ...rest } = options
  const code = `const paths = JSON.parse(Deno.args[0]); console.log(JSON.stringify(await (async () => { ${body} })()))`
  const program = sandboxes.addProgram(`tool-${++programs}.js`, code)
  const signal = new AbortController().signal
  return sandboxes.runTool({
    input: new Uint8Array(),
    signal,
    ...rest,
    limits: { ...limits, ...others },
    tool: { program, helpers, permissions },
  })
}

async function evaluate(
  sandboxes: Sandboxes,
  body: string,
  options: RunOptions = {},
): Promise<unknown> {
  const outcome = await run(sandboxes, body, options)
  if (outcome.kind === "failed") throw new Error(`${outcome.reason}: ${outcome.stderr}`)
  return JSON.parse(Buffer.from(outcome.output).toString() || "null")
}

/** The processes whose arguments contain this text. */
function listProcesses(text: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => readProcessStat(pid) && readCommand(pid).includes(text))
}

/** How long helpers sleep. No other process does: the same tests may run elsewhere on the machine. */
const seconds = String(98_765_000_000 + process.pid)

function listHelpers(): number[] {
  return [...listProcesses(`sleep ${seconds}`), ...listProcesses(`helper ${seconds}`)]
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

describe.each(levels)("runTool with %s", (isolation) => {
  test("sends bytes to a program and returns its output", async () => {
    await using open = await openSandboxes({ isolation })
    const input = new TextEncoder().encode("hello")
    const body = "return (await new Response(Deno.stdin.readable).text()).toUpperCase()"
    expect(await evaluate(open.sandboxes, body, { input, permissions: [] })).toBe("HELLO")
  })

  test("gives the program one empty folder to write to", async () => {
    await using open = await openSandboxes({ isolation })
    const body = `
      const before = [...Deno.readDirSync(paths.scratch)].map((entry) => entry.name).filter((name) => name !== "deno")
      Deno.writeTextFileSync(paths.scratch + "/x", "y")
      const refused = [paths.run + "/x", paths.program, "/x", "/etc/x"].filter((path) => {
        try { Deno.writeTextFileSync(path, "y"); return false } catch { return true }
      })
      return [before, Deno.cwd() === Deno.realPathSync(paths.scratch), refused.length, Object.keys(Deno.env.toObject()).toSorted()]`
    // Deno creates some of them itself.
    const names = [
      "DENO_DIR",
      "DENO_NODE_SHIM_ACTIVE",
      "DENO_NO_UPDATE_CHECK",
      "HOME",
      "NO_COLOR",
      "PATH",
      "PWD",
    ]
    const [before, isThere, refused, env] = (await evaluate(open.sandboxes, body)) as [
      string[],
      boolean,
      number,
      string[],
    ]
    expect({ before, isThere, refused }).toEqual({
      before: [],
      isThere: true,
      refused: isRoot || isolation === "bubblewrap" ? 4 : refused,
    })
    expect(env.filter((name) => !names.includes(name))).toEqual([])
  })

  test.each([true, false])(
    "lets it start its helper programs, which end with it (control groups: %p)",
    async (usesCgroups) => {
      await using open = await openSandboxes({ isolation, usesCgroups })
      const helpers = { helper: Bun.which("sleep") ?? "" }
      const body = `new Deno.Command(paths.helpers.helper, { args: ["${seconds}"] }).spawn(); console.error("started"); await new Promise(() => setInterval(() => {}, 1000))`
      const controller = new AbortController()
      const running = run(open.sandboxes, body, { helpers, signal: controller.signal }).catch(
        (error: unknown) => error,
      )
      await waitUntil(() => listHelpers().length > 0)
      controller.abort()
      expect(await running).toMatchObject({ name: "AbortError" })
      // Without a control group nobody waits for a helper that was killed with its program.
      await waitUntil(() => listHelpers().length === 0, { seen: listHelpers })
    },
  )

  test("ends a program that exceeds its limits of time, files or output", async () => {
    await using open = await openSandboxes({ isolation })
    const wait = "console.log('so far'); await new Promise(() => setInterval(() => {}, 1000))"
    let msMax = 500
    // A busy machine needs longer until the program has written something.
    const partial = await waitUntil(async () => {
      const late = await run(open.sandboxes, wait, { limits: { msMax } })
      expect(late).toMatchObject({ kind: "failed", reason: "time" })
      msMax *= 2
      return Buffer.from(late.kind === "failed" ? late.partial : []).toString()
    })
    expect(partial).toBe("so far\n")
    const talk =
      "for (;;) await new Blob(['x'.repeat(100000)]).stream().pipeTo(Deno.stdout.writable, { preventClose: true })"
    expect(await run(open.sandboxes, talk)).toMatchObject({ kind: "failed", reason: "output" })
    expect(await run(open.sandboxes, "throw new Error('of its own')")).toMatchObject({
      reason: "exited",
      stderr: expect.stringContaining("of its own"),
    })
    const write = `for (let i = 0; ; i++) { try { Deno.writeFileSync(paths.scratch + "/" + i, new Uint8Array(1000000)) } catch { return "refused" } await new Promise((go) => setTimeout(go, 20)) }`
    const full = await run(open.sandboxes, write)
    expect(full.kind === "done" ? full.output.length : full.reason).toBe(
      isolation === "bubblewrap" ? '"refused"\n'.length : "files",
    )
  })

  test("refuses one that writes more than it may right before it ends", async () => {
    await using open = await openSandboxes({ isolation })
    const write = `for (let i = 0; i < 20; i++) Deno.writeFileSync(paths.scratch + "/" + i, new Uint8Array(1_000_000))`
    const full = await run(open.sandboxes, write)
    // With bubblewrap the file system refuses the write.
    expect(full).toMatchObject({
      kind: "failed",
      reason: isolation === "bubblewrap" ? "exited" : "files",
    })
  })

  test("leaves nothing behind, also when the server stops meanwhile", async () => {
    await using open = await openSandboxes({ isolation })
    const ended = run(open.sandboxes, "await new Promise(() => setInterval(() => {}, 1000))").catch(
      (error: unknown) => error,
    )
    const folder = findRuntimeFolder(open.dataDir)
    await waitUntil(() =>
      readdirSync(folder).some((name) => existsSync(join(folder, name, "s2", "process"))),
    )
    await open.sandboxes.stop()
    expect(await ended).toMatchObject({ name: "AbortError" })
    expect(listProcesses(folder)).toEqual([])
  })
})

describe.each(levels)("A server that is killed while a tool runs, with %s,", (isolation) => {
  test("leaves nothing that the next server does not remove", async () => {
    const dataDir = createDataDir()
    const child = Bun.spawn(
      [process.execPath, childPath, dataDir, JSON.stringify({ isolation }), seconds],
      { stderr: "inherit" },
    )
    const folder = findRuntimeFolder(dataDir)
    await waitUntil(() => listHelpers().length > 0)
    child.kill("SIGKILL")
    await child.exited
    {
      await using open = await openSandboxes({ isolation })
      await (await open.sandboxes.launch()).stop()
      expect(existsSync(folder)).toBe(false)
      await waitUntil(() => listProcesses(folder).length === 0)
      // Without a control group, nothing knows whose helper it was.
      if (isolation === "bubblewrap" || isGrouped(open.sandboxes, "processes"))
        await waitUntil(() => listHelpers().length === 0)
      else for (const pid of listHelpers()) process.kill(pid, "SIGKILL")
    }
    rmSync(dataDir, { recursive: true })
  })
})

describe.if(hasBubblewrap)("runTool in bubblewrap", () => {
  test("isolates the program like a program: no network, no files, no capabilities", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") })
    const body = `
      const attempt = async (act) => { try { await act(); return "done" } catch (error) { return error.name } }
      return [
        await attempt(() => Deno.connect({ hostname: "127.0.0.1", port: ${server.port} })),
        await attempt(() => Deno.readTextFile("/etc/passwd")),
        await attempt(() => Deno.readTextFile("/proc/1/environ")),
        [...Deno.readDirSync("/")].map((entry) => entry.name).filter((name) => name !== "lib64" && name !== "setpriv" && name !== "usr").toSorted(),
        Deno.uid() >= 1000 || ${!isRoot},
      ]`
    const [network, passwd, environ, root, isUser] = (await evaluate(
      open.sandboxes,
      body,
    )) as unknown[]
    expect({ network, passwd, environ, isUser }).toEqual({
      network: "Error",
      passwd: "NotFound",
      environ: "NotFound",
      isUser: true,
    })
    expect(root).toEqual(["deno", "dev", "lib", "proc", "run", "tmp", "tool.js"])
  })

  test("has no network but the egress socket, beside which it cannot write", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    const openEgress = (path: string) => {
      const server = Bun.serve({ unix: path, fetch: () => new Response("from outside") })
      return { stop: () => void server.stop(true) }
    }
    const body = `
      const client = Deno.createHttpClient({ proxy: { transport: "unix", path: paths.run + "/out.sock" } })
      return await (await fetch("http://localhost/", { client })).text()`
    expect(await evaluate(open.sandboxes, body, { openEgress })).toBe("from outside")
    const without = await evaluate(open.sandboxes, "return [...Deno.readDirSync(paths.run)].length")
    expect(without).toBe(0)
  })
})
