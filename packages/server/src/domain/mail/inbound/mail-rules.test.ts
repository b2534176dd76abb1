import { describe, expect, test } from "bun:test"
import type { MailAuth, MailRefused, MailSignature } from "./mail.ts"
import { assertNoLoop, assertReceives, type MailVal } from "./mail-rules.ts"

const val: MailVal = {
  id: "v",
  file: { id: "v", branchId: "v" },
  ownerId: "u",
  privacy: "private",
  isOwnerSuspended: false,
  ownerAddress: "ada@example.com",
}
const verified: MailAuth = { spf: "pass", dkim: "none", dmarc: "none", isFromVerified: true }
const forged: MailAuth = { spf: "fail", dkim: "none", dmarc: "fail", isFromVerified: false }
const sender = (fromAddress: string, auth: MailAuth, signature?: MailSignature) => ({
  fromAddress,
  email: { auth },
  signature,
})
const arrival = { address: "Ada.Inbox@vals.example.com", at: 100 * 3_600_000 }
const reasonOf = (work: () => void) => {
  try {
    work()
    return "accepted"
  } catch (error) {
    return (error as MailRefused).reason
  }
}

describe("assertReceives", () => {
  const cases: [title: string, val: MailVal | undefined, from: string, MailAuth, string][] = [
    ["a private val gets mail of its owner", val, "ada@example.com", verified, "accepted"],
    ["a forged owner", val, "ada@example.com", forged, "unknown_recipient"],
    ["a private val and another sender", val, "eve@example.com", verified, "unknown_recipient"],
    [
      "a private val whose owner has no address",
      { ...val, ownerAddress: null },
      "ada@example.com",
      verified,
      "unknown_recipient",
    ],
    ["no val", undefined, "ada@example.com", verified, "unknown_recipient"],
    ["a public val and any sender", { ...val, privacy: "public" }, "eve@x", forged, "accepted"],
    [
      "an unlisted val and any sender",
      { ...val, privacy: "unlisted" },
      "eve@x",
      forged,
      "accepted",
    ],
    [
      "a val of a suspended user",
      { ...val, privacy: "public", isOwnerSuspended: true },
      "eve@x",
      forged,
      "suspended",
    ],
    [
      "a private val of a suspended user and another sender",
      { ...val, isOwnerSuspended: true },
      "eve@x",
      verified,
      "unknown_recipient",
    ],
  ]
  for (const [title, of, from, auth, reason] of cases)
    test(`${title}: ${reason}`, () => {
      expect(reasonOf(() => assertReceives(of, sender(from, auth), arrival))).toBe(reason)
    })

  test("a signature proves only a recent message to this address", () => {
    const judge = (recipients: readonly string[], ageHours: number | undefined, of = val) => {
      const at = ageHours === undefined ? undefined : arrival.at - ageHours * 3_600_000
      const signed = sender("ada@example.com", verified, { recipients, at })
      return reasonOf(() => assertReceives(of, signed, arrival))
    }
    const to = ["bob@example.com", "ada.inbox@vals.example.com"]
    expect([judge(to, 1), judge(to, 19), judge(to, -0.5)]).toEqual(Array(3).fill("accepted"))
    expect([
      judge(["list@example.com"], 1),
      judge([], 1),
      judge(to, 21),
      judge(to, -2),
      judge(to, undefined),
    ]).toEqual(Array(5).fill("unknown_recipient"))
    expect(judge([], 1_000, { ...val, privacy: "public" })).toBe("accepted")
  })

  test("postpones a sender that could not be checked, whether the val exists or not", () => {
    const undecided = sender("ada@example.com", { ...forged, dkim: "temperror" })
    expect(reasonOf(() => assertReceives(val, undecided, arrival))).toBe("sender_undecided")
    expect(reasonOf(() => assertReceives(undefined, undecided, arrival))).toBe("sender_undecided")
    expect(reasonOf(() => assertReceives({ ...val, privacy: "public" }, undecided, arrival))).toBe(
      "accepted",
    )
  })
})

describe("assertNoLoop", () => {
  const rules = { domain: "vals.example.com", acceptsGenerated: false, hopsMax: 30 }
  const loop = { autoSubmitted: undefined, messageId: "x@example.com", hops: 3 }
  const judge = (more: Partial<Parameters<typeof assertNoLoop>[0]>, also = {}) =>
    reasonOf(() => assertNoLoop({ ...loop, ...more }, { ...rules, ...also }))

  test("accepts an ordinary message", () => {
    expect([judge({}), judge({ messageId: undefined }), judge({ autoSubmitted: "no" })]).toEqual([
      "accepted",
      "accepted",
      "accepted",
    ])
  })

  test("refuses its own message, too many hops and automatic replies", () => {
    expect([
      judge({ messageId: "1@VALS.example.com" }),
      judge({ hops: 31 }),
      judge({ autoSubmitted: "auto-replied" }),
      judge({ autoSubmitted: "auto-generated" }),
      judge({ autoSubmitted: "" }),
    ]).toEqual(["loop", "loop", "loop", "loop", "loop"])
  })

  test("accepts generated messages where the operator allows them, but no replies", () => {
    const also = { acceptsGenerated: true }
    expect(judge({ autoSubmitted: "auto-generated" }, also)).toBe("accepted")
    expect(judge({ autoSubmitted: "auto-replied" }, also)).toBe("loop")
  })
})
