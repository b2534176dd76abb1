import { describe, expect, test } from "bun:test"
import { appendFileSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isConflictPath } from "../../src/watch/paths.ts"
import type { Started } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"
import { readTree, readVal } from "../support/trees.ts"
import { createRandom, createWatchWorld, readAll } from "../support/watch-world.ts"

const stepCount = Number(process.env.HAMLET_TEST_WATCH_STEPS ?? 200)
const testMsMax = 120_000 + 200 * stepCount
const liveStepCount = 60
const paceMs = 50
const sameMsMax = 120_000
const liveMsMax = 180_000

describe("val watch, at random", () => {
  const stage = useStage()

  test(
    `watch --once loses nothing and makes both sides equal after ${stepCount} random steps`,
    async () => {
      const seed = toSeed()
      const ada = await stage().person(`model${seed}`)
      const world = await createWatchWorld(ada, stage().url, seed)
      try {
        for (let step = 0; step < stepCount; step++) await world.step()
        await world.settle()
        for (const { found, wanted } of await world.readFolders()) expect(found).toEqual(wanted)
      } catch (error) {
        console.error(
          `HAMLET_TEST_SEED=${seed}; the last steps were\n${world.diary.slice(-40).join("\n")}`,
        )
        throw error
      }
    },
    testMsMax,
  )

  test(
    "two running watchers lose nothing and make both sides equal while both sides change at a random pace",
    async () => {
      const seed = toSeed()
      const ada = await stage().person(`live${seed}`)
      const folders = ["A", "B"].map((name) => join(ada.folder, name))
      for (const folder of folders) mkdirSync(folder)
      await using first = ada.start(["val", "watch", "A"])
      await using second = ada.start(["val", "watch", "B"])
      for (const watching of [first, second]) await watching.waitFor(/Watching/)
      try {
        const texts = await liveOn(ada, folders, createRandom(seed))
        await becomeSame(ada, folders, [first, second])
        for (const watching of [first, second]) watching.signal("SIGINT")
        for (const watching of [first, second]) expect((await watching.ended()).exit).toBe(130)
        const found = [...(await listTexts(ada)), ...folders.flatMap(readAll)].join("\n")
        expect(texts.filter((text) => !found.includes(text))).toEqual([])
      } catch (error) {
        console.error(`HAMLET_TEST_SEED=${seed}`)
        throw error
      }
    },
    liveMsMax,
  )
})

function toSeed(): number {
  return Number(process.env.HAMLET_TEST_SEED ?? Date.now() % 1_000_000)
}

const listFolders = (folder: string) =>
  readdirSync(folder).filter((name) => !name.startsWith(".") && !isConflictPath(name))

/**
 * Appends to files and vals, and returns what was added. Nothing is removed, so all of it must be
 * somewhere.
 */
async function liveOn(
  { client }: Person,
  folders: readonly string[],
  random: () => number,
): Promise<readonly string[]> {
  const texts: string[] = []
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]
  const newText = () => {
    texts.push(`// text ${texts.length}.`)
    return `${texts.at(-1)}\n`
  }
  for (let step = 0; step < liveStepCount; step++) {
    const [chance, folder = ""] = [random(), pick(folders)]
    const val = pick((await client.listMyValStates()).data)
    const name = pick(listFolders(folder))
    if (chance < 0.15) makeFolder(join(folder, `folder${step}`), newText())
    else if (chance < 0.25) await client.createVal({ name: `val${step}`, code: newText() })
    else if (chance < 0.45 && val) await client.createVersion({ val_id: val.id, code: newText() })
    else if (chance < 0.5 && val)
      await client.updateVal({ val_id: val.id, name: `renamed${step}`, privacy: "public" })
    else if (chance < 0.6 && name !== undefined)
      ifThere(() => renameSync(join(folder, name), join(folder, `moved${step}`)))
    else if (name !== undefined) ifThere(() => addTo(join(folder, name), newText, pick))
    await Bun.sleep(random() * paceMs)
  }
  return texts
}

function makeFolder(path: string, text: string): void {
  mkdirSync(path)
  writeFileSync(join(path, "main.ts"), text)
}

/** Appends to a file of a folder. */
function addTo(
  folder: string,
  newText: () => string,
  pick: (items: readonly string[]) => string | undefined,
): void {
  const files = readdirSync(folder).filter((name) => /^[^.].*\.tsx?$/.test(name))
  const file = pick(files.filter((name) => !isConflictPath(name))) ?? "new.ts"
  appendFileSync(join(folder, file), newText())
}

/** Does something with a file, unless a watcher has renamed it since it was listed. */
function ifThere<Result>(action: () => Result): Result | undefined {
  try {
    return action()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    return undefined
  }
}

/** Waits until each folder has what the server has. */
async function becomeSame(
  ada: Person,
  folders: readonly string[],
  watching: readonly Started[],
): Promise<void> {
  for (const deadlineMs = Date.now() + sameMsMax; ; ) {
    const { data } = await ada.client.listMyValStates()
    const trees = data.map(async ({ id }) => JSON.stringify(await readVal(ada, id)))
    const wanted = (await Promise.all(trees)).sort()
    const found = folders.map((folder) =>
      listFolders(folder)
        .flatMap((name) => ifThere(() => describeFolder(join(folder, name))) ?? [])
        .sort(),
    )
    if (found.every((files) => Bun.deepEquals(files, wanted))) return
    if (Date.now() > deadlineMs) {
      for (const one of watching) one.signal("SIGINT")
      const said = await Promise.all(watching.map((one) => one.ended()))
      throw new Error(JSON.stringify({ wanted, found, said }, undefined, 2))
    }
    await Bun.sleep(paceMs)
  }
}

/** The files of the val in a folder. */
function describeFolder(folder: string): string {
  const files = Object.entries(readTree(folder)).filter(([path]) => !isConflictPath(path))
  return JSON.stringify(Object.fromEntries(files))
}

/** The texts of all files in all versions. */
async function listTexts(ada: Person): Promise<readonly string[]> {
  const texts: string[] = []
  for (const { id, version } of (await ada.client.listMyValStates()).data)
    for (let n = 1; n <= version; n++) texts.push(...Object.values(await readVal(ada, id, id, n)))
  return texts
}
