import type { accountLog, run, runDetail, runEmail } from "@hamlet/contract"
import type { z } from "zod"
import type { Email } from "../../domain/emails/emails.ts"
import type { RunEmail } from "../../domain/mail/mail.ts"
import type { AccountLog } from "../../domain/runs/follow/account-logs.ts"
import type { Run, RunDetail, RunMessage } from "../../domain/runs/runs.ts"
import type { Links } from "./links.ts"
import { toEmailView, toMentionView } from "./views.ts"

// Each view lists its fields, so that a new column is never public by accident.

/** A run in a list. */
export function toRunView(it: Run): z.infer<typeof run> {
  return {
    id: it.id,
    parentId: it.parentId,
    runStartAt: toTime(it.startedAt),
    runEndAt: toTimeOrNull(it.endedAt),
    error: it.error,
    source: it.source,
    status: it.status,
    durationMs: it.endedAt === null ? null : Math.max(0, it.endedAt - it.startedAt),
    attempt: it.attempt,
    val: toMentionView(it.val),
    request: it.request,
    mail: it.mail,
    lastLine: it.lastLine,
  }
}

/** A log line with its run and its val. */
export function toAccountLogView(it: AccountLog): z.infer<typeof accountLog> {
  return { runId: it.runId, val: toMentionView(it.val), line: it.line }
}

/** A run with logs, arguments, result and egress. */
export function toRunDetailView(
  it: RunDetail,
  emails: readonly Email[],
  requestContent: RunMessage | null,
  links: Links,
): z.infer<typeof runDetail> {
  return {
    ...toRunView(it),
    args: it.args,
    returnValue: it.returnValue,
    logs: [...it.logs],
    logsTruncated: it.logsTruncated,
    logsOmitted: it.logGap,
    emails: emails.map((email) => toEmailView(email, links)),
    email: it.email && toRunEmailView(it.email),
    requestContent,
    responseContent: it.response,
    egress: it.egress && {
      ...it.egress,
      list: it.egress.list.map((one) => ({ ...one, at: toTime(one.at) })),
    },
  }
}

function toRunEmailView(it: RunEmail): z.infer<typeof runEmail> {
  return {
    from: it.from,
    to: it.to,
    subject: it.subject,
    messageId: it.messageId,
    bytes: it.bytes,
    attachments: it.attachments,
    isTest: it.isTest,
    auth: {
      spf: it.auth.spf,
      dkim: it.auth.dkim,
      dmarc: it.auth.dmarc,
      isFromVerified: it.auth.isFromVerified,
    },
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms)
}
