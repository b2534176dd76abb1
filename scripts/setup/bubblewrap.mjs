import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { runStep } from "../child.mjs"
import { bubblewrapFolder, bubblewrapProgram, findBubblewrap, findOnPath } from "./programs.mjs"
import { aptOptions, installWithApt } from "./system-packages.mjs"

/** A package registry that does not respond must not keep the server from starting. */
const downloadMsMax = 120_000

/**
 * Installs bubblewrap on Debian and its derivatives: root installs the package, other users unpack it
 * into the project's folder. Failures are not fatal: the server reports which isolation it uses.
 * @param {{ isRoot: boolean, folder?: string }} options
 */
export async function ensureBubblewrap({ isRoot, folder = bubblewrapFolder }) {
  if (process.platform !== "linux" || findBubblewrap(folder) || !findOnPath("apt-get")) return
  if (isRoot) await installWithApt(["bubblewrap"])
  else if (findOnPath("dpkg")) await unpackBubblewrap(folder)
}

/** @param {string} folder */
async function unpackBubblewrap(folder) {
  console.error(`Unpacking bubblewrap into ${folder} with apt-get and dpkg …`)
  const work = `${folder}.${process.pid}`
  try {
    for (const name of ["lists/partial", "cache/archives/partial", "files"])
      mkdirSync(join(work, name), { recursive: true })
    const download = ["download", "bubblewrap"]
    // The machine may have no package list, as in a container, and only root may fetch one.
    const ownLists = [
      "-o",
      `Dir::State::lists=${join(work, "lists")}`,
      "-o",
      `Dir::Cache=${join(work, "cache")}`,
    ]
    if (!(await run(work, "apt-get", [...aptOptions, ...download]))) {
      console.error("Fetching the lists of Debian's packages with apt-get …")
      await run(work, "apt-get", [...aptOptions, ...ownLists, "update"])
      await run(work, "apt-get", [...aptOptions, ...ownLists, ...download])
    }
    const archive = readdirSync(work).find((name) => name.endsWith(".deb"))
    if (archive === undefined || !(await run(work, "dpkg", ["-x", archive, "files"])))
      throw new Error("it could not be downloaded")
    if (!(await run(work, join(work, "files", bubblewrapProgram), ["--version"])))
      throw new Error("it does not start, because libraries are missing")
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(join(work, "files"), folder)
  } catch (error) {
    console.error(`Cannot unpack bubblewrap: ${error instanceof Error ? error.message : error}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * @param {string} folder
 * @param {string} command
 * @param {string[]} args
 */
async function run(folder, command, args) {
  const name = command.split("/").at(-1) ?? command
  const options = { cwd: folder, timeout: downloadMsMax }
  const { exitCode } = await runStep(name, command, args, options)
  return exitCode === 0
}
