import { rmdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { tryList, tryListEntries, tryReadText } from "@hamlet/kit"
import { killGroup, removeGroup } from "./cgroups/cgroup.ts"
import {
  isAlive,
  killIfAlive,
  parseProcessStat,
  readProcessStat,
} from "./launch/process-identity.ts"
import { removeSandboxFolder } from "./sandbox-folder.ts"

/** The file in a server's folder that lists its cgroup folders. */
export const groupsFile = "groups"
/**
 * The file in a sandbox's folder with the line of /proc/PID/stat of its outermost process, or with
 * its process id where there is no /proc.
 */
export const processFile = "process"
/** The file to which bubblewrap writes the id of the process inside. */
export const bubblewrapFile = "bubblewrap"

const pollMs = 5
/** How much later than the outer process the inner one can have started. */
const insideTicksMax = 6000

/** Kills and removes what dead servers have left. What belongs to a live server stays. */
export async function sweepServers(parent: string, endMsMax: number): Promise<void> {
  const dead = tryList(parent).filter((name) => !isAlive(name.slice(0, name.lastIndexOf("."))))
  await Promise.all(dead.map((name) => sweepServer(join(parent, name), endMsMax)))
  removeIfEmpty(parent)
}

/** Removes the folder unless another server uses it. */
export function removeIfEmpty(parent: string): void {
  try {
    rmdirSync(parent)
  } catch {
    // The folder is not empty, or gone.
  }
}

async function sweepServer(folder: string, endMsMax: number): Promise<void> {
  const sandboxes = tryList(folder).map((name) => join(folder, name))
  const groups = tryReadText(join(folder, groupsFile)).split("\n").filter(isOurGroup)
  const deadline = performance.now() + endMsMax
  for (;;) {
    const living = sandboxes.flatMap(listProcesses)
    for (const pid of living) killIfAlive(pid)
    const areGroupsGone = (await Promise.all(groups.map(endGroups))).every(Boolean)
    if ((living.length === 0 && areGroupsGone) || performance.now() > deadline) break
    await Bun.sleep(pollMs)
  }
  for (const sandbox of sandboxes) await removeSandboxFolder(sandbox)
  rmSync(folder, { recursive: true, force: true })
}

/** A check of the names, so that a mistake in the file cannot kill other groups. */
function isOurGroup(folder: string): boolean {
  return basename(folder).startsWith("hamlet-") && dirname(folder) !== "/"
}

async function endGroups(folder: string): Promise<boolean> {
  for (const entry of tryListEntries(folder)) {
    if (!entry.isDirectory()) continue
    killGroup(join(folder, entry.name))
    await removeGroup(join(folder, entry.name))
  }
  return await removeGroup(folder)
}

/**
 * The processes of a sandbox that are still alive. A process id counts only if that process started
 * when ours did: ids are reused.
 */
function listProcesses(sandbox: string): number[] {
  const text = tryReadText(join(sandbox, processFile))
  const outer = Number.parseInt(text, 10)
  if (!Number.isSafeInteger(outer) || outer <= 1) return []
  if (process.platform !== "linux") return readCommand(outer).includes(sandbox) ? [outer] : []
  const started = parseProcessStat(text)?.startedTicks
  if (started === undefined) return []
  const inner = Number(
    /"child-pid": (\d+)/.exec(tryReadText(join(sandbox, bubblewrapFile)))?.[1] ?? 0,
  )
  const isInner = (ticks: number) => ticks >= started && ticks - started < insideTicksMax
  const found = []
  if (readProcessStat(outer)?.startedTicks === started) found.push(outer)
  if (inner > 1 && isInner(readProcessStat(inner)?.startedTicks ?? -1)) found.push(inner)
  return found
}

function readCommand(pid: number): string {
  return Bun.spawnSync(["ps", "-o", "command=", "-p", String(pid)]).stdout.toString()
}
