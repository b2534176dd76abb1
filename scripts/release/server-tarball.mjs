import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { runCaptured } from "../child.mjs"
import { bun, root } from "../setup/root.mjs"

/** What npm calls the machines that can run the server, and what Bun does. */
export const machines = {
  "linux-x64": { cpu: "x64", bunPackage: "bun-linux-x64" },
  "linux-arm64": { cpu: "arm64", bunPackage: "bun-linux-aarch64" },
}

/** Packages that only the build of the web app needs, which the tarball contains. */
const unused = ["@codemirror", "@lezer", "dompurify", "typescript-js", "lucide/dist/cjs"]

/** Files that no program reads. */
const unread = /\.(?:map|d\.ts|d\.mts|d\.cts)$/

/**
 * Completes a folder that has the sources of the server: with its packages, Bun and Deno among them,
 * and the web app, so that it starts with Node alone and fetches nothing.
 * @param {string} folder
 * @param {keyof typeof machines} machine
 */
export async function completeServer(folder, machine) {
  const { cpu, bunPackage } = machines[machine]
  await installFor(folder, cpu)
  const packages = join(folder, "node_modules")
  // npm would run the install script of Bun, which takes the program of the machine that builds.
  const program = join(packages, "bun", "bin", "bun.exe")
  renameSync(join(packages, "@oven", bunPackage, "bin", "bun"), program)
  const app = await buildWebApp()
  const dist = join(folder, "packages", "web", "dist")
  mkdirSync(dist, { recursive: true })
  cpSync(app, join(dist, basename(app)), { recursive: true })
  for (const name of ["@oven", ...unused])
    rmSync(join(packages, name), { recursive: true, force: true })
  for (const path of readdirSync(packages, { recursive: true, encoding: "utf8" }))
    if (unread.test(path)) rmSync(join(packages, path), { force: true })
}

/**
 * @param {string} folder
 * @param {string} cpu
 */
async function installFor(folder, cpu) {
  const machine = ["--os=linux", `--cpu=${cpu}`, "--libc=glibc"]
  const options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  await mustRun("npm", ["ci", ...options, ...machine], folder)
}

/** Returns the folder of the app in this checkout. */
async function buildWebApp() {
  const program = join(root, "packages", "web", "src", "build", "main.ts")
  const { output } = await mustRun(bun, [program], root, "pipe")
  return output.trim()
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {"ignore" | "pipe"} [stdin] a build of the app ends when its input does
 */
export async function mustRun(command, args, cwd, stdin = "ignore") {
  const ended = await runCaptured(command, args, { cwd, stdio: [stdin, "pipe", "pipe"] })
  if (ended.exitCode !== 0)
    throw new Error(`Cannot release: ${command} ended with ${ended.exitCode}: ${ended.output}`)
  return ended
}

/**
 * Packs a folder. The same files give the same bytes.
 * @param {string} folder
 * @param {string} file
 * @param {number} seconds the time of all files, since 1970
 */
export async function packFolder(folder, file, seconds) {
  const names = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${seconds}`]
  const place = ["--directory", dirname(folder), basename(folder)]
  await mustRun(
    "tar",
    ["--create", "--use-compress-program=gzip -n", "--file", file, ...names, ...place],
    root,
  )
}
