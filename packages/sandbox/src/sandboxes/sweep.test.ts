import { afterAll, describe, expect, test } from "bun:test"
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { readProcessStat } from "./launch/process-identity.ts"
import {
  createDataDir,
  evaluate,
  findRuntimeFolder,
  hasBubblewrap,
  isRoot,
  listGroups,
  openSandboxes,
  readStatus,
} from "./testing/sandbox-testing.ts"

const childPath = fileURLToPath(new URL("./testing/child-server.ts", import.meta.url))
const levels = (["bubblewrap", "deno"] as const).filter(
  (level) => level === "deno" || hasBubblewrap,
)
const isLinux = process.platform === "linux"
const unprivileged = 65_534

interface ChildState {
  readonly report: { readonly level: string; readonly details: readonly string[] }
  readonly folders: readonly string[]
  readonly pids: readonly number[]
}

describe.each(levels)("A killed server, with %s", (isolation) => {
  test("leaves no process, and the next server removes what else it left", async () => {
    const dataDir = createDataDir()
    const child = await startChild(dataDir, 3, { isolation })
    const { pids, folders } = child.state
    const name = folders[0]?.split("/").at(-2) ?? "?"
    // Busy guests do not notice by themselves that the server is gone.
    for (const folder of folders)
      await evaluate(
        { socketPath: join(folder, "run/in.sock") },
        "setTimeout(() => { for (;;); }, 0)",
      )
    child.process.kill("SIGKILL")
    await child.process.exited
    if (isLinux) await waitUntil(() => !pids.some((pid) => readProcessStat(pid)))
    {
      // A server of another data folder sweeps, too: the killed one may never start again.
      await using open = await openSandboxes({ isolation })
      await open.sandboxes.launch()
      expect(folders.filter((folder) => existsSync(folder))).toEqual([])
      expect(pids.filter((pid) => readProcessStat(pid))).toEqual([])
      expect(listGroups(name)).toEqual([])
    }
    rmSync(dataDir, { recursive: true })
  })

  test("while it starts sandboxes leaves nothing that the next server does not remove", async () => {
    const dataDir = createDataDir()
    for (const started of [1, 3, 5, 8]) {
      const child = spawnChild(dataDir, 8, { isolation })
      await waitUntil(() => countSandboxes(dataDir, child.pid) >= started)
      child.kill("SIGKILL")
      await child.exited
    }
    {
      await using open = await openSandboxes({ isolation })
      await open.sandboxes.launch()
      expect(existsSync(findRuntimeFolder(dataDir))).toBe(false)
    }
    if (isLinux) await waitUntil(() => listProcessesOf(findRuntimeFolder(dataDir)).length === 0)
    rmSync(dataDir, { recursive: true })
  })
})

describe("A live server", () => {
  test("keeps its sandboxes when another server of the same data folder starts", async () => {
    const dataDir = createDataDir()
    const child = await startChild(dataDir, 2, {})
    {
      await using open = await openSandboxes({ dataDir: dataDir })
      await open.sandboxes.launch()
    }
    const { pids, folders } = child.state
    expect(folders.filter((folder) => existsSync(folder))).toEqual([...folders])
    if (isLinux) expect(pids.filter((pid) => readProcessStat(pid))).toEqual([...pids])
    child.process.stdin.end()
    expect(await child.process.exited).toBe(0)
    expect(existsSync(findRuntimeFolder(dataDir))).toBe(false)
    rmSync(dataDir, { recursive: true })
  })
})

const canChangeUser = isRoot && hasBubblewrap && Bun.which("setpriv") !== null
if (!canChangeUser)
  notRun("sandboxes of servers with other rights", "needs root, bubblewrap and setpriv")

