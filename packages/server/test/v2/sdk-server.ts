import { expectStatus } from "../support/api.ts"
import type { OpenDatabase } from "../support/databases.ts"
import { toEndedRun } from "../support/fakes/ended-run.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"
import { type Loopback, openLoopback } from "../support/loopback.ts"
import type { SdkAccount } from "./sdk-operations.ts"

/** Longer ago than a run needs to be recorded. */
const ranAgoMs = 60_000

/** A server on which every operation of the client can succeed. */
export interface SdkServer {
  readonly loopback: Loopback
  /** Adds a user with a run of a val. */
  addAccount(): Promise<SdkAccount>
  close(): Promise<void>
}

export async function openSdkServer(open: OpenDatabase): Promise<SdkServer> {
  const sink = await startMailSink()
  const loopback = await openLoopback(open, {
    HAMLET_DATA_DIR_SHARED: "yes",
    HAMLET_SMTP_URL: sink.url,
    HAMLET_MAIL_DOMAIN: "mail.test",
  })
  let accounts = 0
  return {
    loopback,
    async addAccount() {
      accounts += 1
      const { api, baseUrl } = loopback
      const user = await api.addUser(`sdk${accounts}`)
      const added = await api.call("POST", "/v1/vals", { as: user, body: { code: "1" } })
      const { id: valId, version } = expectStatus(added, 200).json
      const startedAt = Date.now() - ranAgoMs
      const logs = [
        { level: "error" as const, message: "Oh", at: new Date(startedAt + 1).toISOString() },
      ]
      const times = { startedAt, endedAt: startedAt + 5 }
      await api.hamlet.stores.runs.record([
        toEndedRun({ valId, version, ownerId: user.id, logs, ...times }),
      ])
      return { baseUrl, apiKey: user.token, userId: user.id, username: user.username }
    },
    async close() {
      await loopback.close()
      await sink.stop()
    },
  }
}
