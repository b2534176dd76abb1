import { describe, expect, test } from "bun:test"
import { MailRefused, type ReadMail } from "./mail.ts"
import type { MailVal } from "./mail-rules.ts"
import { noMailAuth, type ReceiveDeps, receiveMail } from "./receive-mail.ts"

const val: MailVal = {
  ...{ id: "v", ownerId: "u", privacy: "public", isOwnerSuspended: false, ownerAddress: null },
}
const recipients = [{ address: "ada.inbox@vals.example.com", val }]

const toMail = (bytes: number): ReadMail => ({
  ...{ fromAddress: "eve@example.com", recorded: {}, fingerprint: "f", signature: undefined },
  email: {
    ...{ from: "eve@example.com", subject: null, messageId: null, bytes, attachments: 0 },
    auth: noMailAuth,
  },
  content: new Uint8Array(bytes),
  loop: { autoSubmitted: undefined, messageId: undefined, hops: 0 },
})

function open(findNew: ReceiveDeps["mails"]["findNew"]) {
  const calls: string[] = []
  const deps = {
    mails: {
      findNew: (...args: Parameters<typeof findNew>) => {
        calls.push("findNew")
        return findNew(...args)
      },
      add: async (mails: readonly { runId: string }[]) => {
        calls.push("add")
        return mails.map(({ runId }) => runId)
      },
    },
    objects: {
      async write() {
        calls.push("write")
        return { id: "o", place: "database", size: 1 }
      },
      async discard() {},
    },
    allowances: { takeRun() {} },
    mailRules: { loops: undefined, mailbox: { messagesMax: 1, bytesMax: 1 } },
    queue: { wake() {} },
    queueRoom: { async take() {} },
    newId: () => "r",
    now: () => 0,
  } as unknown as ReceiveDeps
  return { deps, calls }
}

describe("receiveMail", () => {
  test("writes the content of a large message only after it is known to be stored", async () => {
    const fresh = open(async (mails) => mails)
    expect(await receiveMail(fresh.deps, toMail(100_000), recipients)).toEqual(["r"])
    expect(fresh.calls).toEqual(["findNew", "write", "add"])
    const known = open(async () => [])
    expect(await receiveMail(known.deps, toMail(100_000), recipients)).toEqual([])
    expect(known.calls).not.toContain("write")
    const full = open(() => Promise.reject(new MailRefused("mailbox_full", "full")))
    await expect(receiveMail(full.deps, toMail(100_000), recipients)).rejects.toThrow("full")
    expect(full.calls).toEqual(["findNew"])
  })

  test("looks for a small message in the transaction that stores it", async () => {
    const { deps, calls } = open(() => Promise.reject(new Error("not needed")))
    expect(await receiveMail(deps, toMail(100), recipients)).toEqual(["r"])
    expect(calls).toEqual(["add"])
  })
})
