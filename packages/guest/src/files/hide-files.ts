import { patchBuiltIns } from "../globals/built-ins.ts"
import { reflectApply } from "../primordials.ts"
import { readOwnAddresses } from "./file-addresses.ts"
import { provideOwnFiles } from "./own-files.ts"

type Exists = (path: unknown) => boolean

/**
 * A file that the val may not read does not exist for it. Most functions fail like that by
 * themselves, see permission-errors.ts; node:fs throws the same error where it should answer.
 */
export function hideFiles(): void {
  provideOwnFiles()
  patchBuiltIns(["fs"], (find) => {
    const fs = find("fs") as { existsSync: Exists }
    const { existsSync } = fs
    fs.existsSync = (path) => {
      try {
        return reflectApply(existsSync, fs, [path]) as boolean
      } catch {
        return false
      }
    }
  })
  readOwnAddresses()
}
