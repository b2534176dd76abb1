import { arrayPush, hardenPattern, matchPattern } from "../primordials.ts"
import { patchBuiltIns } from "./built-ins.ts"
import { createFolderRequire } from "./package-location.ts"

/** The folders with the files of the val's packages. */
const folders: string[] = []

/** Lets `createRequire(import.meta.url)` of the val find the packages whose files are there. */
export function addPackageFolder(folder: string): void {
  arrayPush(folders, folder)
}

type CreateRequire = (from: unknown) => unknown

const remotePattern = hardenPattern(/^https?:/)

/** The module of a val has an address instead of a path, which Node does not accept. */
export function provideRequire(): void {
  patchBuiltIns(["module"], (get) => {
    const system = get("module") as { createRequire: CreateRequire }
    const { createRequire } = system
    system.createRequire = (from) =>
      matchPattern(`${from}`, remotePattern) === null
        ? createRequire(from)
        : createFolderRequire(folders)
  })
}
