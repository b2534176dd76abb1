import { afterEach, beforeEach, expect, test } from "bun:test"
import { runWork, Work } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase, type TestDatabase } from "../../../../test/support/databases.ts"
import { addUser } from "../../../../test/support/users.ts"
import type { NewVal, ValChange, ValStore } from "../../../domain/vals/vals.ts"
import type { Database } from "../../database/database.ts"
import { unavailable } from "../../database/errors.ts"
import { raw, sql } from "../../database/sql.ts"
import { createValStore } from "../vals.ts"
import { createVersionStore } from "../versions.ts"

const anyone = () => {}
const page = { limit: 100, offset: 0 }
const imported = {
  username: "ada",
  name: "lib",
  branch: null,
  version: null,
  specifiers: ["./lib"],
}
const toChange = (code: string): ValChange => ({ source: { code, imports: [] } })

describeEachDatabase("createCodeSaves", (open) => {
  let database: TestDatabase
  let ownerId: string
  /** The transactions, and the statements that are transactions of their own. */
  let writes: { scripts: number; alone: number }
  /** Called before the first write of a save: where round trips cost time, after the val was read. */
  let beforeWrite: () => Promise<unknown>
  let vals: ValStore

  beforeEach(async () => {
    database = await open()
    ownerId = await addUser(database.db, "ada")
    writes = { scripts: 0, alone: 0 }
    beforeWrite = async () => {}
    vals = createValStore(watch(database.db))
  })

  afterEach(() => database.close())

  function watch(db: Database): Database {
    return {
      ...db,
      async write(script, options) {
        writes.scripts += 1
        if (!db.dialect.gather) await beforeWrite()
        return db.write(script, options)
      },
      async writeOne(...given) {
        writes.alone += 1
        await beforeWrite()
        return db.writeOne(...given)
      },
    }
  }

  async function addVal(name: string, fields: Partial<NewVal> = {}): Promise<string> {
    const id = Bun.randomUUIDv7()
    await createValStore(database.db).create(
      {
        ...{ id, ownerId, ownerName: "ada", name, privacy: "public", type: "http", readme: null },
        ...{ source: { code: `old ${name}`, imports: [] }, ...fields },
      },
      1_000,
    )
    return id
  }

  /** All that is stored of a val, without what differs from val to val. */
  async function readRows(id: string) {
    const queries = [
      sql`select version, version_last, entry_type, file_count, bytes, updated_at from branches where id = ${id}`,
      sql`select version, created_at, author_id, note, entry_path, entry_since, readme_since from versions where branch_id = ${id} order by version`,
      sql`select path, since, type, created_at, content from states where branch_id = ${id} order by path, since`,
      sql`select path, is_public, body from search_texts where val_id = ${id} order by path`,
    ]
    return Promise.all(queries.map((query) => database.db.read<object>(query)))
  }

  const findNames = async (query: string) =>
    (await vals.search(undefined, query, page)).items.map(({ name }) => name)

  test("saves the code of many vals at once, each as its next version", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => addVal(`val${n}`)))

    const saved = await Promise.all(
      ids.map((id, n) =>
        vals.change(id, toChange(`const number${n}x = "\\"{},${n}"`), anyone, 2_000),
      ),
    )

    for (const [n, id] of ids.entries()) {
      const code = `const number${n}x = "\\"{},${n}"`
      expect(saved[n]).toMatchObject({
        isNewVersion: true,
        isNewCode: true,
        val: { version: 2, code },
      })
      expect(await vals.findById(id)).toEqual(saved[n]?.val)
    }
    expect(await findNames("number7x")).toEqual(["val7"])
    expect(await findNames("old val7")).toEqual([])
    const { scripts, alone } = writes
    expect(database.db.dialect.gather ? scripts : alone).toBe(0)
    expect(scripts + alone).toBeLessThanOrEqual(3)
  })

  test("saves that the database refuses keep no later ones from being made", async () => {
    const id = await addVal("one")
    beforeWrite = () => Promise.reject(unavailable("no"))
    const refused = await Promise.allSettled([vals.change(id, toChange("a"), anyone, 2_000)])
    beforeWrite = async () => {}
    const saved = await vals.change(id, toChange("b"), anyone, 2_000)

    expect(refused.map(({ status }) => status)).toEqual(["rejected"])
    expect(saved?.val).toMatchObject({ version: 2, code: "b" })
  })

  test("stores the same as a transaction", async () => {
    const kinds: Readonly<Record<string, Partial<NewVal>>> = {
      plain: {},
      described: { readme: "# Read me", description: "what it is" },
      hidden: { privacy: "private", type: "interval" },
      importing: { source: { code: "old", imports: [imported] } },
    }
    for (const [name, fields] of Object.entries(kinds)) {
      const source = { code: "old", imports: [] }
      const gathered = await addVal(name, { source, ...fields })
      const alone = await addVal(`${name}2`, { source, ...fields })
      for (const code of ["1 é", "2 🦕", "2 🦕"]) {
        const saved = await vals.change(gathered, toChange(code), anyone, 2_000)
        // A name needs a transaction, also if it stays as it is.
        const change = { ...toChange(code), name: `${name}2` }
        const { isNewVersion } = (await vals.change(alone, change, anyone, 2_000)) ?? {}
        expect(saved).toMatchObject({ isNewVersion, isNewCode: isNewVersion, isRemote: false })
      }
      expect(await readRows(gathered)).toEqual(await readRows(alone))
    }
  })

  test("saves a val that changes after it was read as it is then", async () => {
    const others = createValStore(database.db)
    const versions = createVersionStore(database.db)
    const changes: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      renamed: (id) => others.change(id, { name: "othername" }, anyone, 3_000),
      hidden: (id) => others.change(id, { privacy: "private" }, anyone, 3_000),
      described: (id) => others.change(id, { description: "about whales" }, anyone, 3_000),
      saved: (id) => others.change(id, toChange("other code"), anyone, 3_000),
      deleted: (id) => versions.delete(id, 2, anyone, 3_000),
    }
    for (const [name, change] of Object.entries(changes)) {
      const id = await addVal(name)
      await others.change(id, { ...toChange("second"), readme: "# Read me" }, anyone, 1_500)
      let calls = 0
      beforeWrite = async () => {
        if (calls++ === 0) await change(id)
      }

      const saved = await vals.change(id, toChange(`quokka ${name}`), anyone, 4_000)

      expect(calls).toBeGreaterThan(0)
      expect(saved).toMatchObject({ isNewVersion: true, val: { code: `quokka ${name}` } })
      expect(await vals.findById(id)).toEqual(saved?.val)
      expect(saved?.val.version).toBe(name === "saved" ? 4 : 3)
      const found = await findNames(`quokka ${name}`)
      expect(found).toEqual(name === "hidden" ? [] : [saved?.val.name ?? ""])
      if (name === "described") expect(await findNames("about whales")).toEqual(["described"])
    }
  })

  test("a val that is deleted after it was read is not found, and the others are saved", async () => {
    const [gone, kept] = [await addVal("gone"), await addVal("kept")]
    beforeWrite = () => createValStore(database.db).delete(gone, anyone)

    const saved = await Promise.all(
      [gone, kept].map((id) => vals.change(id, toChange("new"), anyone, 2_000)),
    )

    expect(saved.map((one) => one?.val.version)).toEqual([undefined, 2])
  })

  test("saves of one val at the same time are versions one after the other", async () => {
    const id = await addVal("busy")

    const saved = await Promise.all(
      Array.from({ length: 10 }, (_, n) => vals.change(id, toChange(`code ${n}`), anyone, 2_000)),
    )

    expect(saved.map((one) => one?.val.version)).toEqual(
      Array.from({ length: 10 }, (_, n) => n + 2),
    )
    // A transaction for some of them would lock the val, so that those behind them needed one too.
    if (database.db.dialect.gather) expect(writes.scripts).toBe(0)
  })

  test("a save that the rule refuses waits for no other of its val", async () => {
    const id = await addVal("busy")
    const first = Promise.withResolvers<void>()
    let calls = 0
    beforeWrite = async () => {
      if (calls++ === 0) await first.promise
    }
    const refuse = () => {
      throw new Error("refused")
    }

    const saving = vals.change(id, toChange("a"), anyone, 2_000)
    await waitUntil(() => calls === 1)
    const refused = await vals.change(id, toChange("b"), refuse, 2_000).catch(String)
    first.resolve()

    expect([refused, (await saving)?.val.version]).toEqual(["Error: refused", 2])
  })

  test("saves of one val do not wait for an absent database one after the other", async () => {
    const id = await addVal("busy")
    const refusals = Promise.withResolvers<unknown>()
    beforeWrite = () => refusals.promise

    const saves = Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => vals.change(id, toChange(`code ${n}`), anyone, 2_000)),
    )
    if (database.db.dialect.gather) {
      await waitUntil(() => writes.alone === 1)
      refusals.reject(unavailable("it does not respond"))
      // Those behind the one that was refused.
      await waitUntil(() => writes.scripts === 9)
    } else {
      await waitUntil(() => writes.scripts === 10)
      refusals.reject(unavailable("it does not respond"))
    }

    await saves
    expect(writes.alone + writes.scripts).toBe(10)
  })

  test("a save that fails in the script of others fails alone, whatever the reason", async () => {
    // Elsewhere the database runs none of our code for a save.
    if (database.db.dialect.gather) return
    const [bad, good] = [await addVal("bad"), await addVal("good")]
    await database.db.run(
      raw(`create trigger faulty before insert on versions when new.branch_id = '${bad}'
        begin select abs(-9223372036854775808); end`),
    )

    const saves = [bad, good].map((id) => vals.change(id, toChange("new"), anyone, 2_000))
    const results = await Promise.allSettled(saves)

    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"])
  })

  test("a save in the script of another request has waited for the database too", async () => {
    if (database.db.dialect.gather) return
    const [first, second] = [await addVal("first"), await addVal("second")]
    const work = new Work()

    await Promise.all([
      vals.change(first, toChange("new"), anyone, 2_000),
      runWork(work, () => vals.change(second, toChange("new"), anyone, 2_000)),
    ])

    expect(writes.scripts).toBe(1)
    expect(work.databaseMs).toBeGreaterThan(0)
  })

  test("code that cannot be stored, or that the rule refuses, fails alone", async () => {
    const ids = await Promise.all(["one", "two", "three"].map((name) => addVal(name)))
    const [nul = "", refused = "", good = ""] = ids
    const refuse = () => {
      throw new Error("refused")
    }

    const results = await Promise.allSettled([
      vals.change(nul, toChange("a\0b"), anyone, 2_000),
      vals.change(refused, toChange("b"), refuse, 2_000),
      vals.change(good, toChange("c"), anyone, 2_000),
    ])

    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"])
    expect(
      (await Promise.all(ids.map((id) => vals.findById(id)))).map((val) => val?.version),
    ).toEqual([1, 1, 2])
  })
})
