import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Gate, openGate } from "../support/gate.ts"
import type { Started } from "../support/processes.ts"
import { changeRepository, toRepository } from "../support/repository.ts"
import { openStage, type Stage } from "../support/stage.ts"
import { expectSameTrees, readTree, readVal, writeTree } from "../support/trees.ts"
import { createRandom } from "../support/watch-world.ts"

/*
 * `npm run long-test -- folders`: a repository of 300 files is changed, pushed and watched in two folders,
 * while the server or a client is killed at any point of it. A push is one version, or none; what was
 * in a folder is there afterwards; and a second push completes the first.
 */

const kills = Number(process.env.HAMLET_CHAOS_KILLS ?? 10)
const seed = Number(process.env.HAMLET_TEST_SEED ?? Math.trunc(Math.random() * 0x7fffffff))
/** A client needs most of this to start; the rest is its work. */
const killMsMax = 700
/** A save takes some milliseconds. */
const saveMsMax = 40
const changesMax = 40

type Victim = "server" | "client"

test(`a repository is the same everywhere after ${kills} kills HAMLET_TEST_SEED=${seed}`, async () => {
  await using stage = await openStage()
  await using gate = openGate(stage.url)
  const random = createRandom(seed)
  const world = await openWorld(stage, gate, random)
  const found: Record<string, number> = {}
  for (let n = 0; n < kills; n++) {
    const victim: Victim = random() < 0.5 ? "server" : "client"
    const outcome =
      n % 2 === 0 ? await killPush(world, victim, `p${n}`) : await killWatch(world, victim, `w${n}`)
    found[outcome] = (found[outcome] ?? 0) + 1
    await world.assertSame()
  }
  console.info(`${kills} kills:`, found)
})

async function openWorld(stage: Stage, gate: Gate, random: () => number) {
  const ada = await stage.person("ada")
  const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
  const [here, there] = [join(ada.folder, "here"), join(ada.folder, "there")]
  mkdirSync(here)
  writeTree(here, toRepository())
  await ada.print(["val", "push", "--create", "tree", "--dir", "here"], { env })
  await ada.print(["val", "clone", "ada/tree", "there"], { env })
  const { id } = await ada.client.getValByName({ username: "ada", val_name: "tree" })
  return {
    stage,
    gate,
    random,
    here,
    there,
    id,
    ada,
    start: (...args: string[]) => ada.start(args, { env }),
    run: (...args: string[]) => ada.print(args, { env }),
    versionOf: async () => (await ada.client.getBranch({ val_id: id, branch_id: id })).version,
    readSaved: () => readVal(ada, id),
    /** Changes files of a folder that are chosen at random. */
    change(folder: string, label: string) {
      const paths = Object.keys(readTree(folder)).sort(() => random() - 0.5)
      changeRepository(folder, paths.slice(0, 1 + random() * changesMax), random, label)
    },
    async assertSame() {
      await ada.print(["val", "pull", "--dir", "there"], { env })
      expectSameTrees(here, there)
      expect(await readVal(ada, id)).toEqual(readTree(here))
      expect(await ada.print(["val", "status", "--dir", "here"], { env })).toBe("")
    },
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** Kills during a push, and pushes again. Returns what the kill has hit. */
async function killPush(world: World, victim: Victim, label: string): Promise<string> {
  const { random, here } = world
  const [whole, before] = [readTree(here), await world.versionOf()]
  world.change(here, label)
  const changed = readTree(here)
  const isAtSave = random() < 0.6
  const held = isAtSave ? world.gate.hold(/POST .*files/, "before") : undefined
  await using pushing = world.start("val", "push", "--dir", "here")
  if (held) {
    await Promise.race([held.isHeld, pushing.ended()])
    held.release()
  }
  await Bun.sleep(random() * (isAtSave ? saveMsMax : killMsMax))
  await kill(world, victim, pushing)
  // One version as a whole. The request of a killed client may still be on its way.
  const saved = await world.readSaved()
  const isSaved = Bun.deepEquals(saved, changed)
  expect(saved).toEqual(isSaved ? changed : whole)
  expect(await world.versionOf()).toBeLessThanOrEqual(before + 1)
  expect(readTree(here)).toEqual(changed)
  await world.run("val", "push", "--dir", "here")
  expect(await world.versionOf()).toBe(before + 1)
  return `push, ${victim} killed ${isSaved ? "after" : "before"} the save`
}

/** Kills while both folders are watched, and one of them is changed. */
async function killWatch(world: World, victim: Victim, label: string): Promise<string> {
  const { random, here, there } = world
  const [changing, following] = random() < 0.5 ? [here, there] : [there, here]
  const before = await world.versionOf()
  await using one = world.start("val", "watch", changing, "--delete")
  await using other = world.start("val", "watch", following, "--delete")
  await Promise.all([one.waitFor(/Watching/), other.waitFor(/Watching/)])
  world.change(changing, label)
  const changed = readTree(changing)
  await Bun.sleep(random() * 3 * killMsMax)
  await kill(world, victim, random() < 0.5 ? one : other)
  for (const watching of [one, other]) {
    watching.signal("SIGKILL")
    await watching.ended()
  }
  const isSaved = (await world.versionOf()) > before
  for (const folder of [changing, following])
    await world.run("val", "watch", folder, "--once", "--delete")
  expect(readTree(changing)).toEqual(changed)
  expectSameTrees(changing, following)
  return `watch, ${victim} killed ${isSaved ? "after" : "before"} a save`
}

async function kill({ stage }: World, victim: Victim, client: Started): Promise<void> {
  if (victim === "server") return stage.killServer()
  client.signal("SIGKILL")
  await client.ended()
}
