import { expect } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import type { Person, Stage } from "./stage.ts"

/** The files of a folder and their texts, without those of `.hamlet`. */
export function readTree(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(".hamlet/"))
  return Object.fromEntries(
    paths.sort().flatMap((path) => {
      const bytes = readIfThere(join(folder, path))
      return bytes ? [[path, decode(bytes)]] : []
    }),
  )
}

/** Undefined for a file that a watcher has moved or deleted since it was listed. */
function readIfThere(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

/** A text for each sequence of bytes: a byte order mark stays, and what is not UTF-8 is refused. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
}

/** Writes files into a folder. */
export function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Compares two folders byte for byte. */
export function expectSameTrees(one: string, other: string): void {
  expect(readTree(other)).toEqual(readTree(one))
}

type Files = Readonly<Record<string, string>>

/** A user with a val of several files, and its folder `app`. */
export async function withApp(stage: Stage, username: string, files: Files = appFiles) {
  const person = await stage.person(username)
  const { id } = await person.client.createFolder({ name: "app", privacy: "public" })
  await saveFiles(person, id, files)
  await person.print(["val", "clone", `${username}/app`])
  const inApp = { cwd: join(person.folder, "app") }
  return {
    ...person,
    id,
    in: (...args: string[]) => person.hamlet(args, inApp),
    inApp: (...args: string[]) => person.print(args, inApp),
    versionOf: async () => (await person.client.getBranch({ val_id: id, branch_id: id })).version,
  }
}

/** The files of that val. */
export const appFiles: Files = {
  "main.tsx": "import './lib/a.ts'\n",
  "lib/a.ts": "export const a = 1\n",
  "lib/b.ts": "export const b = 2\n",
  "README.md": "# App\n",
}

/** Saves files in one version. */
export async function saveFiles({ client }: Person, id: string, files: Files): Promise<void> {
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }))
  await client.changeFiles({ val_id: id, changes })
}

/** The text of each file on the server, in the newest version or another. */
export async function readVal(
  { client }: Pick<Person, "client">,
  id: string,
  branch = id,
  wanted?: number,
): Promise<Files> {
  // One version, while others save.
  const version = wanted ?? (await client.getBranch({ val_id: id, branch_id: branch })).version
  const query = { val_id: id, branch_id: branch, version }
  const files = client.items("listFiles", { ...query, path: "", recursive: true, limit: 100 })
  const texts: Promise<readonly [string, string]>[] = []
  for await (const { path, type } of files)
    if (type !== "directory")
      texts.push(
        client
          .getFileContent({ ...query, path })
          .then(async (response) => [path, decode(await response.bytes())]),
      )
  return Object.fromEntries(await Promise.all(texts))
}