describe.if(canChangeUser)("A server", () => {
  test("of an ordinary user has sandboxes in bubblewrap as that user", async () => {
    const dataDir = createDataDir()
    chownSync(dataDir, unprivileged, unprivileged)
    const child = await startChild(dataDir, 1, { isolation: "bubblewrap" }, unprivileged)
    const { report, pids } = child.state
    expect(report.details[0]).toBe("sandboxes are the server's own user, in a user namespace")
    expect(report.details.some((detail) => detail.includes("memory is checked"))).toBe(true)
    expect(Number.parseInt(readStatus(pids[1] ?? 0, "Uid"), 10)).toBe(unprivileged)
    child.process.kill("SIGKILL")
    await child.process.exited
    await waitUntil(() => !pids.some((pid) => readProcessStat(pid)))
    const second = await startChild(dataDir, 1, { isolation: "bubblewrap" }, unprivileged)
    second.process.stdin.end()
    expect(await second.process.exited).toBe(0)
    expect(existsSync(findRuntimeFolder(dataDir, unprivileged))).toBe(false)
    rmSync(dataDir, { recursive: true })
  })

  test("of an ordinary user, without bubblewrap, has sandboxes that cannot fill its disk through Deno's cache", async () => {
    const dataDir = createDataDir()
    chownSync(dataDir, unprivileged, unprivileged)
    const child = await startChild(dataDir, 1, { isolation: "deno" }, unprivileged)
    const sandbox = { socketPath: join(child.state.folders[0] ?? "", "run/in.sock") }
    await expect(evaluate(sandbox, "localStorage.setItem('x', 'y')")).rejects.toThrow()
    await expect(
      evaluate(sandbox, "await (await caches.open('x')).put('http://x/', new Response('y'))"),
    ).rejects.toThrow()
    expect(await evaluate(sandbox, "return 1")).toBe(1)
    child.process.stdin.end()
    expect(await child.process.exited).toBe(0)
    expect(existsSync(findRuntimeFolder(dataDir, unprivileged))).toBe(false)
    rmSync(dataDir, { recursive: true })
  })

  test("of root switches the user inside of bubblewrap where it cannot do so outside", async () => {
    const dataDir = createDataDir()
    // On some machines only root may create namespaces.
    const bwrap = join(dataDir, "bwrap")
    writeFileSync(
      bwrap,
      `#!/bin/sh\n[ "$(id -u)" = 0 ] || exit 1\nexec "${Bun.which("bwrap")}" "$@"\n`,
      { mode: 0o755 },
    )
    const env = { ...process.env, PATH: `${dataDir}:${process.env.PATH}` }
    const child = await startChild(dataDir, 1, { isolation: "bubblewrap" }, undefined, env)
    const { report, pids } = child.state
    expect(report.details[0]).toBe(
      "each sandbox is an unprivileged user of its own, without a user namespace",
    )
    expect(report.details.at(-1)).toContain(
      "not used: bubblewrap (each sandbox is an unprivileged user of its own, in a user namespace)",
    )
    const guest = pids[1] ?? 0
    expect(Number.parseInt(readStatus(guest, "Uid"), 10)).toBeGreaterThanOrEqual(30_000)
    expect(
      ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) =>
        Number(`0x${readStatus(guest, name)}`),
      ),
    ).toEqual([0, 0, 0, 0, 0])
    expect(readStatus(guest, "NoNewPrivs")).toBe("1")
    expect(readStatus(guest, "Groups")).toBe("")
    child.process.stdin.end()
    expect(await child.process.exited).toBe(0)
    rmSync(dataDir, { recursive: true })
  })
})

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

const children: Bun.Subprocess[] = []

function spawnChild(
  dataDir: string,
  count: number,
  overrides: object,
  uid?: number,
  env: Record<string, string | undefined> = process.env,
) {
  const user =
    uid === undefined ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"]
  const command = [
    ...user,
    process.execPath,
    childPath,
    dataDir,
    String(count),
    JSON.stringify(overrides),
  ]
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit", env })
  children.push(child)
  return child
}

async function startChild(
  dataDir: string,
  count: number,
  overrides: object,
  uid?: number,
  env?: Record<string, string | undefined>,
) {
  const child = spawnChild(dataDir, count, overrides, uid, env)
  let text = ""
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes("\n")) break
  }
  return { process: child, state: JSON.parse(text) as ChildState }
}

/** The processes that a server has started. It removes what servers before it have left. */
function countSandboxes(dataDir: string, serverPid: number): number {
  const folder = findRuntimeFolder(dataDir)
  const [own] = list(folder).filter((name) => name.startsWith(`${serverPid}-`))
  if (own === undefined) return 0
  return list(join(folder, own)).filter(
    (name) => /^s\d+$/.test(name) && existsSync(join(folder, own, name, "process")),
  ).length
}

function list(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function listProcessesOf(folder: string): string[] {
  const found = Bun.spawnSync([
    "grep",
    "-lsa",
    folder,
    ...readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => `/proc/${pid}/cmdline`),
  ])
  return found.stdout.toString().split("\n").filter(Boolean)
}
