import { expect, test } from "bun:test"
import { unavailable } from "../errors.ts"
import type { SqliteConnection } from "./connection.ts"
import { SqliteWriter, writerLimits } from "./writer.ts"

test("SqliteWriter acknowledges no delegated write that went to a file that is lost", async () => {
  let isLost = false
  const writer = new SqliteWriter({} as SqliteConnection, writerLimits, {
    assertWritable() {
      if (isLost) throw unavailable("it was removed")
    },
    onCommit() {},
    onNotice() {},
  })
  const write = (willBeLost: boolean) =>
    writer.write(
      () => {
        throw new Error("The script does not run: its work is delegated")
      },
      false,
      async () => {
        isLost = willBeLost
        return { value: "written" }
      },
    )

  expect(await write(false)).toBe("written")
  await expect(write(true)).rejects.toMatchObject({ code: "database_unavailable" })
})
