// What the tests of the parsers share.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * The ids of the parser processes that a process has started, in bubblewrap or not. Parsers of
 * another server that the process has started do not count.
 */
export function listParsers(parentPid: number): number[] {
  const pids = listNumbers("/proc")
  const parents = new Map(pids.map((pid) => [pid, readParentPid(pid)]))
  const isOfParent = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === parentPid || (!isServer(pid) && isOfParent(parents.get(pid))))
  return pids.filter(
    (pid) =>
      /\0--smol\0[^\0]*(parser-main\.ts|\/worker\.js)\0/.test(readProc(pid, "cmdline")) &&
      !isAround(pid) &&
      isOfParent(pid),
  )
}

function isServer(pid: number): boolean {
  return /\/(?:server\/src\/main\.ts|dist\/test-\d+\/main\.js)\0/.test(readProc(pid, "cmdline"))
}

function isAround(pid: number): boolean {
  return /bwrap|setpriv/.test(readProc(pid, "cmdline").split("\0", 1)[0] ?? "")
}

/** The names of the variables in a process's environment. */
export function readEnvironment(pid: number): string[] {
  return readProc(pid, "environ")
    .split("\0")
    .map((entry) => entry.replace(/=.*/s, ""))
}

function listNumbers(folder: string): number[] {
  return readdirSync(folder).map(Number).filter(Number.isInteger)
}

function readParentPid(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readProc(pid, "status"))?.[1])
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    // The process has ended since it was listed.
    return ""
  }
}

/**
 * Starts a program as the parser that never becomes ready. A real one might be ready before its time
 * is checked, however short it is. For parsers without a sandbox: with one, the program is the one
 * that was found first.
 */
export async function withIdleParser<T>(run: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-parser-"))
  const idle = join(folder, "idle")
  writeFileSync(idle, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 })
  const { execPath } = process
  try {
    process.execPath = idle
    return await run()
  } finally {
    process.execPath = execPath
    rmSync(folder, { recursive: true })
  }
}
