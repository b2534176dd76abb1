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
import { join } from "node:path"
import { ApiError } from "@hamlet/contract/client"
import { openFolderState } from "../../src/files/folder-state.ts"
import { parseFile } from "../../src/files/front-matter.ts"
import { findReadme, toReadmePath } from "../../src/files/readme-file.ts"
import { createAccountFolder } from "../../src/watch/account-folder.ts"
import { isConflictPath, isSameName, toStem } from "../../src/watch/paths.ts"
import type { SyncEvent } from "../../src/watch/sync-event.ts"
import { FolderWatcher } from "../../src/watch/watcher.ts"
import type { Person } from "./stage.ts"

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
  const { id: owner } = await client.getMe()
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
            me: async () => ({ id: owner }),
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
  const listFiles = ({ folder }: Side) =>
    readdirSync(folder).filter((name) => /^[^.].*\.tsx?$/.test(name) && !isConflictPath(name))
  const pickVal = async () => pick((await client.listMyValStates()).data)

  const deeds: Readonly<Record<string, (side: Side) => Promise<string> | string>> = {
    "edits a file"(side) {
      const file = pick(listFiles(side))
      if (file === undefined) return "nothing"
      const { front } = readParts(join(side.folder, file))
      const line = Object.entries(front).map(([field, value]) => `${field}=${value}`)
      writeFileSync(
        join(side.folder, file),
        (line.length > 0 ? `// hamlet: ${line.join(" ")}\n` : "") + newText(),
      )
      return `${file} ${texts}`
    },
    "makes a file"(side) {
      const file = `${newName()}${pick([".ts", ".tsx"])}`
      if (existsSync(join(side.folder, file))) return "nothing"
      const line = pick(["", "// hamlet: privacy=public\n", `// hamlet: name=${newName()}\n`])
      writeFileSync(join(side.folder, file), line + newText())
      return `${file} ${texts}`
    },
    "changes a first line"(side) {
      const file = pick(listFiles(side))
      if (file === undefined) return "nothing"
      const { code } = readParts(join(side.folder, file))
      const line = pick([
        "",
        "// hamlet: privacy=public\n",
        "// hamlet: privacy=private type=http\n",
        `// hamlet: name=${newName()}\n`,
      ])
      writeFileSync(join(side.folder, file), line + code)
      return `${file} ${line?.trim()}`
    },
    "renames a file"(side) {
      const [file, name] = [pick(listFiles(side)), `${newName()}.ts`]
      if (file === undefined || existsSync(join(side.folder, name))) return "nothing"
      renameSync(join(side.folder, file), join(side.folder, name))
      return `${file} to ${name}`
    },
    "edits a readme"(side) {
      const file = pick(listFiles(side))
      if (file !== undefined)
        writeFileSync(
          join(side.folder, toReadmePath(file)),
          pick(["", `# ${++texts}`, `# ${++texts}`]) ?? "",
        )
      return `${file} ${texts}`
    },
    "puts a file aside"(side) {
      const file = pick([...side.problems])
      if (file !== undefined) putAside(side, file)
      return `${file}`
    },
    "deletes a file"(side) {
      const file = pick(listFiles(side))
      if (file !== undefined) rmSync(join(side.folder, file))
      return `${file}`
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
    "edits a readme",
    "changes a first line",
    "puts a file aside",
  ]
  const seldom = ["deletes a file", "deletes a val"]

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
      if (known.has(version)) continue
      for (const one of (await client.listVersions({ val_id: id, limit: 20 })).data)
        known.set(one.version, one.code)
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
    const vals = await Promise.all(states.map(({ id }) => client.getVal({ val_id: id })))
    return sides.map((side) => {
      const { files } = openFolderState(side.folder, serverUrl)
      const left = new Set([...files.values()].filter(({ isLeft }) => isLeft).map(({ id }) => id))
      const found = listFiles(side).map((file) => {
        const { front, code } = readParts(join(side.folder, file))
        const name = front.name ?? toStem(file)
        // Without its file a val keeps its readme.
        const known = vals.find((val) => isSameName(val.name, name))?.readme ?? ""
        return `${name} ${code} ${findReadme(join(side.folder, file)) ?? known}`
      })
      const wanted = vals
        .filter(({ id }) => !left.has(id))
        .map(({ name, code, readme }) => `${name} ${code} ${readme ?? ""}`)
      return { wanted: wanted.sort(), found: found.sort() }
    })
  }

  return { diary, step: async () => (random() < 0.55 ? act() : sync()), settle, readFolders }
}

/** Hidden from the synchronisation, but not deleted. */
function putAside({ folder }: Side, file: string): void {
  if (existsSync(join(folder, file)))
    renameSync(join(folder, file), join(folder, `.put-aside-${Bun.randomUUIDv7()}`))
}

/** A file in its parts. */
export function readParts(path: string) {
  return parseFile(readFileSync(path, "utf8"), path)
}

/** The text of every file in a folder, wherever it is. */
export function readAll(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
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
