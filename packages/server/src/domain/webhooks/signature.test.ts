import { describe, expect, test } from "bun:test"
import { Webhook } from "standardwebhooks"
import { listValidSecrets, makeWebhookSecret, signMessage } from "./signature.ts"

const now = () => Math.floor(Date.now() / 1000)
const toHeaders = (pairs: ReturnType<typeof signMessage>) => Object.fromEntries(pairs)

describe("signMessage", () => {
  test("signs what the reference implementation verifies, whatever the body contains", () => {
    for (const body of ["{}", '{"text":"é€😀\\u0000"}', `{"long":"${"x".repeat(100_000)}"}`]) {
      const secret = makeWebhookSecret()
      const message = { id: crypto.randomUUID(), timestamp: now(), body }
      const headers = toHeaders(signMessage(message, [secret]))
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
      for (const [name, changed] of [
        ["webhook-id", "another"],
        ["webhook-timestamp", String(message.timestamp - 1)],
        ["webhook-timestamp", String(message.timestamp - 600)],
      ] as const)
        expect(() => new Webhook(secret).verify(body, { ...headers, [name]: changed })).toThrow()
      expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow()
      expect(() => new Webhook(makeWebhookSecret()).verify(body, headers)).toThrow()
    }
  })

  test("signs with the same result as the reference implementation", () => {
    const secret = makeWebhookSecret()
    const at = new Date(1_700_000_000_000)
    const headers = toHeaders(
      signMessage({ id: "msg", timestamp: at.getTime() / 1000, body: "{}" }, [secret]),
    )
    expect(headers["webhook-signature"]).toBe(new Webhook(secret).sign("msg", at, "{}"))
  })
})

describe("listValidSecrets", () => {
  test("includes the previous secret until its time is over", () => {
    const secrets = { current: "new", previous: "old", previousUntil: 100 }
    expect(listValidSecrets(secrets, 99)).toEqual(["new", "old"])
    expect(listValidSecrets(secrets, 100)).toEqual(["new"])
    expect(listValidSecrets({ current: "only" }, 0)).toEqual(["only"])
  })
})
