import { expect } from "bun:test"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { ApiError } from "@hamlet/contract/client"
import { unzipSync } from "fflate"
import { createAccountFolder } from "../../src/account/account-folder.ts"
import { findAccount } from "../../src/account/account-state.ts"
import { isConflictPath } from "../../src/watch/paths.ts"
import type { SyncEvent } from "../../src/watch/sync-event.ts"
import { FolderWatcher } from "../../src/watch/watcher.ts"
import type { Person } from "./stage.ts"
import { readTree, readVal } from "./trees.ts"

/** A world in which people change files and vals at random. */
export interface WatchWorld {
  /** What has happened. */
  readonly diary: readonly string[]
  /** Runs an action, and checks that it loses no text that was not deleted on purpose. */
  step(): Promise<void>
  /**
   * Synchronises until nothing happens any more; what cannot be synchronised is put aside first.
   */
  settle(): Promise<void>
  /** What each folder has of the vals, and what it should have. */
  readFolders(): Promise<
    readonly { readonly found: readonly string[]; readonly wanted: readonly string[] }[]
  >
}

interface Side {
  readonly name: string
  readonly folder: string
  readonly problems: Set<string>
  sync(): Promise<boolean>
}

/** A world that is the same for the same seed, but for who is faster. */
export async function createWatchWorld(
  person: Person,
  serverUrl: string,
  seed: number,
): Promise<WatchWorld> {
  const { client } = person
  const { id, username } = await client.getMe()
  const random = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item | undefined =>
    items[Math.floor(random() * items.length)]
  const diary: string[] = []
  const sides = [openSide("A", false), openSide("B", true)]
  const versions = new Map<string, Map<number, string>>()
  let texts = 0

  function openSide(name: string, isDeleting: boolean): Side {
    const folder = join(person.folder, name)
    mkdirSync(folder)
    const problems = new Set<string>()
    const tell = ({ action, file, other, val }: SyncEvent) => {
      diary.push(`  ${name} ${action} ${file} ${val?.name ?? ""} ${other ?? ""}`)
      if (action === "problem") problems.add(file)
    }
    return {
      name,
      folder,
      problems,
      async sync() {
        problems.clear()
        const watcher = new FolderWatcher(
          createAccountFolder({
            client,
            folder,
            serverUrl,
            isDeleting,
            isDry: false,
            report: tell,
            me: async () => ({ id, username }),
            onFetch: { begin() {}, add() {}, end() {} },
            note: () => {},
            settleMs: 0,
          }),
        )
        return (await watcher.once()).hasActed
      },
    }
  }

  const newText = () => `export default "text ${++texts}."\n`
  const newName = () => `${pick(["val", "Val", "other"])}${Math.floor(random() * 8)}`
  const listFolders = ({ folder }: Side) =>
    readdirSync(folder).filter((name) => /^[^.]+$/.test(name) && !isConflictPath(name))
  const listFiles = (side: Side) =>
    listFolders(side).flatMap((name) =>
      readdirSync(join(side.folder, name))
        .filter((file) => /^[^.].*\.(?:tsx?|md)$/.test(file) && !isConflictPath(file))
        .map((file) => join(name, file)),
    )
  const pickVal = async () => pick((await client.listMyValStates()).data)

  const deeds: Readonly<Record<string, (side: Side) => Promise<string> | string>> = {
    "edits a file"(side) {
      const file = pick(listFiles(side))
      if (file !== undefined) writeFileSync(join(side.folder, file), newText())
      return `${file} ${texts}`
    },
    "makes a file"(side) {
      const folder = pick(listFolders(side))
      const file = pick(["README.md", "main.tsx", "lib.ts", "other.ts"])
      if (folder === undefined || existsSync(join(side.folder, folder, `${file}`))) return "nothing"
      writeFileSync(join(side.folder, folder, `${file}`), newText())
      return `${folder}/${file} ${texts}`
    },
    "renames a file"(side) {
      const [file, name] = [pick(listFiles(side)), `${newName()}.ts`]
      if (file === undefined || existsSync(join(side.folder, dirname(file), name))) return "nothing"
      renameSync(join(side.folder, file), join(side.folder, dirname(file), name))
      return `${file} to ${name}`
    },
    "makes a folder"(side) {
      const name = newName()
      if (existsSync(join(side.folder, name))) return "nothing"
      mkdirSync(join(side.folder, name))
      writeFileSync(join(side.folder, name, "main.ts"), newText())
      return `${name} ${texts}`
    },
    "renames a folder"(side) {
      const [before, after] = [pick(listFolders(side)), newName()]
      if (before === undefined || existsSync(join(side.folder, after))) return "nothing"
      renameSync(join(side.folder, before), join(side.folder, after))
      return `${before} to ${after}`
    },
    "puts a folder aside"(side) {
      const file = pick([...side.problems])
      if (file !== undefined) putAside(side, file)
      return `${file}`
    },
    "deletes a file"(side) {
      const file = pick(listFiles(side))
      if (file !== undefined) rmSync(join(side.folder, file))
      return `${file}`
    },
    "deletes a folder"(side) {
      const folder = pick(listFolders(side))
      if (folder !== undefined) rmSync(join(side.folder, folder), { recursive: true })
      return `${folder}`
    },
    async "saves a val"() {
      const [val, name] = [await pickVal(), newName()]
      const code = newText()
      const saved =
        val && random() < 0.7
          ? await client.createVersion({ val_id: val.id, code })
          : await client.saveVal({ name, code })
      return `${saved.name}@${saved.version} ${texts}`
    },
    async "changes a val"() {
      const val = await pickVal()
      const change = pick([
        { name: newName() },
        { privacy: "public" },
        { privacy: "private" },
        { type: "http" },
        { readme: `# ${++texts}` },
        { readme: null },
      ] as const)
      if (val && change) await client.updateVal({ val_id: val.id, ...change })
      return `${val?.name} ${JSON.stringify(change)}`
    },
    async "deletes a val"() {
      const val = await pickVal()
      if (val) await client.deleteVal({ val_id: val.id })
      return `${val?.name}`
    },
  }
  const often = [
    "edits a file",
    "edits a file",
    "saves a val",
    "makes a file",
    "changes a val",
    "renames a file",
    "makes a folder",
    "renames a folder",
    "puts a folder aside",
  ]
  const seldom = ["deletes a file", "deletes a folder", "deletes a val"]

  async function act(): Promise<void> {
    const deed = (random() < 0.9 ? pick(often) : pick(seldom)) ?? ""
    const side = pick(sides) ?? sides[0]
    if (!side) return
    const done = await Promise.resolve(deeds[deed]?.(side)).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return error.code
      throw error
    })
    diary.push(`${deed.endsWith("val") ? "the API" : side.name} ${deed}: ${done}`)
  }

  /** Where a text is, in the current and earlier versions of vals and in both folders. */
  async function findTexts(): Promise<ReadonlySet<string>> {
    await updateVersions()
    const all = [...versions.values()].flatMap((codes) => [...codes.values()])
    for (const { folder } of sides) all.push(...readAll(folder))
    return new Set(all.flatMap((text) => [...text.matchAll(/text \d+\./g)].map(([found]) => found)))
  }

  async function updateVersions(): Promise<void> {
    const { data } = await client.listMyValStates()
    for (const id of versions.keys()) if (!data.some((val) => val.id === id)) versions.delete(id)
    for (const { id, version } of data) {
      const known = versions.get(id) ?? new Map<number, string>()
      versions.set(id, known)
      for (let n = 1; n <= version; n++)
        if (!known.has(n)) {
          const files = await readVal(person, id, id, n)
          known.set(n, Object.values(files).join("\n"))
        }
    }
  }

  async function sync(): Promise<void> {
    const before = await findTexts()
    const chance = random()
    const [first, second] = random() < 0.5 ? sides : [...sides].reverse()
    if (!first || !second) return
    diary.push(chance < 0.3 ? "both synchronise" : `${first.name} synchronises`)
    // Other actors continue, but delete nothing.
    const meanwhile = chance > 0.1 && chance < 0.5 ? deeds["saves a val"]?.(first) : undefined
    await Promise.all([
      first.sync(),
      chance < 0.3 ? second.sync() : undefined,
      Promise.resolve(meanwhile).catch(() => {}),
    ])
    const after = await findTexts()
    expect([...before].filter((text) => !after.has(text))).toEqual([])
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < 12; round++) {
      const hasActed = [await sides[0]?.sync(), await sides[1]?.sync()]
      for (const side of sides) for (const file of side.problems) putAside(side, file)
      if (!hasActed.includes(true) && sides.every(({ problems }) => problems.size === 0)) return
    }
  }

  async function readFolders() {
    const states = (await client.listMyValStates()).data
    return Promise.all(
      sides.map(async ({ folder }) => {
        const { vals } = findAccount(folder) ?? { vals: new Map() }
        const kept = states.filter((val) => !vals.get(val.id)?.isLeft)
        const found = kept.map(({ id }) =>
          JSON.stringify(withoutConflicts(readTree(join(folder, vals.get(id)?.folder ?? "")))),
        )
        const wanted = kept.map(async (val) => JSON.stringify(await readVal(person, val.id)))
        return { found, wanted: await Promise.all(wanted) }
      }),
    )
  }

  return { diary, step: async () => (random() < 0.55 ? act() : sync()), settle, readFolders }
}

/** Hidden from the synchronisation, but not deleted. */
function putAside({ folder }: Side, file: string): void {
  if (file !== "" && existsSync(join(folder, file)))
    renameSync(join(folder, file), join(folder, `.put-aside-${Bun.randomUUIDv7()}`))
}

function withoutConflicts(files: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => !isConflictPath(path))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

/** The text of every file in a folder, wherever it is, also in archives. */
export function readAll(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
    .flatMap((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name))
      const files = entry.name.endsWith(".zip") ? Object.values(unzipSync(bytes)) : [bytes]
      return files.map((one) => new TextDecoder().decode(one))
    })
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
