import { raw, readClock } from "@hamlet/database"
import { type DatabaseView, hasTable } from "../database-view.ts"
import { about, type Findings, type Topic } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** Whether messages to webhooks, and mail, are sent. Nothing is sent by the check. */
export async function checkOutboxes(view: DatabaseView): Promise<Findings> {
  if (!(await hasTable(view, "webhook_deliveries"))) return []
  const nowMs = await readClock(view)
  const states = await view.read<{ status: string; count: number | string }>`
    select status, count(*) as count from webhooks group by status`
  const countOf = (status: string) =>
    Number(states.find((state) => state.status === status)?.count ?? 0)
  const disabled = countOf("disabled")
  const active = `${countOf("active")} active${disabled > 0 ? `, ${disabled} disabled because their receivers failed` : ""}`
  return [
    ...judge(about("webhooks"), active, await readWaiting(view, "webhook_deliveries"), nowMs),
    ...judge(about("mail to be sent"), undefined, await readWaiting(view, "emails"), nowMs),
  ]
}

interface Waiting {
  readonly count: number
  /** When the first of them is due. */
  readonly dueMs: number | undefined
}

async function readWaiting(
  view: DatabaseView,
  table: "webhook_deliveries" | "emails",
): Promise<Waiting> {
  const [row] = await view.read<{ count: number | string; due: number | string | null }>`
    select count(*) as count, min(next_attempt_at) as due from ${raw(table)} where next_attempt_at is not null`
  return { count: Number(row?.count ?? 0), dueMs: row?.due == null ? undefined : Number(row.due) }
}

function judge(
  check: Topic,
  before: string | undefined,
  { count, dueMs }: Waiting,
  nowMs: number,
): Findings {
  const waiting = count === 1 ? "1 message waits" : `${count === 0 ? "no" : count} messages wait`
  const found = before === undefined ? waiting : `${before}; ${waiting}`
  const lateMs = dueMs === undefined ? 0 : nowMs - dueMs
  if (lateMs <= limits.lateMsMax) return check.fine(found)
  return check.warning(
    `${found}, the first of them since ${Math.round(lateMs / 60_000)} minutes`,
    "start the server; if it runs, its log says why it does not send them",
  )
}
