import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { useStage } from "../support/shared-stage.ts"

describe("org, --owner", () => {
  const stage = useStage()

  test("people build an organisation, act for it, and leave", async () => {
    const ada = await stage().person("orgada")
    const bob = await stage().person("orgbob")
    expect(await ada.print(["org", "new", "acme", "--bio", "We build"])).toBe("acme\n")
    expect(await ada.print(["org", "list"])).toMatch(/^acme\towner\tmember\t/)
    expect(await ada.print(["org", "add", "acme", "orgbob", "--role", "viewer"])).toBe("viewer\n")
    expect(await bob.print(["org", "list"])).toMatch(/^acme\tviewer\tinvited\t/)
    await bob.print(["org", "accept", "ACME"])
    expect(await ada.print(["org", "members", "acme"])).toMatch(/^orgbob\tviewer\tmember\t/m)

    // A member acts for it; a viewer sees, and changes nothing.
    await Bun.write(join(ada.folder, "tool.ts"), "export default 1")
    await ada.print(["val", "push", "tool.ts", "--owner", "acme"])
    expect(await ada.print(["val", "list", "--owner", "acme"])).toContain("acme/tool")
    expect(await ada.print(["val", "list"])).not.toContain("tool")
    expect(await bob.print(["val", "show", "acme/tool"])).toContain("tool")
    expect(await bob.print(["val", "show", "tool", "--owner", "acme"])).toContain("tool")
    expect(await bob.print(["whoami", "--owner", "acme"])).toContain("person\torgbob\n")
    expect(await bob.hamlet(["val", "rm", "acme/tool", "--yes"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("role"),
    })
    expect(await bob.hamlet(["val", "list", "--owner", "nobody"])).toMatchObject({ exit: 4 })
    expect(await bob.hamlet(["val", "list", "--owner", "a b"])).toMatchObject({ exit: 2 })

    expect(await bob.print(["org", "remove", "acme", "orgbob", "--yes"])).toBe("orgbob\n")
    expect((await bob.hamlet(["val", "show", "acme/tool"])).exit).toBe(4)
    expect(await ada.hamlet(["org", "remove", "acme", "orgada", "--yes"])).toMatchObject({
      exit: 5,
    })
    expect(await ada.print(["org", "rm", "acme", "--yes"])).toBe("acme\n")
    expect(await ada.print(["org", "list"])).toBe("")
  })

  test("a link leads one person into an organisation", async () => {
    const ada = await stage().person("linkada")
    const bob = await stage().person("linkbob")
    await ada.print(["org", "new", "linked"])
    const link = (await ada.print(["org", "invite", "linked", "--role", "member"])).trim()
    expect(await bob.print(["org", "join", link])).toBe("linked\n")
    expect((await bob.hamlet(["org", "join", link])).exit).toBe(4)
    expect(await bob.print(["org", "show", "linked"])).toContain("role\tmember\n")
  })
})
