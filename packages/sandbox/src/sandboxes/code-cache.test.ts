import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { CodeCache } from "./code-cache.ts"
import type { Sandbox, SandboxExit } from "./sandbox.ts"
import { denoPath, findGuestPid, hasBubblewrap, openSandboxes } from "./testing/sandbox-testing.ts"

const fileName = "v8_code_cache_v2"

if (!hasBubblewrap) notRun("the code cache of sandboxes", "bubblewrap is not installed")

test.if(hasBubblewrap)("a sandbox finds the compiled code of its guest, to read only", async () => {
  const guestPath = fileURLToPath(import.meta.resolve("@hamlet/guest/main"))
  const limits = { compileDelayMs: 0 }
  await using open = await openSandboxes({ isolation: "bubblewrap", guestPath, limits })
  // The code is compiled while the first ones start.
  const sandbox = await waitUntil(async () => {
    const started = await open.sandboxes.launch()
    if (existsSync(toCacheFile(started))) return started
    await started.stop()
    return undefined
  })
  // Deno closes the files if it cannot use what is in them.
  expect(listOpenCode(findGuestPid(sandbox))).toEqual({
    [fileName]: "read",
    [`${fileName}-shm`]: "read",
    [`${fileName}-wal`]: "read",
  })
  using cache = new Database(toCacheFile(sandbox), { readonly: true })
  const found = cache.query<{ specifier: string }, []>("select specifier from codecache").all()
  const specifiers = found.map(({ specifier }) => specifier)
  expect(specifiers).toEqual(expect.arrayContaining(["hamlet:guest", "node:vm"]))
  expect(specifiers.filter((specifier) => /^https?:/.test(specifier))).toEqual([])
  // With the functions that the guest has called, which are most of it.
  const guest = cache.query<{ bytes: number }, [string]>(
    "select length(data) as bytes from codecache where specifier = ?",
  )
  const folder = dirname(dirname(dirname(sandbox.socketPath)))
  const uncalledBytes = compileUncalled(join(folder, "guest-script.js"))
  expect(guest.get("hamlet:guest")?.bytes).toBeGreaterThan(1.2 * uncalledBytes)
})

test("without bubblewrap there is no code cache", async () => {
  await using open = await openSandboxes({ isolation: "deno" })
  const sandbox = await open.sandboxes.launch()
  expect(existsSync(toCacheFile(sandbox))).toBe(false)
})

test("CodeCache.fill reports a process that ends by itself, and not that the server stops", async () => {
  const folder = join(tmpdir(), `hamlet-code-cache-test-${process.pid}`)
  const fill = async (reason: SandboxExit["reason"]) => {
    const message = "it reached its limit of memory"
    const compiling = {
      onMessage: undefined,
      denoDir: folder,
      isEnding: true,
      exited: Promise.resolve({ code: undefined, signal: "SIGKILL", reason, message }),
      async addModules() {},
      send() {},
    }
    await new CodeCache(folder).fill(compiling, "http://localhost/example", 1_000)
  }
  await fill("killed")
  await expect(fill("memory")).rejects.toThrow("in a sandbox: it reached its limit of memory")
  expect(existsSync(folder)).toBe(false)
})

test("CodeCache.fill waits for a process that is storing something", async () => {
  const denoDir = mkdtempSync(join(tmpdir(), "hamlet-code-cache-test-"))
  const folder = join(denoDir, "filled")
  using stored = new Database(join(denoDir, fileName))
  stored.run("create table codecache (specifier text, data blob)")
  stored.run("begin immediate")
  setTimeout(() => stored.run("commit"), 300)
  const compiling = {
    onMessage: undefined as (() => void) | undefined,
    denoDir,
    isEnding: false,
    exited: new Promise<never>(() => {}),
    async addModules() {},
    send() {
      stored.run("insert into codecache values ('hamlet:guest', null)")
      this.onMessage?.()
    },
  }
  const cache = new CodeCache(folder)
  try {
    await cache.fill(compiling, "http://localhost/example", 60_000)
    expect(cache.provide(denoDir)).toBe(true)
  } finally {
    cache.stop()
    rmSync(denoDir, { recursive: true })
  }
})

/** The size of a script as V8 compiles it before it runs. */
function compileUncalled(path: string): number {
  const code = `import { Script } from "node:vm"
const script = new Script(Deno.readTextFileSync(${JSON.stringify(path)}))
console.log(script.createCachedData().length)`
  const options = ["eval", "--no-config", "--no-lock", "--ext=js"]
  return Number(Bun.spawnSync([denoPath, ...options, code]).stdout.toString())
}

function toCacheFile({ socketPath }: Sandbox): string {
  return join(dirname(dirname(socketPath)), "deno", fileName)
}

/** The open files of the code cache, and what the process may do with them. */
function listOpenCode(pid: number): Record<string, string> {
  const entries = readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    const name = readlinkSync(`/proc/${pid}/fd/${descriptor}`).replace("/deno-dir/", "")
    if (!name.startsWith(fileName)) return []
    const [, flags = ""] =
      /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, "utf8")) ?? []
    return [[name, (Number.parseInt(flags, 8) & 3) === 0 ? "read" : "write"]]
  })
  return Object.fromEntries(entries)
}
