import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dir, "../../../../..")

export function readChangelog(): string {
  return readFileSync(join(root, "CHANGELOG.md"), "utf8")
}

/** The release whose nodes run beside those of this one, as the changelog names it. */
export function previousRelease(): { readonly version: string; readonly commit: string } {
  const [, version, commit] =
    /(\d+\.\d+\.\d+) is commit ([0-9a-f]{7,40})/.exec(readChangelog()) ?? []
  if (version === undefined || commit === undefined)
    throw new Error("CHANGELOG.md does not name the commit of the release before")
  return { version, commit }
}

/** Whether its code is here: a tarball and a shallow clone have no history. */
export function hasPreviousRelease(): boolean {
  if (Bun.which("git") === null) return false
  const tree = `${previousRelease().commit}^{tree}`
  return Bun.spawnSync(["git", "cat-file", "-e", tree], { cwd: root }).exitCode === 0
}

/** The code of the release before, in a folder of its own. */
export interface PreviousRelease extends AsyncDisposable {
  /** The file that starts it. */
  readonly program: string
}

/** Unpacks the code of the release before. It uses the packages that are installed here. */
export async function unpackPreviousRelease(): Promise<PreviousRelease> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-previous-"))
  const remove = () => rm(folder, { recursive: true })
  try {
    const parts = ["package.json", "packages", "scripts", "docs"]
    const archive = Bun.spawn(["git", "archive", previousRelease().commit, ...parts], {
      cwd: root,
      stdout: "pipe",
    })
    const unpacking = Bun.spawn(["tar", "x", "-C", folder], { stdin: archive.stdout })
    if ((await archive.exited) !== 0 || (await unpacking.exited) !== 0)
      throw new Error("Cannot unpack the release before")
    await linkPackages(folder)
    return {
      program: join(folder, "packages/server/src/main.ts"),
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Links every package that is installed; our own are those of the release. */
async function linkPackages(folder: string): Promise<void> {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")]
  await mkdir(join(to, "@hamlet"), { recursive: true })
  for (const name of await readdir(from))
    if (name !== "@hamlet") await symlink(join(from, name), join(to, name))
  for (const name of await readdir(join(folder, "packages")))
    await symlink(join(folder, "packages", name), join(to, "@hamlet", name))
}
