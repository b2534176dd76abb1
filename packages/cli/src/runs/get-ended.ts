import type { Client } from "@hamlet/contract/client"
import { limits } from "../limits.ts"
import type { RunDetail } from "./runs.ts"

/** A run whose end was announced. That happens a moment before it can be read. */
export async function getEnded(client: Client, id: string): Promise<RunDetail> {
  const deadlineMs = Date.now() + limits.endMsMax
  for (let waitMs = 10; ; waitMs *= 2) {
    const run = await client.getRun({ run_id: id })
    if (run.runEndAt !== null || Date.now() >= deadlineMs) return run
    await Bun.sleep(waitMs)
  }
}
