import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
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

  test("mail address prints the address of a val, and mail test runs it with a mail", async () => {
    const ada = await stage().person("mail4")
    await ada.client.saveVal({
      name: "inbox",
      type: "email",
      code: "export default async (mail) => [mail.from, mail.subject, await mail.attachments[0]?.text()]",
    })
    await ada.client.saveVal({ name: "other", code: "1" })
    // The server of the stage receives no mail.
    expect((await ada.hamlet(["mail", "address", "inbox"])).stderr).toContain(
      "the server receives no mail",
    )
    expect((await ada.hamlet(["mail", "address", "other"])).stderr).toContain("not email")
    const file = join(ada.folder, "note.txt")
    writeFileSync(file, "hello")
    const parts = ["--from", "eve@example.org", "--subject", "Hi", "--attach", file]
    expect(JSON.parse(await ada.print(["mail", "test", "inbox", ...parts]))).toEqual([
      "eve@example.org",
      "Hi",
      "hello",
    ])
    const raw = await ada.print(["mail", "test", "inbox", "--raw", "-", "--detach"], {
      input: "From: Eve <eve@example.org>\nSubject: raw\n\nx",
    })
    const run_id = raw.trimEnd()
    expect((await ada.client.getRun({ run_id })).email).toMatchObject({
      from: "Eve <eve@example.org>",
      subject: "raw",
      isTest: true,
    })
    const both = ["mail", "test", "inbox", "--raw", file, "--subject", "x"]
    expect((await ada.hamlet(both)).stderr).toContain("Cannot combine --raw")
    expect((await ada.hamlet(["mail", "test", "inbox", "--raw", "missing.eml"])).exit).toBe(2)
    expect((await ada.hamlet(["mail", "test", "other"])).stderr).toContain("type")
  })

  test("mail confirm sends a code, and confirms the address with it", async () => {
    const ada = await stage().person("mail3")
    expect((await ada.hamlet(["mail", "confirm"])).stderr).toContain("no email address")
    const { exit, stderr } = await ada.hamlet(["mail", "confirm", "--address", "ada@example.org"])
    expect([exit, stderr]).toEqual([
      0,
      'Sent a code to your address. Confirm it with "hamlet mail confirm CODE"\n',
    ])
    expect((await ada.hamlet(["mail", "confirm", "1"])).stderr).toContain("the code is wrong")
  })

  test("mail confirm sets the address of an administrator without a code", async () => {
    const { admin } = stage()
    const { email } = await admin.client.getMe()
    expect(await admin.print(["mail", "confirm", "--address", "root@example.org"])).toBe(
      "email\troot@example.org\nconfirmed\ttrue\n",
    )
    await admin.client.updateMe({ email })
  })
})
