import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { dumpSchema } from "./schema-dump.ts"

describeEachDatabase("dumpSchema", (open) => {
  // The dumps exist to be read in reviews. HAMLET_UPDATE_SCHEMA=1 writes them anew.
  test("gives the schema that is checked in", async () => {
    const { db } = await open()
    const file = Bun.file(
      new URL(`../schema/${db.dialect.name.toLowerCase()}.sql`, import.meta.url),
    )

    const schema = await dumpSchema(db)

    if (process.env.HAMLET_UPDATE_SCHEMA === "1") await Bun.write(file, schema)
    expect(schema).toBe(await file.text())
  })

  test("gives one line for each column, and leaves quoted text alone", async () => {
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
