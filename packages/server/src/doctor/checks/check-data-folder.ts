import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname } from "node:path"
import type { Config } from "../../config/config.ts"
import { about, type Findings, type Topic, toReason, toSize } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** Checks the data folder, and the disks of the data folder and the temporary folder. */
export function checkDataFolder({ dataDir }: Config): Findings {
  return [
    ...judgeFolder(dataDir),
    ...judgeDisk(about("disk"), findExisting(dataDir)),
    ...judgeDisk(about("temporary folder"), tmpdir()),
  ]
}

function judgeFolder(path: string): Findings {
  const check = about("data folder")
  const stats = findStats(path)
  if (!stats) return judgeMissing(path)
  if (!stats.isDirectory())
    return check.failure(`"${path}" is no folder`, "name another with --data-dir")
  const owner = describeOwner(stats)
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return check.failure(
      `"${path}" cannot be written to: ${owner}`,
      `run the server as its owner, or "chown -R $(id -u) ${path}"`,
    )
  }
  if (stats.uid !== process.getuid?.())
    return check.warning(
      `"${path}" belongs to another user: ${owner}`,
      "run the server as its owner, so that its files stay theirs",
    )
  if ((stats.mode & 0o077) !== 0)
    return check.warning(
      `"${path}" is open to others: ${owner}`,
      `"chmod 700 ${path}": there are secrets and tokens in it`,
    )
  return check.fine(`"${path}": ${owner}`)
}

/** A missing folder is fine: the first start creates it. */
function judgeMissing(path: string): Findings {
  const parent = findExisting(path)
  try {
    if (!statSync(parent).isDirectory()) throw new Error(`"${parent}" is no folder`)
    accessSync(parent, constants.W_OK | constants.X_OK)
    return about("data folder").fine(`"${path}" does not exist yet; the first start makes it`)
  } catch (error) {
    return about("data folder").failure(
      `"${path}" cannot be made: ${toReason(error)}`,
      "name another with --data-dir, or make it yourself",
    )
  }
}

/** Undefined also for a path in a folder that we may not enter. */
function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function findExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : findExisting(dirname(path))
}

function describeOwner({ uid, mode }: Stats): string {
  return `owner ${uid}${uid === process.getuid?.() ? " (you)" : `, you are ${process.getuid?.()}`}, mode ${(mode & 0o777).toString(8)}`
}

/** File systems with unreliable locks, by the kernel's magic numbers. */
const doubtful: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4266872130: "SMB",
  4283649346: "SMB",
}

function judgeDisk(check: Topic, path: string): Findings {
  const { bavail, bsize, ffree, files, type } = statfsSync(path)
  const freeBytes = bavail * bsize
  // Some file systems allocate inodes on demand and report none.
  const freeFiles = files === 0 ? Number.POSITIVE_INFINITY : ffree
  const counted = Number.isFinite(freeFiles) ? `, ${freeFiles} files` : ""
  const found = `${toSize(freeBytes)} free${counted} at "${path}"`
  const room = "make room, or use another disk"
  if (freeBytes < limits.diskBytesMin || freeFiles < limits.filesMin)
    return check.failure(found, room)
  if (freeBytes < limits.diskBytesWanted || freeFiles < limits.filesWanted)
    return check.warning(found, room)
  const kind = check.name === "disk" ? doubtful[type] : undefined
  if (kind)
    return check.warning(
      `${found}, which is ${kind}`,
      "keep the data folder on a disk of this machine",
    )
  return check.fine(found)
}
