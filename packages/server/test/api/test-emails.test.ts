import { expect, test } from "bun:test"
import { describeMail, mailDomain } from "../mail/support/mail-suite.ts"
import { expectStatus } from "../support/api.ts"
import { refusalOf } from "./suite.ts"

describeMail("POST /v1/vals/{val_id}/emails", (suite) => {
  const send = (as: { token: string }, id: string, body: object) =>
    suite.api.call("POST", `/v1/vals/${id}/emails`, { as: as.token, body })

  test("runs the val with the mail, and responds before it ends", async () => {
    const ada = await suite.addUser("ada@example.com")
    const val = await suite.addVal(ada, { privacy: "private" })
    const sent = expectStatus(
      await send(ada, val.id, {
        cc: ["c@example.com", { email: "d@example.com", name: "D" }],
        subject: "Try",
        text: "text",
        html: "<p>",
        attachments: [{ filename: "a.txt", content: btoa("file"), type: "text/plain" }],
      }),
      202,
    )
    expect(sent.headers.get("location")).toBe(`http://hamlet.test/v1/runs/${sent.json.id}`)
    expect(sent.json).toMatchObject({
      source: "email",
      email: {
        from: "ada@example.com",
        to: val.address,
        subject: "Try",
        attachments: 1,
        isTest: true,
        auth: { spf: "none", dkim: "none", dmarc: "none", isFromVerified: true },
      },
    })
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run).toMatchObject({
      id: sent.json.id,
      status: "succeeded",
      returnValue: {
        from: "ada@example.com",
        to: [val.address],
        cc: ["c@example.com", "D <d@example.com>"],
        subject: "Try",
        text: "text",
        html: "<p>",
        recipient: val.address,
        attachments: [["a.txt", expect.stringContaining("text/plain"), "file"]],
      },
    })
  })

  test("takes a whole message, with line ends of any kind", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const raw = "From: Eve <eve@example.com>\nTo: x@example.com\nSubject: Raw\n\nline 1\nline 2\n"
    const sent = expectStatus(await send(ada, val.id, { raw }), 202)
    expect(sent.json.email).toMatchObject({ from: "Eve <eve@example.com>", subject: "Raw" })
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run.returnValue).toMatchObject({ to: ["x@example.com"], recipient: val.address })
    expect(run.returnValue.text.split("\n")).toHaveLength(3)
  })

  test("refuses other types, other owners, a mixture, and a message that no server takes", async () => {
    const ada = await suite.addUser()
    const bob = await suite.addUser()
    const script = await suite.addVal(ada, { type: "script" })
    const val = await suite.addVal(ada)
    const hidden = await suite.addVal(ada, { privacy: "private" })
    expect(refusalOf(await send(ada, script.id, {}))).toEqual([409, "not_email"])
    expect(refusalOf(await send(bob, val.id, {}))).toEqual([403, "not_owner"])
    expect(refusalOf(await send(bob, hidden.id, {}))).toEqual([404, "val_not_found"])
    const mixture = await send(ada, val.id, { raw: "From: a@b.example\n\nx", text: "x" })
    expect(refusalOf(mixture)).toEqual([400, "invalid_request"])
    expect(refusalOf(await send(ada, val.id, { raw: "no header" }))).toEqual([422, "mail_refused"])
  })

  test("deletes the content of a mail after its run, and the rest with the run", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    expectStatus(await send(ada, val.id, { text: "x" }), 202)
    await suite.runsOf(ada, val.id, 1)
    const { mails } = suite.api.hamlet.stores
    const find = async () => {
      const [run] = await suite.runsOf(ada, val.id, 1)
      return mails.findContent(run.id)
    }
    await mails.purge("", Date.now() - 86_400_000, Date.now())
    expect(await find()).toBeDefined()
    await mails.purge("", Date.now() + 1, Date.now())
    expect(await find()).toBeUndefined()
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run.email).not.toBeNull()
    const replay = await suite.api.call("POST", `/v1/runs/${run.id}/replay`, { as: ada })
    expect(refusalOf(replay)).toEqual([409, "not_replayable"])
  })

  test("shows the address of a val of type email, and of no other", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const get = async (id: string) =>
      expectStatus(await suite.api.call("GET", `/v1/vals/${id}`, { as: ada }), 200).json
    expect((await get(val.id)).emailAddress).toBe(`${ada.username}.${val.name}@${mailDomain}`)
    const script = await suite.addVal(ada, { type: "script" })
    expect("emailAddress" in (await get(script.id))).toBe(false)
  })
})
