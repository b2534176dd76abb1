// Builds the app where it is missing and prints where it is; the argument is a folder for it where
// the sources cannot be written. A process of its own: bundling takes memory that the server would
// keep.
import { createHash } from "node:crypto"
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildApp } from "./build-app.ts"
import { doOnce } from "./build-lock.ts"

const packages = fileURLToPath(new URL("../../../", import.meta.url))
const dist = findWritable(fileURLToPath(new URL("../../dist/", import.meta.url)), process.argv[2])
/** What the app is made of. A change in it is another app. */
const sources = ["web/src", "contract/src", "std/src", "web/package.json", "../package-lock.json"]
/** A server that is still running may serve from the one before. */
const limits = { foldersKept: 3, youngMs: 3_600_000 }

const folder = join(dist, `app-${hashSources()}`)
// Whoever has started us holds the other end: without them nobody wants the app.
process.stdin.on("end", () => process.exit(1)).resume()
await doOnce(
  `${folder}.lock`,
  () => existsSync(folder),
  async () => {
    await buildApp(folder)
    removeOld()
  },
)
await Bun.write(Bun.stdout, folder)
// Standard input would keep us for as long as the other end is open.
process.exit(0)

/** Beside the sources; elsewhere where they belong to somebody else. */
function findWritable(wanted: string, otherwise: string | undefined): string {
  try {
    mkdirSync(wanted, { recursive: true })
    accessSync(wanted, constants.W_OK)
    return wanted
  } catch (error) {
    if (otherwise === undefined) throw error
    mkdirSync(otherwise, { recursive: true, mode: 0o700 })
    return otherwise
  }
}

function hashSources(): string {
  const hash = createHash("sha256")
  for (const source of sources.map((source) => join(packages, source))) {
    for (const path of listFiles(source))
      hash.update(path.slice(packages.length)).update("\0").update(readFileSync(path))
  }
  return hash.digest("hex").slice(0, 16)
}

function listFiles(path: string): readonly string[] {
  if (/\.(json|ts)$/.test(path)) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/**
 * The newest stay, and what is young: somebody may be serving from it. Builds that were broken off
 * leave a folder with another ending.
 */
function removeOld(): void {
  const folders = readdirSync(dist)
    .filter((name) => /^app-[0-9a-f]{16}(\.\d+)?$/.test(name) && join(dist, name) !== folder)
    .map((name) => ({
      path: join(dist, name),
      madeAtMs: statSync(join(dist, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((one, other) => other.madeAtMs - one.madeAtMs)
  for (const { path, madeAtMs } of folders.slice(limits.foldersKept - 1))
    if (Date.now() - madeAtMs > limits.youngMs) rmSync(path, { recursive: true, force: true })
}
