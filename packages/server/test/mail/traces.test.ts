import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { openApi } from "../support/api.ts"
import { describeSqlite } from "../support/databases.ts"
import { FakeRunner } from "../support/fakes/fake-runner.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"
import { startOtlpReceiver } from "../support/fakes/otlp-receiver.ts"
import { startReceiver } from "../support/fakes/webhook-receiver.ts"
import { mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

describeSqlite("traces of the background", (open) => {
  test("a mail in, a mail out and an event have spans, whose parts name them as the parent", async () => {
    using collector = startOtlpReceiver()
    const sink = await startMailSink()
    const receiver = startReceiver()
    const api = await openApi(
      open,
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        HAMLET_MAIL_DOMAIN: mailDomain,
        HAMLET_SMTP_PORT: "0",
        HAMLET_SMTP_HOST: "127.0.0.1",
        // Nothing answers there.
        HAMLET_MAIL_DNS: "127.0.0.1:1",
        HAMLET_SMTP_URL: sink.url,
        HAMLET_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
      },
      { runner: new FakeRunner() },
    )
    try {
      const ada = await api.addUser("ada")
      const code = "export default () => 1"
      const post = async (path: string, body: object) =>
        expect((await api.call("POST", path, { as: ada, body })).status).toBeLessThan(300)
      await post("/v1/vals", { name: "inbox", code, type: "email", privacy: "public" })
      await post("/v1/me/webhooks", { url: receiver.url(), events: ["run.succeeded"] })
      await post("/v1/email", { to: "bob@example.org", text: "hunter2" })
      const client = await SmtpClient.open((await api.hamlet.mailServer?.listen()) ?? 0)
      const from = "eve@sender.example.com"
      await client.begin(from, `ada.inbox@${mailDomain}`)
      expect(await client.data(`From: ${from}\r\n\r\nhunter2`)).toStartWith("250")
      client.close()
      const [hook] = await receiver.waitFor(1)
      const find = (wanted: string) => collector.spans.find(({ name }) => name === wanted)
      const names = ["receive mail", "send mail", "webhook delivery"]
      await waitUntil(() => collector.problems.length > 0 || names.every(find))
      expect(collector.problems).toEqual([])
      expect(names.map((name) => [find(name)?.kind, find(name)?.parentId])).toEqual([
        [5, ""],
        [3, ""],
        [3, ""],
      ])
      for (const name of names) {
        const root = find(name)
        const parts = collector.spans.filter(({ traceId }) => traceId === root?.traceId)
        expect(parts).toContainEqual(
          expect.objectContaining({ name: "database write", parentId: root?.spanId }),
        )
      }
      // The receiver can continue the trace.
      const delivery = find("webhook delivery")
      expect(hook?.headers.traceparent).toBe(`00-${delivery?.traceId}-${delivery?.spanId}-01`)
      expect(Bun.inspect(collector.spans, { depth: 9 })).not.toContain("hunter2")
    } finally {
      await api.close()
      await Promise.all([sink.stop(), receiver.stop()])
    }
  })
})
