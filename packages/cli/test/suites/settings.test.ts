import { describe, expect, test } from "bun:test"
import { useStage } from "../support/shared-stage.ts"

const missing = "01890000-0000-7000-8000-000000000000"

describe("secret, token, user", () => {
  const stage = useStage()

  test("secret set reads its value from standard input without the newline, list shows names only, rm deletes", async () => {
    const ada = await stage().person("secrets1")
    expect(await ada.print(["secret", "set", "API_KEY"], { input: "hush hush\n" })).toBe(
      "API_KEY\n",
    )
    expect(
      await ada.json(["secret", "set", "FOR_HOST", "--host", "api.example.com", "b.example.com"], {
        input: "x",
      }),
    ).toEqual([{ name: "FOR_HOST", hosts: ["api.example.com", "b.example.com"] }])
    await ada.client.saveVal({
      name: "reveal",
      code: 'export default () => [...Deno.env.get("API_KEY") ?? ""].join(" ")',
    })
    expect(await ada.print(["run", "reveal"])).toBe("h u s h   h u s h\n")
    const ofVal = ["--val", "reveal"]
    await ada.print(["secret", "set", "API_KEY", ...ofVal], { input: "of the val\n" })
    expect(await ada.print(["run", "reveal"])).toBe("o f   t h e   v a l\n")
    expect((await ada.json(["secret", "list", ...ofVal])).map(({ name }) => name)).toEqual([
      "API_KEY",
    ])
    expect(await ada.print(["secret", "rm", "API_KEY", "--yes", ...ofVal])).toBe("API_KEY\n")
    expect(await ada.print(["run", "reveal"])).toBe("h u s h   h u s h\n")

    expect(
      (await ada.print(["secret", "list"])).split("\n").map((line) => line.split("\t").slice(0, 2)),
    ).toEqual([["FOR_HOST", "api.example.com,b.example.com"], ["API_KEY", ""], [""]])
    expect((await ada.json(["secret", "list"])).map(({ name }) => name)).toEqual([
      "FOR_HOST",
      "API_KEY",
    ])
    expect(await ada.hamlet(["secret", "rm", "API_KEY"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--yes"),
    })
    expect(await ada.print(["secret", "rm", "API_KEY", "--yes"])).toBe("API_KEY\n")
    expect(await ada.hamlet(["secret", "rm", "API_KEY", "--yes"])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"hamlet secret list"'),
    })
  })

  test("secret set refuses a value as an argument, an empty value and an invalid name", async () => {
    const ada = await stage().person("secrets2")
    expect((await ada.hamlet(["secret", "set", "KEY", "value"])).exit).toBe(2)
    expect((await ada.hamlet(["secret", "set", "KEY"], { input: "\n" })).exit).toBe(2)
    expect(await ada.hamlet(["secret", "set", "A=B"], { input: "x" })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("name"),
    })
  })

  test("secret set asks at a terminal and shows nothing", async () => {
    const ada = await stage().person("secrets3")
    await using asked = ada.atTerminal(["secret", "set", "TYPED"])
    await asked.waitFor(/Value of TYPED: $/)
    asked.type("sesame\r")
    const { exit, stdout } = await asked.ended()
    expect([exit, stdout.includes("Set TYPED"), stdout.includes("sesame")]).toEqual([
      0,
      true,
      false,
    ])
    expect((await ada.client.listSecrets()).data.map(({ name }) => name)).toEqual(["TYPED"])
  })

  test("token new prints only the token, list shows it, revoke ends it", async () => {
    const ada = await stage().person("tokens1")
    const token = (
      await ada.print([
        "token",
        "new",
        "reader",
        "--scope",
        "user:read",
        "val:read",
        "--expires",
        "2d",
      ])
    ).trim()
    const reader = await stage().holder(token)
    expect(await reader.json(["whoami"])).toMatchObject([{ username: "tokens1" }])

    const [listed] = (await ada.json(["token", "list"])).filter(({ name }) => name === "reader")
    expect(listed.scopes).toEqual(["user:read", "val:read"])
    expect(Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)).toBeGreaterThan(86_400_000)
    expect(await ada.print(["token", "list"])).toContain(`${listed.id}\treader\t`)

    expect((await ada.hamlet(["token", "revoke", listed.id])).exit).toBe(2)
    expect(await ada.print(["token", "revoke", listed.id, "--yes"])).toBe(`${listed.id}\n`)
    expect(await reader.hamlet(["val", "list", "tokens1"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('"hamlet login"'),
    })
    expect((await ada.hamlet(["token", "revoke", missing, "-y"])).exit).toBe(4)
  })

  test("token new refuses missing, invalid and unowned scopes, and invalid times", async () => {
    const ada = await stage().person("tokens2")
    for (const rest of [
      [],
      ["--scope", "everything"],
      ["--scope", "val:read", "--expires", "soon"],
    ])
      expect(await ada.hamlet(["token", "new", "x", ...rest])).toMatchObject({
        exit: 2,
        stdout: "",
        stderr: expect.stringMatching(/^Cannot .+\n$/),
      })
    expect(await ada.hamlet(["token", "new", "x", "--scope", "admin"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("fewer scopes"),
    })
  })

  test("user add prints the first token, and user list shows all users to an administrator", async () => {
    const { admin } = stage()
    const token = (
      await admin.print(["user", "add", "grace", "--email", "grace@example.com"])
    ).trim()
    expect(await (await stage().holder(token)).json(["whoami"])).toMatchObject([
      { username: "grace", email: "grace@example.com" },
    ])
    expect((await admin.print(["user", "list", "-n", "1"])).split("\t").slice(0, 2)).toEqual([
      "grace",
      "grace@example.com",
    ])
    expect((await admin.json(["user", "list", "--all"])).map(({ username }) => username)).toContain(
      "root",
    )
    expect(await admin.hamlet(["user", "add", "GRACE"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("choose another"),
    })
    expect((await admin.hamlet(["user", "add", "no-name"])).exit).toBe(2)
  })

  test("user list and add without the scope are refused with its name", async () => {
    const ada = await stage().person("plain1")
    for (const args of [
      ["user", "list"],
      ["user", "add", "somebody"],
    ])
      expect(await ada.hamlet(args)).toMatchObject({
        exit: 3,
        stdout: "",
        stderr: expect.stringMatching(/admin.*; .+"hamlet token new"/),
      })
  })
})
