import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { findCheckout } from "../checkout/checkout-state.ts"
import { readIgnoreRules } from "../checkout/ignore-rules.ts"
import { isEmptyFolder } from "../checkout/open-checkout.ts"
import { CliError } from "../cli-error.ts"
import { isValName } from "../files/front-matter.ts"
import { isValFile } from "../files/val-file.ts"
import { isConflictPath } from "../watch/paths.ts"

/** What the folder of an account contains. */
export interface ValFolders {
  /** The names of the folders of vals, by the id of the val. */
  readonly checkouts: ReadonlyMap<string, string>
  /** The recorded paths of the files in each of these folders. */
  readonly paths: ReadonlyMap<string, readonly string[]>
  /** Folders with another branch than main. */
  readonly onBranches: ReadonlySet<string>
  /** New folders that can become vals: named like one, with a file of code. */
  readonly fresh: readonly string[]
  /** Files that are not in the folder of a val, though they are named like its code. */
  readonly loose: readonly string[]
  /** Why other folders are left alone. */
  readonly problems: ReadonlyMap<string, string>
}

/** Lists the folders of vals. The recorded folder of a val comes before a copy of it. */
export function listValFolders(folder: string, recorded: ReadonlySet<string>): ValFolders {
  const isIgnored = readIgnoreRules(folder)
  const checkouts = new Map<string, string>()
  const paths = new Map<string, readonly string[]>()
  const onBranches = new Set<string>()
  const problems = new Map<string, string>()
  const fresh: string[] = []
  const loose: string[] = []
  const entries = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => isVisible(name))
    .sort((one, other) => Number(recorded.has(other.name)) - Number(recorded.has(one.name)))
  for (const entry of entries) {
    const { name } = entry
    if (isIgnored(entry.isDirectory() ? `${name}/` : name)) continue
    if (entry.isFile() && isValFile(name)) loose.push(name)
    if (!entry.isDirectory()) continue
    try {
      const checkout = findCheckout(join(folder, name))
      if (checkout) {
        const { val, branch, files } = checkout
        const other = checkouts.get(val.id)
        if (other !== undefined) {
          problems.set(name, `Cannot watch "${name}": "${other}" is the folder of the same val`)
          continue
        }
        checkouts.set(val.id, name)
        paths.set(name, [...files.keys()])
        if (branch.id !== val.id) onBranches.add(name)
      } else if (isNewVal(folder, name)) fresh.push(name)
    } catch (error) {
      problems.set(name, `Cannot watch "${name}": ${(error as Error).message}`)
    }
  }
  return { checkouts, paths, onBranches, fresh, loose, problems }
}

/** Finds a free name for the folder of a val. Names of folders ignore case on many systems. */
export function findFreeFolder(folder: string, name: string, isReusing = true): string {
  // The name comes from the server and becomes a path: it must not lead outside the folder.
  if (!isValName(name))
    throw new CliError("failed", `Cannot make a folder of val "${name}": the name is not valid`)
  const taken = new Map(readdirSync(folder).map((one) => [one.toLowerCase(), join(folder, one)]))
  for (let n = 1; ; n++) {
    const free = n === 1 ? name : `${name}-${n}`
    const other = taken.get(free.toLowerCase())
    if (other === undefined) return free
    // A clone that was stopped has left it.
    if (isReusing && statSync(other).isDirectory() && isEmptyFolder(other)) return free
  }
}

/** The val `.config` is the only one with such a name. Conflict files and folders are for people. */
function isVisible(name: string): boolean {
  return (!name.startsWith(".") || isValName(name)) && !isConflictPath(name)
}

function isNewVal(folder: string, name: string): boolean {
  if (!isValName(name) || existsSync(join(folder, name, ".hamlet", "state.json"))) return false
  return readdirSync(join(folder, name)).some((file) => isValFile(file) && !isConflictPath(file))
}
