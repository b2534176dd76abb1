import { createHash } from "node:crypto"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { makePackage, runPackaging } from "../cli-package/package.mjs"
import { ensurePackages } from "../setup/packages.mjs"
import { root } from "../setup/root.mjs"
import { isInContext, isInServer, listSources } from "./contents.mjs"
import { readRelease } from "./notes.mjs"
import { completeServer, machines, mustRun, packFolder } from "./server-tarball.mjs"

/** @typedef {keyof typeof machines} Machine */

/**
 * Builds a release. Returns the exit code.
 * @param {readonly string[]} args
 */
export async function runRelease(args) {
  const wanted = args.filter((arg) => !arg.startsWith("-"))
  const unknown = wanted.find((name) => !Object.hasOwn(machines, name))
  if (unknown !== undefined) {
    console.error(
      `Cannot build for "${unknown}": the machines are ${Object.keys(machines).join(", ")}`,
    )
    return 1
  }
  await ensurePackages({ dev: true })
  const { version, notes } = readRelease(root)
  const out = join(root, "dist", "release")
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), "hamlet-release-"))
  try {
    writeFileSync(join(out, "NOTES.md"), `# Hamlet ${version}\n\n${notes}\n`)
    const seconds = await readCommitTime()
    const context = join(work, `hamlet-${version}-context`)
    copyFiles(context, isInContext)
    await packFolder(context, join(out, `hamlet-${version}-context.tar.gz`), seconds)
    for (const machine of /** @type {Machine[]} */ (wanted.length > 0 ? wanted : [ownMachine()])) {
      const folder = join(work, `hamlet-${version}-${machine}`)
      copyFiles(folder, isInServer)
      await completeServer(folder, machine)
      await packFolder(folder, join(out, `hamlet-${version}-${machine}.tar.gz`), seconds)
      rmSync(folder, { recursive: true })
    }
    cpSync(makePackage(work), join(out, `hamlet-vals-${version}.tgz`))
    if (args.includes("--binaries")) {
      await runPackaging(["--binaries"])
      copyBinaries(out)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  report(out)
  return 0
}

/** @returns {string} */
function ownMachine() {
  return `linux-${process.arch}`
}

/**
 * @param {string} folder
 * @param {(path: string) => boolean} isWanted
 */
function copyFiles(folder, isWanted) {
  for (const path of listSources(root).filter(isWanted)) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(root, path), target)
  }
}

/** @param {string} out */
function copyBinaries(out) {
  const folder = join(root, "dist", "cli")
  for (const name of readdirSync(folder).filter((name) => /^hamlet-(?:linux|darwin)-/.test(name)))
    cpSync(join(folder, name), join(out, name))
}

async function readCommitTime() {
  const { output } = await mustRun("git", ["log", "-1", "--format=%ct"], root)
  return Number(output.trim())
}

/** Writes the checksums and lists the files. @param {string} out */
function report(out) {
  const names = readdirSync(out).sort()
  const sums = names.map((name) => {
    const hash = createHash("sha256")
      .update(readFileSync(join(out, name)))
      .digest("hex")
    return `${hash}  ${name}\n`
  })
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""))
  for (const name of [...names, "SHA256SUMS"]) {
    const megabytes = (statSync(join(out, name)).size / 1e6).toFixed(1)
    console.log(`${join("dist", "release", name)}  ${megabytes} MB`)
  }
}
