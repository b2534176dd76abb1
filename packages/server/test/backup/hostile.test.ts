import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { type Migration, migrate, sql } from "@hamlet/database"
import { migrations } from "../../src/storage/migrations/index.ts"
import { expectStatus, openApi, type TestApi, testBaseUrl } from "../support/api.ts"
import { createSampleData } from "../support/data/sample-data.ts"
import {
  type BackupSection,
  craftBackup,
  newest,
  owners,
  user,
  userColumns,
  userId,
  users,
} from "./craft-backup.ts"
import { createRestoreTarget, type RestoreTarget, takeBackup } from "./restore-target.ts"

describe("restoreBackup", () => {
  let api: TestApi
  let sound: Uint8Array
  let target: RestoreTarget

  beforeAll(async () => {
    api = await openApi()
    await createSampleData(api, testBaseUrl)
    expectStatus(
      await api.call("POST", "/v1/blob/large", { as: api.admin, body: Buffer.alloc(300_000, 1) }),
      201,
    )
    sound = (await takeBackup(api)).bytes
    target = await createRestoreTarget("SQLite")
  })
  afterAll(async () => {
    await api.close()
    await target.remove()
  })

  /** Why it was refused; nothing of it must be left. */
  async function refusalOf(bytes: Uint8Array): Promise<string> {
    const refusal = await target.restore(bytes).then(
      () => "restored",
      (error: Error) => `${error.name}: ${error.message}`,
    )
    expect(existsSync(target.folder) ? readdirSync(target.folder) : []).toEqual([])
    return refusal
  }

  test("refuses a file that was truncated anywhere", async () => {
    const cuts = [
      0,
      1,
      15,
      16,
      31,
      32,
      sound.length - 33,
      sound.length - 32,
      sound.length - 1,
      ...randoms(40, sound.length),
    ]
    for (const at of cuts)
      expect([at, await refusalOf(sound.subarray(0, at))]).toEqual([
        at,
        "BackupDamaged: it is incomplete",
      ])
  })

  test("refuses a file with any changed bit or with extra bytes", async () => {
    for (const at of [...randoms(60, sound.length), sound.length - 1, 17, 20, 24, 28]) {
      const damaged = Uint8Array.from(sound)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
      expect([at, await refusalOf(damaged)]).toEqual([
        at,
        expect.stringMatching(/^BackupDamaged: /),
      ])
    }
    expect(await refusalOf(Buffer.concat([sound, Buffer.from("x")]))).toBe(
      "BackupDamaged: it continues after its end",
    )
    expect(await refusalOf(Buffer.from("SQLite format 3\0 and more"))).toBe(
      "BackupDamaged: it is not a backup of Hamlet",
    )
  })

  const hostile: Readonly<
    Record<
      string,
      {
        readonly parts: readonly BackupSection[]
        readonly schemaVersion?: number
        readonly why: RegExp
      }
    >
  > = {
    "of a newer schema": {
      parts: [],
      schemaVersion: newest + 1,
      why: /a newer version of Hamlet, 9\.9\.9, has written it/,
    },
    "of a schema before the base": {
      parts: [],
      schemaVersion: 39,
      why: /its schema is 39, and this version of Hamlet needs 40 or newer; restore it with Hamlet 0\.2\.0, start that once, then this version$/,
    },
    "with an unknown table": {
      parts: [{ name: "sqlite_schema", columns: ["sql"], frames: [] }],
      why: /an unknown section "sqlite_schema"/,
    },
    "with a table that is never in one": {
      parts: [{ name: "nodes", columns: ["id"], frames: [] }],
      why: /an unknown section "nodes"/,
    },
    "with a name that objects have": {
      parts: [{ name: "constructor", columns: [], frames: [] }],
      why: /an unknown section "constructor"/,
    },
    "with a table twice": { parts: [users([]), users([])], why: /a section twice/ },
    "with a column too many": {
      parts: [{ name: "users", columns: [...userColumns, "x"], frames: [] }],
      why: /columns of its section "users"/,
    },
    "with SQL for a column": {
      parts: [{ name: "users", columns: [...userColumns.slice(1), "id) select 1--"], frames: [] }],
      why: /columns of its/,
    },
    "with a column missing": {
      parts: [{ name: "users", columns: userColumns.slice(1), frames: [] }],
      why: /columns of its section "users"/,
    },
    "with a row too short": { parts: [users([[userId]])], why: /an invalid row of users/ },
    "with rows that are none": { parts: [users([7])], why: /an invalid row of users/ },
    "with another number of rows": {
      parts: [{ ...users([]), frames: [{ items: 2, json: [user(userId)] }] }],
      why: /a wrong number of rows/,
    },
    "with a number for a text": {
      parts: [users([user(userId).with(1, 5)])],
      why: /a row of users has a username that cannot be stored/,
    },
    "with a text for a number": {
      parts: [users([user(userId).with(7, "1")])],
      why: /a row of users has a created_at that cannot/,
    },
    "with an object for a text": {
      parts: [users([user(userId).with(4, { a: 1 })])],
      why: /a row of users has a bio that cannot/,
    },
    "with U+0000": {
      parts: [users([user(userId).with(4, "a\0b")])],
      why: /a row of users has a bio that cannot be stored/,
    },
    "with half a character": {
      parts: [users([user(userId).with(4, "\ud800")])],
      why: /a row of users has a bio that cannot be stored/,
    },
    "with nothing where something must be": {
      parts: [users([user(userId).with(1, null)])],
      why: /a row of users is inconsistent: .*NOT NULL/,
    },
    "with the same row twice": {
      parts: [users([user(userId), user(userId)])],
      why: /a row of users is inconsistent: .*UNIQUE/,
    },
    "with a row that refers to nothing": {
      parts: [
        {
          name: "likes",
          columns: ["user_id", "val_id", "created_at"],
          frames: [{ items: 1, json: [[userId, userId, 1]] }],
        },
      ],
      why: /a row of likes refers to a missing row of (users|vals)/,
    },
    "with bytes that are not there": {
      parts: [
        {
          name: "bundles",
          columns: ["hash", "created_at", "code", "cache"],
          frames: [{ items: 1, json: [["h", 1, 99, null]], bytes: [Buffer.alloc(3)] }],
        },
      ],
      why: /a frame that is too short/,
    },
    "with an object that is smaller than it says": {
      parts: [
        {
          name: "objects",
          frames: [
            { json: { id: userId, ownerId: userId, size: 99, at: 0 }, bytes: [Buffer.alloc(3)] },
          ],
        },
      ],
      why: /an object with a wrong size/,
    },
    "with a path for an owner": {
      parts: [users([user(userId)]), owners("../../etc/passwd")],
      why: /content with an invalid head/,
    },
    "with the database of nobody": {
      parts: [users([]), owners(userId)],
      why: /the database of a user or a val that is not in it/,
    },
    "with a frame that unpacks to more than it says": {
      parts: [users([user(userId)])],
      why: /a frame that cannot be decompressed/,
    },
  }

  for (const [title, { parts, schemaVersion, why }] of Object.entries(hostile)) {
    test(`refuses a file ${title}, although its hashes are right`, async () => {
      const isBomb = title.includes("unpacks")
      expect(await refusalOf(craftBackup(parts, schemaVersion, isBomb ? 10 : undefined))).toMatch(
        why,
      )
    })
  }

  test("accepts a file of an older schema, which the first start migrates", async () => {
    const coming: Migration = {
      version: newest + 1,
      name: "coming",
      statements: () => ["alter table users add column nickname text"],
    }
    const known = [...migrations, coming]

    const { sections } = await target.restore(craftBackup([users([user(userId)])]), {
      migrations: known,
    })

    expect(sections).toEqual({ users: 1 })
    const { db, close } = await target.open()
    expect(await migrate(db, known)).toEqual({ from: newest, to: newest + 1 })
    expect(await db.read(sql`select username, nickname from users`)).toEqual([
      { username: `u${userId}`, nickname: null },
    ])
    await close()
    // There is something now.
    const again = await target.restore(sound).catch((error: Error) => error.message)
    expect(again).toMatch(/hamlet\.db already contains users, and a restore needs an empty server$/)
  })
})

/** Random numbers below the limit, the same each time. */
function randoms(count: number, limit: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Number(Bun.hash(`${index}`) % BigInt(limit)))
}
