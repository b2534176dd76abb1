import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isConflictPath } from "../../src/watch/paths.ts"
import type { Started } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"
import { createRandom, createWatchWorld, readAll, readParts } from "../support/watch-world.ts"

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
        const found = [...(await listCodes(ada)), ...folders.flatMap(readAll)].join("\n")
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

const listFiles = (folder: string) =>
  readdirSync(folder).filter((name) => /^[^.].*\.ts$/.test(name) && !isConflictPath(name))

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
    const file = pick(listFiles(folder))
    if (chance < 0.15) writeFileSync(join(folder, `file${step}.ts`), newText())
    else if (chance < 0.25) await client.createVal({ name: `val${step}`, code: newText() })
    else if (chance < 0.45 && val) await client.createVersion({ val_id: val.id, code: newText() })
    else if (chance < 0.5 && val)
      await client.updateVal({ val_id: val.id, name: `renamed${step}`, privacy: "public" })
    else if (chance < 0.6 && file !== undefined)
      ifThere(() => renameSync(join(folder, file), join(folder, `moved${step}.ts`)))
    else if (file !== undefined) ifThere(() => addTo(join(folder, file), newText))
    await Bun.sleep(random() * paceMs)
  }
  return texts
}

function addTo(path: string, newText: () => string): void {
  const { front, code } = readParts(path)
  const fields = Object.entries(front).map(([name, value]) => `${name}=${value}`)
  const head = fields.length > 0 ? `// hamlet: ${fields.join(" ")}\n` : ""
  writeFileSync(path, head + code + newText())
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
  { client }: Person,
  folders: readonly string[],
  watching: readonly Started[],
): Promise<void> {
  for (const deadlineMs = Date.now() + sameMsMax; ; ) {
    const vals = await Promise.all(
      (await client.listMyValStates()).data.map(({ id }) => client.getVal({ val_id: id })),
    )
    const wanted = vals.map(({ name, code }) => `${name} ${code}`).sort()
    const found = folders.map((folder) =>
      listFiles(folder)
        .flatMap((file) => ifThere(() => describeFile(folder, file)) ?? [])
        .sort(),
    )
    if (found.every((files) => Bun.deepEquals(files, wanted))) return
    if (Date.now() > deadlineMs) {
      for (const one of watching) one.signal("SIGINT")
      throw new Error(
        JSON.stringify(
          { wanted, found, said: await Promise.all(watching.map((one) => one.ended())) },
          undefined,
          2,
        ),
      )
    }
    await Bun.sleep(paceMs)
  }
}

/** The name and the code of the val in a file. */
function describeFile(folder: string, file: string): string {
  const { front, code } = readParts(join(folder, file))
  return `${front.name ?? file.replace(/\.ts$/, "")} ${code}`
}

async function listCodes({ client }: Person): Promise<readonly string[]> {
  const codes: string[] = []
  for (const { id } of (await client.listMyValStates()).data)
    for await (const { code } of client.items("listVersions", { val_id: id })) codes.push(code)
  return codes
}
