import { describe, expect, test } from "bun:test"
import {
  mailBackoff,
  type TransportOutcome,
  toEmailOutcome,
  toEmailStatus,
} from "./deliver-email.ts"

const dayMs = 86_400_000
const createdAt = 1_000_000
const recipients = ["a@b.test", "c@d.test"].map(
  (address) => ({ address, status: "waiting" }) as const,
)
const email = { recipients, createdAt, error: null }
const refused = { kind: "failed", error: "no", cause: "", isPermanent: true } as const
const away: TransportOutcome = { ...refused, isPermanent: false }
const statusesOf = (outcome: ReturnType<typeof toEmailOutcome>) =>
  outcome.recipients.map(({ status }) => status)
const rejected = (address: string, isPermanent: boolean) => ({ address, error: "no", isPermanent })

describe("toEmailOutcome", () => {
  test("is sent when the server took it for all recipients", () => {
    const outcome = toEmailOutcome(email, { kind: "sent", rejected: [] }, 1, createdAt + 5)
    expect(outcome).toMatchObject({ error: null, retryMs: undefined, at: createdAt + 5 })
    expect(toEmailStatus(outcome)).toBe("sent")
  })

  test("waits for those whom the server refused for now, and keeps those who got it", () => {
    const first = toEmailOutcome(
      email,
      { kind: "sent", rejected: [rejected("c@d.test", false)] },
      1,
      createdAt,
    )
    expect(statusesOf(first)).toEqual(["sent", "waiting"])
    expect(toEmailStatus(first)).toBe("retried")
    const second = toEmailOutcome(
      { ...email, ...first },
      { kind: "sent", rejected: [] },
      2,
      createdAt,
    )
    expect(statusesOf(second)).toEqual(["sent", "sent"])
    expect([toEmailStatus(second), second.error]).toEqual(["sent", null])
  })

  test("has failed if one recipient never gets it, and still says why", () => {
    const first = toEmailOutcome(
      email,
      { kind: "sent", rejected: [rejected("a@b.test", true), rejected("c@d.test", false)] },
      1,
      createdAt,
    )
    expect(statusesOf(first)).toEqual(["failed", "waiting"])
    const second = toEmailOutcome(
      { ...email, ...first },
      { kind: "sent", rejected: [] },
      2,
      createdAt,
    )
    expect(statusesOf(second)).toEqual(["failed", "sent"])
    expect(toEmailStatus(second)).toBe("failed")
    expect(second.error).toContain("a@b.test: no")
  })

  test("gives up at once when the server refuses it for good", () => {
    const outcome = toEmailOutcome(email, refused, 1, createdAt)
    expect([toEmailStatus(outcome), outcome.error]).toEqual(["failed", "no"])
  })

  test("tries again for about a day, at most two hours apart", () => {
    let [at, attempts] = [createdAt, 1]
    let last = toEmailOutcome(email, away, attempts, at)
    const delays: number[] = []
    while (last.retryMs !== undefined) {
      delays.push(last.retryMs)
      at += last.retryMs
      attempts += 1
      last = toEmailOutcome(email, away, attempts, at)
    }
    expect(at - createdAt).toBeGreaterThan(dayMs - 2 * mailBackoff.delayMsMax)
    expect(at - createdAt).toBeLessThanOrEqual(dayMs)
    expect(Math.max(...delays)).toBeLessThanOrEqual(mailBackoff.delayMsMax * 1.2)
    expect(delays[0]).toBeLessThan(80_000)
    expect(toEmailStatus(last)).toBe("failed")
    expect(last.error).toContain("tried for a day")
  })
})
