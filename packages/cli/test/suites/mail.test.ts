import { describe, expect, test } from "bun:test"
import { useStage } from "../support/shared-stage.ts"

// The server of the stage has a mail server that never answers, so that mail waits.
describe("mail, user email", () => {
  const stage = useStage()

  test("user email sets the address of a user, which whoami shows as confirmed", async () => {
    const [{ admin }, ada] = [stage(), await stage().person("mail1")]
    expect(await admin.print(["user", "email", "mail1", "ada@example.org"])).toBe(
      "username\tmail1\nemail\tada@example.org\n",
    )
    expect(await ada.json(["whoami"])).toMatchObject([
      { email: "ada@example.org", emailVerified: true },
    ])
    await admin.print(["user", "email", "mail1", "none"])
    expect(await ada.json(["whoami"])).toMatchObject([{ email: null, emailVerified: false }])
    expect((await ada.hamlet(["user", "email", "mail1", "a@example.org"])).exit).toBe(3)
  })

  test("mail list shows outgoing emails, also by status", async () => {
    const ada = await stage().person("mail2")
    expect(await ada.print(["mail", "list"])).toBe("")
    const { id } = await ada.client.sendEmail({ to: "bob@example.org", subject: "Hi" })
    expect(await ada.print(["mail", "list"])).toStartWith(`${id}\twaiting\tbob@example.org\tHi\t`)
    expect(await ada.json(["mail", "list", "--status", "waiting"])).toMatchObject([{ id }])
    expect(await ada.json(["mail", "list", "--status", "failed"])).toEqual([])
    expect((await ada.hamlet(["mail", "list", "--status", "lost"])).exit).toBe(2)
    expect(await ada.hamlet(["mail", "resend", id])).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("it has not failed"),
    })
  })

  test("mail confirm sends a code, and confirms the address with it", async () => {
    const ada = await stage().person("mail3")
    expect((await ada.hamlet(["mail", "confirm"])).stderr).toContain("no email address")
    const { exit, stderr } = await ada.hamlet(["mail", "confirm", "--address", "ada@example.org"])
    expect([exit, stderr]).toEqual([
      ...[0, 'Sent a code to your address. Confirm it with "hamlet mail confirm CODE"\n'],
    ])
    expect((await ada.hamlet(["mail", "confirm", "1"])).stderr).toContain("the code is wrong")
  })
})
