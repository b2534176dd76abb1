import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname } from "node:path"
import type { Config } from "../../config/config.ts"
import { type Finding, failure, fine, toReason, toSize, warning } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** Checks the data folder, and the disks of the data folder and the temporary folder. */
export function checkDataFolder({ dataDir }: Config): readonly Finding[] {
  const folder = judgeFolder(dataDir)
  return [folder, judgeDisk("disk", findExisting(dataDir)), judgeDisk("temporary folder", tmpdir())]
}

function judgeFolder(path: string): Finding {
  const check = "data folder"
  const stats = findStats(path)
  if (!stats) return judgeMissing(path)
  if (!stats.isDirectory())
    return failure(check, `"${path}" is no folder`, "name another with --data-dir")
  const owner = describeOwner(stats)
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return failure(
      check,
      `"${path}" cannot be written to: ${owner}`,
      `run the server as its owner, or "chown -R $(id -u) ${path}"`,
    )
  }
  if (stats.uid !== process.getuid?.())
    return warning(
      check,
      `"${path}" belongs to another user: ${owner}`,
      "run the server as its owner, so that its files stay theirs",
    )
  if ((stats.mode & 0o077) !== 0)
    return warning(
      check,
      `"${path}" is open to others: ${owner}`,
      `"chmod 700 ${path}": there are secrets and tokens in it`,
    )
  return fine(check, `"${path}": ${owner}`)
}

/** A missing folder is fine: the first start creates it. */
function judgeMissing(path: string): Finding {
  const parent = findExisting(path)
  try {
    if (!statSync(parent).isDirectory()) throw new Error(`"${parent}" is no folder`)
    accessSync(parent, constants.W_OK | constants.X_OK)
    return fine("data folder", `"${path}" does not exist yet; the first start makes it`)
  } catch (error) {
    return failure(
      "data folder",
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

function judgeDisk(check: string, path: string): Finding {
  const { bavail, bsize, ffree, files, type } = statfsSync(path)
  const freeBytes = bavail * bsize
  // Some file systems allocate inodes on demand and report none.
  const freeFiles = files === 0 ? Number.POSITIVE_INFINITY : ffree
  const counted = Number.isFinite(freeFiles) ? `, ${freeFiles} files` : ""
  const found = `${toSize(freeBytes)} free${counted} at "${path}"`
  const room = "make room, or use another disk"
  if (freeBytes < limits.diskBytesMin || freeFiles < limits.filesMin)
    return failure(check, found, room)
  if (freeBytes < limits.diskBytesWanted || freeFiles < limits.filesWanted)
    return warning(check, found, room)
  const kind = check === "disk" ? doubtful[type] : undefined
  if (kind)
    return warning(
      check,
      `${found}, which is ${kind}`,
      "keep the data folder on a disk of this machine",
    )
  return fine(check, found)
}
