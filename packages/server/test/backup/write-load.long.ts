import { Database as Connection } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { createRestoreTarget, takeBackup } from "./restore-target.ts"

/**
 * How many backups are taken while others write; `HAMLET_TEST_BACKUPS=50` for as many as a release
 * is tried with.
 */
const backups = Number(process.env.HAMLET_TEST_BACKUPS ?? 4)

/** Each of these holds at every moment, and at none if a table were read later than another. */
const rules = {
  "the last version of a val is there": `select b.id from branches b
    where b.version_last <> (select max(version) from versions n where n.branch_id = b.id)
      or b.version_last <> (select count(*) from versions n where n.branch_id = b.id)`,
  "every version has its entry file": `select n.branch_id from versions n where not exists
    (select 1 from states s where s.branch_id = n.branch_id and s.path = n.entry_path and s.since = n.entry_since)`,
  "as many likes as are counted":
    "select id from vals v where like_count <> (select count(*) from likes l where l.val_id = v.id)",
  "as many blobs as are counted": `select id from users u
    where blob_count <> (select count(*) from blobs b where b.owner_id = u.id)
        + (select count(*) from val_blobs b join vals v on v.id = b.val_id where v.owner_id = u.id)
      or blob_bytes <> (select coalesce(sum(size), 0) from blobs b where b.owner_id = u.id)
        + (select coalesce(sum(size), 0) from val_blobs b join vals v on v.id = b.val_id where v.owner_id = u.id)`,
  "every object is whole": `select id from objects o
    where size <> (select coalesce(sum(length(content)), 0) from object_chunks c where c.object_id = o.id)`,
  "search knows every val":
    "select id from vals v where not exists (select 1 from search_texts t where t.val_id = v.id)",
}

describeEachDatabase("backup under write load", (open) => {
  let api: TestApi
  let ada: TestUser
  let bob: TestUser

  beforeAll(async () => {
    api = await openApi(open, { HAMLET_DATA_DIR_SHARED: "yes" })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
    const table =
      "create table accounts (name primary key, amount integer); insert into accounts values ('a', 0), ('b', 0)"
    for (const statement of table.split("; "))
      await api.call("POST", "/v1/sqlite/execute", { as: ada, body: { statement } })
  })
  afterAll(() => api.close())

  test("every backup is a consistent snapshot, each later than the one before", async () => {
    const load = startLoad(api, ada, bob)
    const moments: number[] = []
    try {
      for (let round = 0; round < backups; round++) {
        const before = load.writes
        const { bytes } = await takeBackup(api)
        const target = await createRestoreTarget("SQLite")
        try {
          await target.restore(bytes)
          moments.push(checkCopy(target.folder, ada.id))
        } finally {
          await target.remove()
        }
        expect(load.writes).toBeGreaterThan(before)
        // The next backup must have something that this one does not have.
        const versions = load.versions
        await waitUntil(() => load.versions > versions)
      }
    } finally {
      await load.stop()
    }
    expect(moments).toEqual(moments.toSorted((one, other) => one - other))
    expect(moments.at(-1)).toBeGreaterThan(moments[0] ?? 0)
  }, 300_000)
})

/** Whether everything fits together; gives how many versions there are. */
function checkCopy(folder: string, ownerId: string): number {
  const db = new Connection(join(folder, "hamlet.db"), { readonly: true })
  const own = new Connection(join(folder, "sqlite", `${ownerId}.db`))
  try {
    for (const [rule, broken] of Object.entries(rules))
      expect([rule, db.query(broken).all()]).toEqual([rule, []])
    expect(own.query("select sum(amount) as sum from accounts").get()).toEqual({ sum: 0 })
    return (
      db.query<{ count: number }, []>("select count(*) as count from versions").get()?.count ?? 0
    )
  } finally {
    db.close()
    own.close()
  }
}

/** Writes without a pause, each time to several tables at once. */
function startLoad(api: TestApi, ada: TestUser, bob: TestUser) {
  let isStopped = false
  let writes = 0
  let versions = 0
  const write = async (method: string, path: string, as: TestUser, body?: unknown) => {
    const { status } = await api.call(method, path, { as, body })
    expect(status).toBeLessThan(300)
    writes += 1
  }
  const repeat = async (work: (round: number) => Promise<void>) => {
    for (let round = 0; !isStopped; round++) await work(round)
  }
  const working = Promise.all([
    repeat(async (round) => {
      const name = `val${round % 20}`
      await write("PUT", "/v1/vals", ada, {
        name,
        code: `export default ${round} // ${"x".repeat(200)}`,
        privacy: "public",
      })
      versions += 1
      const { json } = await api.call("GET", `/v1/alias/ada/${name}`, { as: bob })
      await write(round % 2 === 0 ? "PUT" : "DELETE", `/v1/vals/${json.id}/like`, bob)
    }),
    repeat((round) =>
      write(
        "POST",
        `/v1/blob/key${round % 7}`,
        bob,
        Buffer.alloc(1_000 + (round % 2) * 99_000, round),
      ),
    ),
    repeat((round) => {
      const statements = [
        `update accounts set amount = amount + ${round} where name = 'a'`,
        `update accounts set amount = amount - ${round} where name = 'b'`,
      ]
      return write("POST", "/v1/sqlite/batch", ada, { statements, mode: "write" })
    }),
  ])
  return {
    get writes() {
      return writes
    },
    /** How many versions of vals were written. */
    get versions() {
      return versions
    },
    async stop() {
      isStopped = true
      await working
    },
  }
}
