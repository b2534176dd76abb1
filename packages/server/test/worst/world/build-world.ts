import { limits } from "@hamlet/contract"
import type { Client } from "@hamlet/contract/client"
import { type Database, type Statements, sql } from "@hamlet/database"
import { createValStore } from "../../../src/storage/vals/vals.ts"
import { limitConcurrency } from "../../support/limit-concurrency.ts"
import { worstVals } from "../inputs/own-doors.ts"
import type { World } from "./world.ts"
import { toControl, type WorldSizes, worldLimits } from "./world-limits.ts"

/** Vals whose runs have as much of everything as a record keeps, or answer requests. */
const worldVals = {
  largeRuns: `export default (...args) => {
  for (let line = 0; line < 60; line++) console.log("\\u0001".repeat(10_000))
  return "\\u0001".repeat(${limits.runValueBytesMax * 9})
}`,
  large: `export default () => new Response("\\u0001".repeat(1_000_000))`,
}

/**
 * Makes everything in the account of the first user, through the API. Only the largest texts are written
 * to the database: to parse and index them would take minutes.
 */
export async function buildWorld(client: Client, db: Database, sizes: WorldSizes): Promise<World> {
  const few = createFew()
  const create = async (name: string, code = "1") => {
    const val = await client.createVal({ name, code, readme: "1", privacy: "public" })
    return val.id
  }
  const find = async (val_name: string) =>
    (await client.getValByName({ username: "ada", val_name })).id
  const userId = (await client.getMe()).id
  const valIds = await createRows(db, userId, sizes.vals)
  const [valId = ""] = valIds
  const importing = `import "https://esm.town/v/ada/worst1"; export default 1`
  // The importing vals are newer, and so those of the first page.
  const importingIds = await few(sizes.references, (index) =>
    create(`imports${index + 1}`, importing),
  )
  const versionsId = await create("versions")
  for (let version = 2; version <= sizes.versions; version++)
    await client.createVersion({ val_id: versionsId, code: String(version) })
  await enlarge(db, [...valIds, ...importingIds, versionsId])
  for (const [name, code] of Object.entries({ ...worldVals, ...worstVals }))
    await client.saveVal({
      name,
      code,
      privacy: "public",
      type: name === "large" ? "http" : "script",
    })
  const branchesId = await create("branches")
  await few(sizes.branches - 1, (index) =>
    client.createBranch({ val_id: branchesId, name: `branch${index + 1}` }),
  )
  return {
    valId,
    versionsId,
    branchesId,
    userId,
    changedId: await create("changed"),
    vals: {
      takesArgs: await find("takesArgs"),
      largeRuns: await find("largeRuns"),
      large: await find("large"),
      inbox: await find("inbox"),
    },
    ...(await buildFiles(client, await create("files"))),
    ...(await buildRecords(client, sizes, valIds)),
  }
}

/** Does work so many times, a few at once. */
function createFew() {
  const few = limitConcurrency(4)
  return <Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => few(() => make(index))))
}

/** Vals without imports, which need not be parsed. */
async function createRows(db: Database, ownerId: string, count: number): Promise<string[]> {
  const vals = createValStore(db)
  const ids: string[] = []
  for (let number = 1; number <= count; number++) {
    const id = Bun.randomUUIDv7()
    await vals.create(
      {
        id,
        ownerId,
        ownerName: "ada",
        name: `worst${number}`,
        readme: "1",
        privacy: "public",
        type: "script",
        source: { code: "1", imports: [] },
      },
      Date.now(),
    )
    ids.push(id)
  }
  return ids
}

/** The largest texts. They come with SQL: an index of searches for them would take minutes. */
async function enlarge(db: Database, valIds: readonly string[]): Promise<void> {
  const code = toControl(limits.codeCharsMax - 4)
  const readme = toControl(limits.readmeCharsMax)
  const bytes = limits.codeCharsMax + limits.readmeCharsMax
  await db.write(
    function* (): Statements<void> {
      for (const id of valIds) {
        yield sql`update states set content = ${code} || since where branch_id = ${id} and path <> 'README.md'`
        yield sql`update states set content = ${readme} where branch_id = ${id} and path = 'README.md'`
        yield sql`update branches set bytes = ${bytes} where id = ${id}`
      }
    },
    { isPatient: true },
  )
}

/** As many files as there may be, and on a branch other ones: ten megabytes each. */
async function buildFiles(client: Client, filesId: string) {
  const linesPerFile = Math.floor((limits.versionBytesMax / worldLimits.files / 2) * 0.95)
  const content = (letter: string) => `${letter}\n`.repeat(linesPerFile)
  const save = async (letter: string, branch_id?: string) => {
    const perSave = 100
    for (let from = 0; from < worldLimits.files; from += perSave) {
      const count = Math.min(perSave, worldLimits.files - from)
      const changes = Array.from({ length: count }, (_, index) => ({
        path: `d/f${from + index}.txt`,
        content: content(letter),
      }))
      await client.changeFiles({
        val_id: filesId,
        changes,
        ...(branch_id === undefined ? {} : { branch_id }),
      })
    }
  }
  await save("a")
  const { id: otherBranchId } = await client.createBranch({ val_id: filesId, name: "other" })
  await save("b", otherBranchId)
  return { filesId, otherBranchId }
}

/** Comments, likes, runs, blobs, tokens and webhooks. */
async function buildRecords(client: Client, sizes: WorldSizes, valIds: readonly string[]) {
  const repeat = createFew()
  const [valId = ""] = valIds
  const comments = await repeat(sizes.comments, () =>
    client.createComment({ val_id: valId, comment: toControl(limits.commentCharsMax) }),
  )
  await repeat(valIds.length, (index) => client.likeVal({ val_id: valIds[index] ?? "" }))
  const large = await client.getValByName({ username: "ada", val_name: "largeRuns" })
  const args = [toControl(10_000)]
  const runs = await repeat(sizes.runs, () => client.createRun({ val_id: large.id, args }))
  const key = (index: number) => `${String(index).padStart(4, "0")}${"\u0001".repeat(500)}`
  await repeat(sizes.blobs, (index) => client.putBlob({ key: key(index), content: "1" }))
  await client.putBlob({ key: "large", content: new Uint8Array(worldLimits.blobBytes) })
  await repeat(sizes.tokens, (index) =>
    client.createToken({ name: `${toControl(90)}${index}`, scopes: ["val:read"] }),
  )
  const webhooks = await repeat(limits.webhooksPerUserMax - 2, () =>
    client.createWebhook({
      targetValId: large.id,
      events: ["val.liked"],
      isPaused: true,
      description: toControl(limits.webhookDescriptionCharsMax),
    }),
  )
  return {
    runId: runs[0]?.id ?? "",
    commentId: comments[0]?.id ?? "",
    webhookId: webhooks[0]?.id ?? "",
  }
}
