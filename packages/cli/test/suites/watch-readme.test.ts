import { describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { list, listTrash, read, write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"

const once = ["val", "watch", "--once"]

describe("val watch, readmes", () => {
  const stage = useStage()

  test("watch --once copies readmes, and keeps both sides of a conflict", async () => {
    const ada = await stage().person("readme2")
    const { id } = await ada.client.createVal({ name: "hello", code: "one\n" })
    await ada.print(once)
    const path = "hello.ts.README.md"
    const readmeOf = async () => (await ada.client.getVal({ val_id: id })).readme
    write(ada, path, "# Mine\n")
    expect(await ada.print([...once, "--dry-run"])).toBe(`saved\t${path}\thello@1\t\n`)
    expect(await readmeOf()).toBe(null)
    expect(await ada.print(once)).toBe(`saved\t${path}\thello@1\t\n`)
    expect([
      await readmeOf(),
      await ada.print(once),
      (await ada.client.listMyValStates()).data.length,
    ]).toEqual(["# Mine\n", "", 1])

    await ada.client.updateVal({ val_id: id, readme: "# Theirs\n" })
    expect(await ada.print(once)).toBe(`wrote\t${path}\thello@3\t\n`)
    expect(read(ada, path)).toBe("# Theirs\n")
    write(ada, path, "# Mine again\n")
    await ada.client.updateVal({ val_id: id, readme: "# Theirs again\n" })
    expect(await ada.hamlet(once)).toMatchObject({
      exit: 5,
      stdout: `conflict\t${path}\thello@4\thello.ts.README.conflict-1.md\n`,
    })
    expect([read(ada, path), read(ada, "hello.ts.README.conflict-1.md")]).toEqual([
      "# Theirs again\n",
      "# Mine again\n",
    ])
    expect([await readmeOf(), await ada.print(once)]).toEqual(["# Theirs again\n", ""])

    // Without its file the val keeps its readme, until that changes.
    rmSync(join(ada.folder, path))
    expect([await ada.print(once), await readmeOf()]).toEqual(["", "# Theirs again\n"])
    await ada.client.updateVal({ val_id: id, readme: "# Later\n" })
    expect(await ada.print(once)).toBe(`wrote\t${path}\thello@5\t\n`)
    await ada.client.updateVal({ val_id: id, readme: null })
    expect(await ada.print(once)).toStartWith(`trashed\t${path}\thello@6\t.hamlet/trash/`)
    expect(list(ada)).toEqual(["hello.ts", "hello.ts.README.conflict-1.md"])

    // A new file brings its readme along, and a val that is deleted takes it with it.
    write(ada, "new.ts", "1\n")
    write(ada, "new.ts.README.md", "# New\n")
    expect(await ada.print(once)).toBe(
      "created\tnew.ts\tnew@1\t\nsaved\tnew.ts.README.md\tnew@1\t\n",
    )
    await ada.client.deleteVal({
      val_id: (await ada.client.getValByName({ username: "readme2", val_name: "new" })).id,
    })
    await ada.print(once)
    expect([list(ada), listTrash(ada)]).toEqual([
      ["hello.ts", "hello.ts.README.conflict-1.md"],
      [path, "new.ts", "new.ts.README.md"],
    ])
  })
})
