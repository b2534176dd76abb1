// What the tests of sandboxes share.
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { sha256 } from "@hamlet/kit"
import { findDeno } from "../../../../../scripts/find-deno.ts"
import type { Sandbox } from "../sandbox.ts"
import { type SandboxLimits, sandboxLimits } from "../sandbox-limits.ts"
import { Sandboxes, type SandboxOptions } from "../sandboxes.ts"

export const denoPath = findDeno()
const standInGuestPath = fileURLToPath(new URL("./stand-in-guest.ts", import.meta.url))
export const isRoot = process.getuid?.() === 0
export const hasBubblewrap = process.platform === "linux" && Bun.which("bwrap") !== null

/** Whether control groups limit that of the sandboxes, such as their processes. */
export function isGrouped({ report }: Sandboxes, what: "memory" | "processes" | "CPU share") {
  return report.details.some((detail) => detail.startsWith(`${what} limited by cgroup`))
}

/** A busy machine takes long to start a process. */
const testLimits: SandboxLimits = { ...sandboxLimits, startMsMax: 60_000 }

export function createDataDir(): string {
  return mkdtempSync(join(tmpdir(), "hamlet-sandbox-test-"))
}

/**
 * Sandboxes with a stand-in for the guest. Disposing throws if they have reported an error or left
 * anything behind.
 */
export async function openSandboxes(
  options: Partial<Omit<SandboxOptions, "limits">> & { limits?: Partial<SandboxLimits> },
) {
  const dataDir = createDataDir()
  const errors: unknown[] = []
  const all = {
    ...toSandboxOptions(dataDir),
    ...options,
    limits: { ...testLimits, ...options.limits },
  }
  const sandboxes = await Sandboxes.create(all, (error) => errors.push(error)).catch((error) => {
    rmSync(dataDir, { recursive: true })
    throw error
  })
  return {
    sandboxes,
    errors,
    dataDir: all.dataDir,
    async [Symbol.asyncDispose]() {
      await sandboxes.stop()
      rmSync(dataDir, { recursive: true })
      const left = listOwnFolders(all.dataDir)
      if (errors.length > 0) throw new AggregateError(errors, "Sandboxes reported errors")
      if (left.length > 0) throw new Error(`Sandboxes left ${left} behind`)
    },
  }
}

export function toSandboxOptions(dataDir: string): SandboxOptions {
  return {
    isolation: "auto",
    dataDir,
    baseUrl: "http://localhost:8080",
    importHosts: [],
    limits: testLimits,
    denoPath,
    guestPath: standInGuestPath,
  }
}

/** The temporary folder of all servers of a data folder. */
export function findRuntimeFolder(dataDir: string, uid = process.getuid?.() ?? 0): string {
  const hash = sha256(dataDir).toString("hex").slice(0, 8)
  return join(tmpdir(), `hamlet-${uid}-${hash}`)
}

/** The folders of servers in this process. */
function listOwnFolders(dataDir: string): string[] {
  const folder = findRuntimeFolder(dataDir)
  return existsSync(folder)
    ? readdirSync(folder).filter((name) => name.startsWith(String(process.pid)))
    : []
}

/** Runs code in the stand-in guest as the body of an async function. Returns its result. */
export async function evaluate(
  sandbox: Pick<Sandbox, "socketPath">,
  code: string,
): Promise<unknown> {
  const response = await fetch("http://val/", {
    unix: sandbox.socketPath,
    method: "POST",
    body: code,
  })
  const { value, error } = (await response.json()) as { value?: unknown; error?: string }
  if (error !== undefined) throw new Error(error)
  return value
}

/** Evaluates code that ends the process: does not wait for a response. */
export function start(sandbox: Pick<Sandbox, "socketPath">, code: string): void {
  evaluate(sandbox, code).catch(() => {})
}

/** The processes of a sandbox; the guest is the last. */
export function listPids(sandboxFolder: string): number[] {
  const outer = Number.parseInt(readFileSync(join(sandboxFolder, "process"), "utf8"), 10)
  const report = join(sandboxFolder, "bubblewrap")
  if (!existsSync(report)) return [outer]
  const inner = (JSON.parse(readFileSync(report, "utf8")) as { "child-pid": number })["child-pid"]
  return [outer, inner]
}

export function findGuestPid(sandbox: Sandbox): number {
  return listPids(join(sandbox.socketPath, "../..")).at(-1) ?? 0
}

/** The targets of the file descriptors of a process. */
export function listOpenFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // The file was closed meanwhile.
      return []
    }
  })
}

export function readStatus(pid: number, field: string): string {
  return (
    new RegExp(`^${field}:[ \\t]*(.*?)\\s*$`, "m").exec(
      readFileSync(`/proc/${pid}/status`, "utf8"),
    )?.[1] ?? ""
  )
}

/** The cgroup folders whose names contain the text. */
export function listGroups(text: string): string[] {
  const found = Bun.spawnSync([
    "find",
    "/sys/fs/cgroup",
    "-type",
    "d",
    "-name",
    `*${text}*`,
  ]).stdout.toString()
  return found.split("\n").filter(Boolean)
}
