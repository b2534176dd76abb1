import { describe, expect, test } from "bun:test"
import { alone, SharedRates } from "@hamlet/kit"
import type { ObjectStore } from "../../blobs/objects.ts"
import { MailRefused, noMailAuth, type ReadMail } from "./mail.ts"
import type { MailVal } from "./mail-rules.ts"
import { createMailbox, type MailStore } from "./receive-mail.ts"

const val: MailVal = {
  file: { id: "v", branchId: "v" },
  id: "v",
  ownerId: "u",
  privacy: "public",
  isOwnerSuspended: false,
  ownerAddress: null,
}
const recipients = [{ address: "ada.inbox@vals.example.com", val }]

const toMail = (bytes: number): ReadMail => ({
  fromAddress: "eve@example.com",
  recorded: {},
  fingerprint: "f",
  signature: undefined,
  email: {
    from: "eve@example.com",
    subject: null,
    messageId: null,
    bytes,
    attachments: 0,
    auth: noMailAuth,
  },
  content: new Uint8Array(bytes),
  loop: { autoSubmitted: undefined, messageId: undefined, hops: 0 },
})

const open = (findNew: MailStore["findNew"], changes: Changes = {}) => {
  const calls: string[] = []
  const store = {
    findNew: (...args: Parameters<typeof findNew>) => {
      calls.push("findNew")
      return findNew(...args)
    },
    add: async (mails: readonly { runId: string }[]) => {
      calls.push("add")
      return mails.map(({ runId }) => runId)
    },
  } as unknown as MailStore
  const objects = {
    async write() {
      calls.push("write")
      return { id: "o", place: "database", size: 1 }
    },
    async discard() {},
  } as unknown as ObjectStore
  const { hasRun = () => true, hasRoom = async () => true, perAccountPerMinute } = changes
  const mailbox = createMailbox({
    store,
    objects,
    allowances: { hasRun, countRun: (id) => calls.push(`run of ${id}`) },
    queue: { wake() {} },
    room: { has: hasRoom, add() {} },
    rules: { loops: undefined, mailbox: { messagesMax: 1, bytesMax: 1 }, perAccountPerMinute },
    rates: changes.rates ?? new SharedRates("mails", 60_000, () => 0, alone),
    clock: { newId: () => "r", now: () => 0 },
  })
  return { mailbox, calls }
}

interface Changes {
  readonly hasRun?: (id: string) => boolean
  readonly hasRoom?: (id: string) => Promise<boolean>
  readonly perAccountPerMinute?: number
  readonly rates?: SharedRates
}

describe("createMailbox", () => {
  test("writes the content of a large message only after it is known to be stored", async () => {
    const fresh = open(async (mails) => mails)
    expect(await fresh.mailbox.receive(toMail(100_000), recipients)).toEqual(["r"])
    expect(fresh.calls).toEqual(["run of u", "findNew", "write", "add"])
    const known = open(async () => [])
    expect(await known.mailbox.receive(toMail(100_000), recipients)).toEqual([])
    expect(known.calls).not.toContain("write")
    const full = open(() => Promise.reject(new MailRefused("mailbox_full", "full")))
    await expect(full.mailbox.receive(toMail(100_000), recipients)).rejects.toThrow("full")
    expect(full.calls).toEqual(["run of u", "findNew"])
  })

  test("looks for a small message in the transaction that stores it", async () => {
    const { mailbox, calls } = open(() => Promise.reject(new Error("not needed")))
    expect(await mailbox.receive(toMail(100), recipients)).toEqual(["r"])
    expect(calls).toEqual(["run of u", "add"])
  })

  test("takes nothing from any account when one of them may not get the message", async () => {
    const both = [
      ...recipients,
      {
        address: "bob.x@x",
        val: { ...val, id: "w", file: { id: "w", branchId: "w" }, ownerId: "bob" },
      },
    ]
    const findNew: MailStore["findNew"] = async (mails) => mails
    const { mailbox, calls } = open(findNew)
    expect(await mailbox.receive(toMail(100), both)).toHaveLength(2)
    expect(calls).toEqual(["run of u", "run of bob", "add"])
    for (const changes of [
      { hasRun: (id: string) => id !== "bob" },
      { hasRoom: async (id: string) => id !== "bob" },
    ]) {
      const limited = open(findNew, changes)
      await expect(limited.mailbox.receive(toMail(100), both)).rejects.toThrow("too many runs")
      await expect(limited.mailbox.assertRoom({ ...val, ownerId: "bob" })).rejects.toThrow(
        "too many runs",
      )
      expect(limited.calls).toEqual([])
    }
    const rates = new SharedRates("mails", 60_000, () => 0, alone)
    const rated = open(findNew, { perAccountPerMinute: 1, rates })
    rates.charge("bob", 1)
    await expect(rated.mailbox.receive(toMail(100), both)).rejects.toThrow("too much mail")
    expect([rated.calls, rates.hasToken("u", 1)]).toEqual([[], true])
    await rated.mailbox.receive(toMail(100), recipients)
    expect(rates.hasToken("u", 1)).toBe(false)
  })
})
