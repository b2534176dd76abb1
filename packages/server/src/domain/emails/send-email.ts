import type { EmailBody } from "@hamlet/contract"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import type { UserStore } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { QuotaBook } from "../limits/quotas.ts"
import { RateLimited } from "../limits/rate-limit.ts"
import type { LiveRuns } from "../runs/live-runs.ts"
import type { RunStore } from "../runs/runs.ts"
import type { ValStore } from "../vals/vals.ts"
import { composeEmail, type Sender, type SenderRules } from "./compose-email.ts"
import {
  type Email,
  type EmailAllowance,
  type EmailReadDeps,
  type EmailRefusal,
  emailNotFound,
  getEmail,
} from "./emails.ts"

/** The operator's settings of outgoing mail. */
export interface MailSettings {
  readonly senders: SenderRules
  readonly recipientsMax: number
  /** The size of one email. */
  readonly bytesMax: number
  readonly allowance: EmailAllowance
}

/** What sending emails needs. */
export interface SendEmailDeps extends EmailReadDeps {
  /** Null if the server sends no mail. */
  readonly mail: MailSettings | null
  readonly users: Pick<UserStore, "findById">
  readonly vals: Pick<ValStore, "findById">
  readonly runs: Pick<RunStore, "find">
  readonly liveRuns: Pick<LiveRuns, "find">
  readonly quotas: QuotaBook
  readonly mailWorker: { wake(): void }
  newId(): string
  now(): number
}

/**
 * Accepts an email of the caller: it is stored, and sent in the background. `runId` is the run that
 * sends it, as the host knows it.
 */
export async function sendEmail(
  deps: SendEmailDeps,
  caller: Caller,
  body: EmailBody,
  runId: string | undefined,
): Promise<{ readonly id: string; readonly message: string }> {
  const mail = getMail(deps)
  const run = runId === undefined ? undefined : await findRun(deps, caller, runId)
  const sender = await findSender(deps, caller, run?.valId)
  const { from, recipients, content } = composeEmail(mail.senders, sender, body, mail.recipientsMax)
  const bytes = Buffer.from(JSON.stringify(content))
  if (bytes.length > mail.bytesMax)
    throw new AppError(
      "body_too_large",
      `Cannot send the email: it has more than ${mail.bytesMax} bytes with its attachments in base64`,
    )
  const { id, createdAt } = makeOnce(() => ({ id: deps.newId(), createdAt: deps.now() }))
  const refusal = await deps.emails.add(
    {
      ...{ id, accountId: caller.userId, kind: runId === undefined ? "api" : "val" },
      ...{ runId: run?.id ?? null, val: sender.val, from, recipients },
      ...{ subject: content.subject, content: bytes, createdAt },
    },
    allowanceOf(deps, mail, caller.userId),
  )
  if (refusal) throw toError(refusal, mail)
  deps.mailWorker.wake()
  return { id, message: "Email accepted" }
}

/** Sends a failed email again, to those who did not get it. Returns the new email. */
export async function resendEmail(deps: SendEmailDeps, caller: Caller, id: string): Promise<Email> {
  await getEmail(deps, caller, id)
  const mail = getMail(deps)
  const copy = makeOnce(() => ({ id: deps.newId(), at: deps.now() }))
  const result = await deps.emails.resend(
    caller.userId,
    id,
    copy,
    allowanceOf(deps, mail, caller.userId),
  )
  if (result.kind === "not_found") throw emailNotFound(id)
  if (result.kind === "not_failed")
    throw new AppError(
      "email_not_failed",
      `Cannot send email "${id}" again: it has not failed, or its content is no longer stored`,
    )
  if (result.kind !== "resent") throw toError(result, mail)
  deps.mailWorker.wake()
  return getEmail(deps, caller, copy.id)
}

/** The settings of mail. Throws if the server sends none. */
export function getMail({ mail }: Pick<SendEmailDeps, "mail">): MailSettings {
  if (mail) return mail
  throw new AppError(
    "mail_unavailable",
    "Cannot send the email: mail is not configured on this server: the operator sets HAMLET_SMTP_URL",
  )
}

/** A quota of the account replaces the limit of the server. */
export function allowanceOf(
  { quotas }: Pick<SendEmailDeps, "quotas">,
  { allowance }: MailSettings,
  userId: string,
): EmailAllowance {
  const own = quotas.find(userId)?.mailsPerDay
  return own === null || own === undefined ? allowance : { ...allowance, recipientsPerDay: own }
}

/** A run on the caller's account. A token of one user may be used by a val of another. */
async function findRun(
  { liveRuns, runs }: Pick<SendEmailDeps, "liveRuns" | "runs">,
  caller: Caller,
  id: string,
): Promise<{ readonly id: string; readonly valId: string } | undefined> {
  const live = liveRuns.find(id)
  if (live) return live.accountId === caller.userId ? live : undefined
  const found = await runs.find(caller.userId, id)
  return found && { id, valId: found.val.id }
}

/** Code that is not saved has no val. */
async function findSender(
  deps: Pick<SendEmailDeps, "users" | "vals">,
  { userId, username }: Caller,
  valId: string | undefined,
): Promise<Sender> {
  const [user, val] = await Promise.all([
    deps.users.findById(userId),
    valId === undefined ? undefined : deps.vals.findById(valId),
  ])
  return {
    username,
    val: val && val.ownerId === userId ? { id: val.id, name: val.name } : null,
    ownAddress: user?.isEmailVerified ? user.email : null,
  }
}

/** The error of an email that the account may not send now. */
export function toError(refusal: EmailRefusal, { allowance }: MailSettings): AppError {
  if (refusal.kind === "used_up")
    return new RateLimited(
      Math.max(1, Math.ceil(refusal.retryAfterMs / 1000)),
      "Cannot send the email: the account has used up its mail for this day;",
    )
  return new AppError(
    "quota_exceeded",
    `Cannot send the email: the emails of this account that wait or have failed take more than ${allowance.storedBytesMax} bytes`,
  )
}
