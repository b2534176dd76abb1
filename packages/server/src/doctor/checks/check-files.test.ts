import { expect, test } from "bun:test"
import { type Statement, sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import { createValStore } from "../../storage/vals/vals.ts"
import { checkFiles } from "./check-files.ts"

describeEachDatabase("checkFiles", (open) => {
  test("finds nothing in sound data, and names what does not fit", async () => {
    const { db } = await open()
    const view = { ...db, hasOwnClock: false }
    const ownerId = await addUser(db, "ada")
    const id = Bun.randomUUIDv7()
    const texts = { readme: "# é", source: { code: "1", imports: [] } }
    const val = { id, ownerId, ownerName: "ada", name: "hello", privacy: "public" } as const
    await createValStore(db).create({ ...val, type: "script", ...texts }, 1)
    const find = async () => (await checkFiles(view)).map(({ status, found }) => [status, found])
    expect(await find()).toEqual([["ok", "vals, branches, versions and files fit together"]])
    const breaks: Readonly<Record<string, Statement>> = {
      "vals that count their branches wrong": sql`update vals set branch_count = 2`,
      "branches that count their bytes wrong": sql`update branches set bytes = 1`,
      "branches that count their files wrong": sql`update branches set file_count = 1`,
      "texts of files that do not exist": sql`delete from files where path = 'README.md'`,
      "branches with code but without an entry file": sql`update versions set entry_path = null`,
      "versions whose code is missing": sql`update versions set entry_path = 'gone.ts'`,
      "branches whose current version is missing": sql`update branches set version = 9`,
      "vals without a branch main": sql`delete from branches`,
    }
    for (const [what, statement] of Object.entries(breaks)) {
      await db.writeOne(statement)
      const [[status, found] = []] = await find()
      expect([status, found?.includes(`${what}: ${id}`)], what).toEqual(["warning", true])
    }
  })
})
