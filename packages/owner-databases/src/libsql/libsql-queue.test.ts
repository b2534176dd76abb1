import { expect, test } from "bun:test"
import { libsqlLimits } from "../database-limits.ts"
import { KnownStatements } from "./known-statements.ts"
import { LibsqlQueue } from "./libsql-queue.ts"
import { readRequest } from "./libsql-request.ts"

test("LibsqlQueue gives an owner fewer places the fewer are free, and leaves some to others", () => {
  const queue = new LibsqlQueue(new KnownStatements(), libsqlLimits)
  const started: string[] = []
  const ask = (ownerId: string) => {
    queue.add(
      readRequest({
        ownerId,
        bytesMax: 1_000_000,
        mode: "single",
        canWrite: true,
        statements: [{ sql: "select 1", args: [] }],
      }),
    )
    for (;;) {
      // The jobs never end.
      const working = queue.start(async ([job]) => {
        started.push(job?.key ?? "")
        await new Promise(() => {})
      })
      if (!working) return
    }
  }
  for (const owner of ["ada", "bob", "cy", "dan"])
    for (let count = 0; count < 4; count++) ask(owner)
  const countOf = (owner: string) => started.filter((one) => one === owner).length
  expect(["ada", "bob", "cy", "dan"].map(countOf)).toEqual([4, 3, 2, 1])
  ask("eve")
  ask("eve")
  expect(countOf("eve")).toBe(1)
  expect(started.length).toBeLessThan(libsqlLimits.atOnceMax)
})
