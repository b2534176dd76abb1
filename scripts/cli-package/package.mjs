import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bun, root } from "../setup/root.mjs"

/** This name is free on npm; `hamlet` is an unrelated program. */
const packageName = "hamlet-vals"
/** The platforms of the single executables. */
const targets = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]
const here = dirname(fileURLToPath(import.meta.url))
const entry = join(root, "packages", "cli", "src", "main.ts")

/**
 * Builds the package, and with `--binaries` the single executables: all of them, or those named.
 * @param {readonly string[]} args
 */
export async function runPackaging(args) {
  const out = join(root, "dist", "cli")
  const wanted = args.filter((arg) => !arg.startsWith("-"))
  const unknown = wanted.find((target) => !targets.includes(target))
  if (unknown !== undefined)
    return fail(`Cannot build for "${unknown}": the machines are ${targets.join(", ")}`)
  mkdirSync(out, { recursive: true })
  console.log(makePackage(out))
  if (!args.includes("--binaries")) return
  // A platform whose Bun cannot be downloaded does not stop the others.
  const failed = (wanted.length > 0 ? wanted : targets).filter((target) => !makeBinary(out, target))
  if (failed.length > 0)
    fail(`Cannot build for ${failed.join(", ")}: Bun for it could not be fetched`)
}

/**
 * Writes the package as a tarball for `npm install`, and returns its path.
 * @param {string} out
 */
export function makePackage(out) {
  const { version, license, dependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  )
  const folder = join(out, "package")
  rmSync(folder, { recursive: true, force: true })
  for (const inner of ["bin", "dist"]) mkdirSync(join(folder, inner), { recursive: true })
  run(bun, ["build", entry, "--target=bun", "--outfile", join(folder, "dist", "hamlet.js")])
  copyFileSync(join(here, "launcher.mjs"), join(folder, "bin", "hamlet.mjs"))
  chmodSync(join(folder, "bin", "hamlet.mjs"), 0o755)
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  const manifest = {
    name: packageName,
    version,
    description: "The command line of Hamlet, a val hosting service that anybody can run",
    license,
    type: "module",
    engines: { node: ">=20" },
    bin: { hamlet: "bin/hamlet.mjs", "hamlet-vals": "bin/hamlet.mjs" },
    files: ["bin", "dist"],
    dependencies: { bun: dependencies.bun },
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
  writeFileSync(
    join(folder, "README.md"),
    `# ${packageName}\n\nThe command line of Hamlet: \`npx ${packageName} --help\`.\n`,
  )
  run("npm", ["pack", "--silent", "--pack-destination", out], folder)
  return join(out, `${packageName}-${version}.tgz`)
}

/**
 * @param {string} out
 * @param {string} target
 */
function makeBinary(out, target) {
  const file = join(out, `hamlet-${target}`)
  const { status } = spawnSync(
    bun,
    ["build", entry, "--compile", `--target=bun-${target}`, "--outfile", file],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  )
  if (status === 0) console.log(file)
  return status === 0
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args, cwd = root) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status !== 0)
    throw new Error(
      `Cannot make the package: ${command} ${args[0]} ended with ${status}: ${stderr}`,
    )
}

/** @param {string} message */
function fail(message) {
  console.error(message)
  process.exitCode = 1
}
