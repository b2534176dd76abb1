// Builds the app if needed and prints its folder; the argument is the parent folder to use when the
// sources are read-only. A separate process, because bundling takes memory that the server would
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
import { doOnce } from "./build-lock.ts"

const packages = fileURLToPath(new URL("../../../", import.meta.url))
const ownDist = fileURLToPath(new URL("../../dist/", import.meta.url))
/** The sources of the app: a change in them needs a new build. */
const sources = ["web/src", "contract/src", "std/src", "web/package.json", "../package-lock.json"]
/** A running server may still serve the previous build. */
const limits = { foldersKept: 3, youngMs: 3_600_000 }

const name = `app-${hashSources()}`
// An image contains the app, and its files are read-only.
const dist = existsSync(join(ownDist, name)) ? ownDist : findWritable(ownDist, process.argv[2])
const folder = join(dist, name)
// The parent holds the other end: when it exits, the build is not needed.
process.stdin.on("end", () => process.exit(1)).resume()
await doOnce(
  `${folder}.lock`,
  () => existsSync(folder),
  async () => {
    // Only now: with the compiler, it is most of what this program loads, and it is rarely needed.
    const { buildApp } = await import("./build-app.ts")
    await buildApp(folder)
    removeOld()
    const { user, system } = process.cpuUsage()
    const seconds = [performance.now() / 1_000, (user + system) / 1_000_000]
    const [took, cpu] = seconds.map((count) => count.toFixed(1))
    // For `npm start`, which says how long each of its steps took.
    process.stderr.write(`Building the web app: ${took} s, ${cpu} s of CPU time\n`)
  },
)
await Bun.write(Bun.stdout, folder)
// Standard input would keep the process alive.
process.exit(0)

/** Beside the sources, else the other folder. */
function findWritable(preferred: string, fallback: string | undefined): string {
  try {
    mkdirSync(preferred, { recursive: true })
    accessSync(preferred, constants.W_OK)
    return preferred
  } catch (error) {
    if (fallback === undefined) throw error
    mkdirSync(fallback, { recursive: true, mode: 0o700 })
    return fallback
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
 * Removes old builds, except the newest and those that a server may still serve. An interrupted
 * build leaves a folder with a process id in its name.
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
