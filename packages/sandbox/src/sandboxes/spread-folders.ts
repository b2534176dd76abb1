import { closeSync, openSync } from "node:fs"
import { openCLibrary } from "@hamlet/kit"

/** Requests and flags of `ioctl` on Linux, on 64-bit machines. */
const getFlags = 0x8008_6601n
const setFlags = 0x4008_6602n
const topFolder = 0x2_0000

const system = openCLibrary({ ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" } })

/**
 * Has ext4 put the folders in this one into different parts of the disk, as it does with the folders
 * at the root. For minutes, ext4 does not reuse the inode of a deleted file, and whenever it creates a
 * file it looks at all such inodes in that part of the disk: where many processes have ended, a file
 * takes 0.6 ms instead of 0.03. Returns false on other file systems, which it leaves as they are.
 */
export function spreadFolders(path: string): boolean {
  const descriptor = openSync(path, "r")
  try {
    const flags = new BigInt64Array(1)
    if (system?.ioctl(descriptor, getFlags, flags) !== 0) return false
    flags[0] = (flags[0] ?? 0n) | BigInt(topFolder)
    return system.ioctl(descriptor, setFlags, flags) === 0
  } finally {
    closeSync(descriptor)
  }
}
