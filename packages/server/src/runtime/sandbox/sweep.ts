import { readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { killGroup, removeGroup } from "./cgroups/cgroup.ts"
import { isAlive, parseProcessStat, readProcessStat } from "./launch/process-identity.ts"
import { removeSandboxFolder } from "./sandbox-folder.ts"

/** The file in a server's folder that lists its cgroup folders. */
export const groupsFile = "groups"
/**
 * The file in a sandbox's folder with the line of /proc/PID/stat of its outermost process; where
 * there is no /proc, with its number.
 */
export const processFile = "process"
/** The file in which bubblewrap says who the process inside is. */
export const bubblewrapFile = "bubblewrap"

const pollMs = 5
/** How much later than the process around it the one inside can have started. */
const insideTicksMax = 6000

/**
 * Ends and removes what dead servers have left. Whatever belongs to a living one is not touched.
 */
export async function sweepServers(parent: string, endMsMax: number): Promise<void> {
  const dead = list(parent).filter((name) => !isAlive(name.slice(0, name.lastIndexOf("."))))
  await Promise.all(dead.map((name) => sweepServer(join(parent, name), endMsMax)))
  removeIfEmpty(parent)
}

/** Another server may be using it. */
export function removeIfEmpty(parent: string): void {
  try {
    rmdirSync(parent)
  } catch {
    // It is in use, or gone.
  }
}

async function sweepServer(folder: string, endMsMax: number): Promise<void> {
  const sandboxes = list(folder).map((name) => join(folder, name))
  const groups = readText(join(folder, groupsFile)).split("\n").filter(isOurGroup)
  const deadline = performance.now() + endMsMax
  for (;;) {
    const living = sandboxes.flatMap(listProcesses)
    for (const pid of living) killProcess(pid)
    const areGroupsGone = (await Promise.all(groups.map(endGroups))).every(Boolean)
    if ((living.length === 0 && areGroupsGone) || performance.now() > deadline) break
    await Bun.sleep(pollMs)
  }
  for (const sandbox of sandboxes) await removeSandboxFolder(sandbox)
  rmSync(folder, { recursive: true, force: true })
}

/** The file is ours, but a mistake in it must not cost anybody else's group its life. */
function isOurGroup(folder: string): boolean {
  return basename(folder).startsWith("hamlet-") && dirname(folder) !== "/"
}

async function endGroups(folder: string): Promise<boolean> {
  for (const name of listFolders(folder)) {
    killGroup(join(folder, name))
    await removeGroup(join(folder, name))
  }
  return await removeGroup(folder)
}

/**
 * The processes of a sandbox that are still there. A number is believed only if the process with it
 * started when ours did.
 */
function listProcesses(sandbox: string): number[] {
  const text = readText(join(sandbox, processFile))
  const outer = Number.parseInt(text, 10)
  if (!Number.isSafeInteger(outer) || outer <= 1) return []
  if (process.platform !== "linux") return nameOfProcess(outer).includes(sandbox) ? [outer] : []
  const started = parseProcessStat(text)?.startedTicks
  if (started === undefined) return []
  const inner = Number(/"child-pid": (\d+)/.exec(readText(join(sandbox, bubblewrapFile)))?.[1] ?? 0)
  const isInner = (ticks: number) => ticks >= started && ticks - started < insideTicksMax
  const found = []
  if (readProcessStat(outer)?.startedTicks === started) found.push(outer)
  if (inner > 1 && isInner(readProcessStat(inner)?.startedTicks ?? -1)) found.push(inner)
  return found
}

function nameOfProcess(pid: number): string {
  return Bun.spawnSync(["ps", "-o", "command=", "-p", String(pid)]).stdout.toString()
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Has just ended by itself.
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch {
    return []
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
