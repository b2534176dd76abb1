import { existsSync, readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { sha256 } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { listDescendants, type ProcessInfo } from "./processes.ts"

/** A sandbox as it is seen from outside. */
export interface SandboxInUse {
  /** Its folder on the host. */
  readonly folder: string
  /** The process inside. */
  readonly guest: ProcessInfo
}

/** The sandboxes of a server: those that are in use and those that wait. */
export function listSandboxes(serverPid: number): readonly SandboxInUse[] {
  const processes = listDescendants(serverPid)
  return processes.flatMap((outer) => {
    const folder = folderOf(outer.command)
    // The guest is the innermost one.
    const guest =
      folder === undefined
        ? undefined
        : processes.find(({ parent, command }) => parent === outer.pid && command[0] === "/deno")
    return folder !== undefined && guest ? [{ folder, guest }] : []
  })
}

/** The sandbox that has a version of a val that was saved with its code; `address` is that of the val. */
export function findFolderOf(serverPid: number, address: string): Promise<SandboxInUse> {
  const names = new Set(
    Array.from({ length: versionsMax }, (_, index) => toName(address, index + 1)),
  )
  // Asynchronous, because looks are expensive: see waitUntil.
  return waitUntil(async () =>
    listSandboxes(serverPid).find(({ folder }) =>
      listModules(folder).some((path) => names.has(basename(path))),
    ),
  )
}

/** The versions of a val that is looked for. */
const versionsMax = 20

/** The name of the module in Deno's cache. */
function toName(address: string, version: number): string {
  const { pathname } = new URL(`${address}@${version}-main/main.tsx`)
  return sha256(pathname).toString("hex")
}

/** A sandbox that waits for a val. */
export function findReady(serverPid: number): Promise<SandboxInUse> {
  return waitUntil(async () =>
    listSandboxes(serverPid).find((sandbox) => isWarm(sandbox.folder) && isUnused(sandbox)),
  )
}

/** The folder of the sockets is closed when the guest is warm. */
function isWarm(folder: string): boolean {
  const run = join(folder, "run")
  const mode = statSync(run, { throwIfNoEntry: false })?.mode ?? 0
  return (
    existsSync(join(run, "in.sock")) &&
    !existsSync(join(run, "control.sock")) &&
    [0o750, 0o500].includes(mode & 0o777)
  )
}

/** bubblewrap is told which folder becomes the one with the sockets. */
function folderOf(command: readonly string[]): string | undefined {
  const path = command[command.indexOf("/run/val") - 1]
  return path?.endsWith("/run") && command[0]?.endsWith("bwrap")
    ? path.slice(0, -"/run".length)
    : undefined
}

/** Whether a sandbox has no module but the one with which it warmed up. */
function isUnused({ folder }: SandboxInUse): boolean {
  return listModules(folder).length === 1
}

function listModules(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, "deno", "remote"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}
