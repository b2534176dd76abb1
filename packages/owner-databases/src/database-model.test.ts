import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import fc from "fast-check"
import { describeEachHome } from "./testing/database-homes.ts"
import type { TestOwner } from "./testing/database-testing.ts"

type Value = null | number | string

interface Statement {
  readonly sql: string
  readonly args: readonly Value[]
}

type Command =
  | { readonly kind: "execute"; readonly statement: Statement }
  | { readonly kind: "batch"; readonly statements: readonly Statement[] }

const schema = [
  "create table t (id integer primary key, a text not null, b, unique (a, b))",
  "create table log (t integer references t (id) on delete cascade, what text)",
  "create trigger added after insert on t begin insert into log values (new.id, 'added ' || new.a); end",
  "create view counts as select a, count(*) as n, sum(b) as total from t group by a",
]

const id = fc.integer({ min: 1, max: 8 })
const name = fc.constantFrom("x", "y", "é'\"", "")
const value: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(null, 0.5, "text", 1e300),
)

const statement: fc.Arbitrary<Statement> = fc.oneof(
  fc
    .tuple(id, name, value)
    .map((args) => ({ sql: "insert into t (id, a, b) values (?, ?, ?)", args })),
  fc.tuple(name, value).map((args) => ({
    sql: "insert into t (a, b) values (?, ?) returning id, a, b, typeof(b)",
    args,
  })),
  fc.tuple(id, name, value).map((args) => ({ sql: "replace into t values (?1, ?2, ?3)", args })),
  fc.tuple(id, name, value).map((args) => ({
    sql: "insert into t values (?, ?, ?) on conflict (id) do update set b = excluded.b",
    args,
  })),
  fc
    .tuple(value, id, id)
    .map((args) => ({ sql: "update t set b = ? where id between ? and ?", args })),
  fc.tuple(id).map((args) => ({ sql: "update t set a = null where id = ?", args })),
  fc.tuple(id).map((args) => ({ sql: "delete from t where id >= ? returning *", args })),
  fc.tuple(id, name).map((args) => ({ sql: "insert into log values (?, ?)", args })),
  fc
    .constantFrom(
      "select * from t order by id",
      "select * from log order by rowid",
      "select * from counts order by a",
      "selec",
      "select nope",
      "update t set id = id + 1",
      "insert into t select id + 10, a, b from t",
      "delete from log",
      "select total(b), max(a) from t",
    )
    .map((sql) => ({ sql, args: [] })),
)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: statement.map((one) => ({ kind: "execute" as const, statement: one })) },
  {
    weight: 1,
    arbitrary: fc
      .array(statement, { maxLength: 4 })
      .map((statements) => ({ kind: "batch" as const, statements })),
  },
)

describeEachHome("OwnerDatabases", (open, home) => {
  test("return the same results as plain SQLite for random statements", async () => {
    await using databases = await open()
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const owner = databases.owner()
        await owner.batch(schema)
        using model = new Database(":memory:")
        model.run("pragma foreign_keys = on")
        for (const sql of schema) model.run(sql)
        for (const one of commands)
          expect([one, await ask(owner, one)]).toEqual([one, askModel(model, one)])
        const statements = ["t", "log"].map((table) => ({
          sql: `select * from ${table} order by 1, 2`,
          args: [],
        }))
        const all: Command = { kind: "batch", statements }
        expect(await ask(owner, all)).toEqual(askModel(model, all))
      }),
      { numRuns: home === "files" ? 25 : 8 },
    )
  })
})

/** What an answer says: rows and how many were changed, or why not. */
type Told = string | readonly { readonly rows: readonly unknown[]; readonly changes: number }[]

async function ask(owner: TestOwner, given: Command): Promise<Told> {
  const answer =
    given.kind === "execute"
      ? await owner.execute(given.statement.sql, given.statement.args)
      : await owner.batch(given.statements)
  if ("kind" in answer) return "message" in answer ? answer.message : answer.kind
  return [answer].flat().map(({ rows, rowsAffected }) => ({ rows, changes: rowsAffected }))
}

function askModel(model: Database, given: Command): Told {
  try {
    if (given.kind === "execute") return [runInModel(model, given.statement)]
    return model.transaction(() => given.statements.map((one) => runInModel(model, one)))()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function runInModel(model: Database, { sql, args }: Statement) {
  const isChange = /^(insert|replace|update|delete)/.test(sql)
  const rows = model.prepare(sql).values(...args)
  const { changes } = model.prepare("select changes() as changes").get() as { changes: number }
  return { rows, changes: isChange ? changes : 0 }
}
