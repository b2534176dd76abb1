import { describe, expect, test } from "bun:test"
import { composeEmail, type Sender, type SenderRules } from "./compose-email.ts"

const rules: SenderRules = {
  domain: "mail.test",
  noticeAddress: "no-reply@mail.test",
  fromDomains: [],
  allowsOthers: true,
}
const val = { id: "1", name: "Hello" }
const ada: Sender = { username: "Ada", val, ownAddress: "ada@home.test" }

const compose = (body: object, sender = ada, more: Partial<SenderRules> = {}, recipientsMax = 5) =>
  composeEmail({ ...rules, ...more }, sender, body, recipientsMax)

const senderOf = (body: object, sender?: Sender, more?: Partial<SenderRules>) =>
  compose(body, sender, more).content.from

describe("composeEmail", () => {
  test("sends from the val's address to the confirmed address of its owner", () => {
    expect(compose({ text: "Hi" })).toEqual({
      from: "ada.hello@mail.test",
      recipients: ["ada@home.test"],
      content: {
        from: { address: "ada.hello@mail.test", name: undefined },
        to: [{ address: "ada@home.test" }],
        subject: "Message from @Ada",
        text: "Hi",
      },
    })
    expect(compose({}, { ...ada, val: null }).from).toBe("ada.api@mail.test")
  })

  test("refuses an email without a recipient if the owner has no confirmed address", () => {
    const nobody = { ...ada, ownAddress: null }
    expect(() => compose({ cc: "bob@b.test" }, nobody)).toThrow("no confirmed email address")
    expect(() => compose({ to: [] }, nobody)).toThrow("no confirmed email address")
    expect(compose({ to: "bob@b.test" }, nobody).recipients).toEqual(["bob@b.test"])
  })

  test("sends to each recipient once, and shows those of bcc to nobody", () => {
    const { recipients, content } = compose({
      to: ["bob@b.test", { email: "eve@b.test", name: "Eve" }],
      cc: "BOB@b.test",
      bcc: ["secret@b.test", "eve@b.test"],
    })
    expect(recipients.map((one) => one.toLowerCase())).toEqual([
      "bob@b.test",
      "eve@b.test",
      "secret@b.test",
    ])
    expect(JSON.stringify(content)).not.toContain("secret")
  })

  test("takes the types of attachments that vals written for Val Town have", () => {
    const file = { content: "aGk=", filename: "a.txt" }
    const typesOf = (...types: (string | undefined)[]) => {
      const attachments = types.map((type) => ({ ...file, type }))
      return compose({ attachments }).content.attachments?.map(({ type }) => type)
    }
    expect(typesOf("text", "text/csv", "pdf", undefined)).toEqual([
      "text/plain",
      "text/csv",
      undefined,
      undefined,
    ])
  })

  test("refuses the address of another sender as a name", () => {
    const named = (name: string) => () => compose({ from: { email: "ada.hello@mail.test", name } })
    for (const name of [
      "bob.hello@mail.test",
      "no-reply@mail.test",
      "Bank (support@bank.test)",
      "Bob\uFF20mail.test",
      "ada.hello@mail.test, bob@b.test",
    ])
      expect(named(name)).toThrow('"from" must not have another email address in its name')
    for (const name of ["Ada @ work", "@ada", "ADA.hello@mail.test", "Ada <3", "ada@home.test"])
      expect(named(name)).not.toThrow()
    const noDomain = { domain: undefined, noticeAddress: "mail@host.test" }
    const from = { email: "mail@host.test", name: "bob@b.test" }
    expect(() => compose({ from }, ada, noDomain)).toThrow("another email address")
  })

  test("refuses too many recipients", () => {
    const to = ["1@b.test", "2@b.test", "3@b.test", "4@b.test"]
    expect(compose({ to, cc: "5@b.test" }).recipients).toHaveLength(5)
    expect(() => compose({ to, cc: "5@b.test", bcc: "6@b.test" })).toThrow("at most 5 recipients")
  })

  test("sends to the owner only, if the operator says so", () => {
    const more = { allowsOthers: false }
    expect(compose({ to: "ADA@home.test" }, ada, more).recipients).toEqual(["ADA@home.test"])
    for (const field of ["to", "cc", "bcc"])
      expect(() => compose({ [field]: "bob@b.test" }, ada, more)).toThrow("no mail to others")
  })

  test.each(["ADA.other@MAIL.test", "ada.hello@mail.test"])(
    "allows the sender %s, an address of the user",
    (from) => {
      expect(senderOf({ from: { email: from, name: "A" } })).toEqual({ address: from, name: "A" })
    },
  )

  test.each([
    "ada@mail.test",
    "bob.hello@mail.test",
    "no-reply@mail.test",
    "adam.x@mail.test",
    "ada.@mail.test",
    "ada.b.c@mail.test",
    "ada+x@mail.test",
    "ada@other.test",
    "ada.hello@mail.test.evil.test",
    "ada.hello@evil.mail.test",
  ])("refuses the sender %s", (from) => {
    expect(() => senderOf({ from })).toThrow("allows no other sender")
  })

  test("allows senders of further domains, or all, if the operator does", () => {
    const more = { fromDomains: ["other.test"] }
    expect(senderOf({ from: "x@other.test" }, ada, more)).toMatchObject({ address: "x@other.test" })
    expect(() => senderOf({ from: "x@sub.other.test" }, ada, more)).toThrow()
    const all = { fromDomains: ["*"] }
    expect(senderOf({ from: "x@y.test" }, ada, all)).toMatchObject({ address: "x@y.test" })
    for (const from of ["No-Reply@mail.test", "bob.hello@mail.test", "postmaster@MAIL.test"])
      expect(() => senderOf({ from }, ada, all)).toThrow()
  })

  test("names the val in the sender if all mail comes from one address", () => {
    const more = { domain: undefined, noticeAddress: "me@gmail.test" }
    expect(senderOf({}, ada, more)).toEqual({ address: "me@gmail.test", name: "Ada.Hello" })
    expect(senderOf({ from: { email: "me@gmail.test", name: "Hamlet" } }, ada, more)).toMatchObject(
      { name: "Hamlet (Ada.Hello)" },
    )
    expect(() => senderOf({ from: "ada.hello@mail.test" }, ada, more)).toThrow()
  })
})
