import { describe, expect, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import type { OwnerDatabases, SentSqlRequest, SqlOutcome } from "@hamlet/owner-databases"
import type { Caller } from "./access/caller.ts"
import { asOwner } from "./access/rights.ts"
import { AppError } from "./app-error.ts"
import { emptyQuotaBook } from "./limits/quotas.ts"
import { createSqlite, noOwnerDatabases } from "./owner-databases.ts"

const home = { ownerId: "ada" }
const ofVal = { ...home, valId: "val" }
const statement = { sql: "select 1", args: [] }

function callerWith(...scopes: Scope[]): Caller {
  return {
    actorId: "ada",
    actorName: "ada",
    ownerName: "ada",
    ...asOwner("ada"),
    tokenId: "token",
    scopes: new Set(scopes),
  }
}

/** Databases in which everything ends the same way, and what they were asked. */
function databasesThat(outcome: SqlOutcome) {
  const asked: SentSqlRequest[] = []
  const ownerDatabases: OwnerDatabases = {
    async run(request) {
      asked.push(request)
      return outcome
    },
    sizeOf: async () => 0,
    remove: async () => {},
  }
  return { sqlite: createSqlite(ownerDatabases, emptyQuotaBook), asked }
}

async function errorOf(work: Promise<unknown>): Promise<readonly [string, string]> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof AppError) return [error.code, error.message]
  throw new Error(`no refusal but ${error}`)
}

describe("createSqlite", () => {
  test("use the database that they are given, and pass on whether the token may write", async () => {
    const json = Buffer.from("{}")
    const { sqlite, asked } = databasesThat({ kind: "done", json })
    expect(await sqlite.execute(callerWith("sqlite:read"), home, statement)).toBe(json)
    expect(
      await sqlite.batch(callerWith("sqlite:read", "sqlite:write"), ofVal, {
        statements: [statement, statement],
        mode: "write",
      }),
    ).toBe(json)
    expect(asked).toEqual([
      { ...home, mode: "single", statements: [statement], canWrite: false },
      { ...ofVal, mode: "write", statements: [statement, statement], canWrite: true },
    ])
  })

  test("name the missing scope when the token may not write, and else the mode", async () => {
    const { sqlite } = databasesThat({ kind: "write_refused" })
    expect(await errorOf(sqlite.execute(callerWith("sqlite:read"), home, statement))).toEqual([
      "missing_scope",
      "Cannot do this: the token does not have the required permissions (scope sqlite:write)",
    ])
    const reader = sqlite.batch(callerWith("sqlite:write"), home, {
      statements: [statement],
      mode: "read",
    })
    expect(await errorOf(reader)).toEqual([
      "sql_failed",
      "Cannot write to the database: the mode of the batch is read",
    ])
  })

  test.each<readonly [SqlOutcome, readonly [string, string]]>([
    [
      { kind: "failed", message: "no such table: x" },
      ["sql_failed", "Cannot run the statement: no such table: x"],
    ],
    [
      { kind: "failed", message: "no such table: x", index: 2 },
      ["sql_failed", "Cannot run statement 3: no such table: x"],
    ],
    [{ kind: "full", message: "it is" }, ["quota_exceeded", "Cannot write to the database: it is"]],
    [
      { kind: "overloaded" },
      ["rate_limited", "Cannot run the statement: too many are waiting for their turn"],
    ],
    [
      { kind: "unavailable", message: "it is" },
      ["database_unavailable", "Cannot use the database: it is"],
    ],
  ])("%j is reported", async (outcome, error) => {
    const { sqlite } = databasesThat(outcome)
    expect(await errorOf(sqlite.execute(callerWith("sqlite:write"), home, statement))).toEqual(
      error,
    )
  })
})

test("noOwnerDatabases refuses every statement, and names the setting", async () => {
  const [code, message] = await errorOf(
    createSqlite(noOwnerDatabases, emptyQuotaBook).execute(
      callerWith("sqlite:write"),
      home,
      statement,
    ),
  )
  expect(code).toBe("sqlite_unavailable")
  expect(message).toContain("HAMLET_DATA_DIR_SHARED")
  expect(await noOwnerDatabases.sizeOf("ada")).toBe(0)
})
