import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { dumpSchema } from "./schema-dump.ts"

describeEachDatabase("dumpSchema", (open) => {
  test("prints one line for each column, and keeps quoted text unchanged", async () => {
    const { db } = await open({ isEmpty: true })
    await db.write(function* () {
      yield {
        text: "create table odd (a integer not null,\n\n   b text default 'x,  (y', check (a in (1, 2)))",
        values: [],
      }
    })

    const schema = await dumpSchema(db)

    expect(schema.split("\n").slice(0, 3)).toEqual([
      expect.stringMatching(/^create table odd \($/i),
      "  a integer not null,",
      expect.stringContaining("'x,  (y'"),
    ])
    expect(schema.split("\n")[3]).toMatch(/check .*a.*1.*2/i)
  })
})
