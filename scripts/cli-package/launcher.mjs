#!/usr/bin/env node
// Starts the command line with the Bun installed beside it: it needs Bun, and users have Node.
import { spawn } from "node:child_process"
import { statSync } from "node:fs"
import { createRequire } from "node:module"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const require = createRequire(import.meta.url)
const program = join(dirname(fileURLToPath(import.meta.url)), "..", "dist", "hamlet.js")
/** If install scripts do not run, Bun's binary is still a placeholder. */
const programBytesMin = 1_000_000
const bun = findBun()
if (bun === undefined) {
  console.error(
    'Cannot start hamlet: Bun is not installed beside it; run "npm install" again and allow the script of the package "bun"',
  )
  process.exit(1)
}
const child = spawn(bun, [program, ...process.argv.slice(2)], { stdio: "inherit" })
// A terminal sends Ctrl-C to both; the child handles it.
process.on("SIGINT", () => {})
process.on("SIGTERM", () => child.kill("SIGTERM"))
process.on("SIGHUP", () => child.kill("SIGHUP"))
child.once("error", (error) => {
  console.error(`Cannot start hamlet: ${error.message}`)
  process.exit(1)
})
child.once("exit", (code, signal) =>
  process.exit(code ?? 128 + constants.signals[signal ?? "SIGTERM"]),
)

function findBun() {
  const folders = [
    "bun",
    `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`,
  ].map(findFolder)
  const files = folders.flatMap((folder) =>
    folder ? [join(folder, "bin", "bun.exe"), join(folder, "bin", "bun")] : [],
  )
  return files.find(
    (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > programBytesMin,
  )
}

/** @param {string} name */
function findFolder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}
