import type { EmailBody } from "@hamlet/contract"
import type { PageRequest } from "@hamlet/database/page"
import { makeOnce, RateLimited, toOwnJson } from "@hamlet/kit"
import type { Caller } from "../../access/caller.ts"
import { isOfAccount } from "../../access/rights.ts"
import type { UserStore } from "../../accounts/users.ts"
import { AppError } from "../../app-error.ts"
import type { Clock } from "../../clock.ts"
import type { QuotaBook } from "../../limits/quotas.ts"
import type { LiveRuns } from "../../runs/live-runs.ts"
import type { RunStore } from "../../runs/runs.ts"
import type { ValStore } from "../../vals/vals.ts"
import { type ComposedEmail, composeEmail, type Sender, type SenderRules } from "./compose-email.ts"
import type {
  Email,
  EmailAllowance,
  EmailCode,
  EmailRefusal,
  EmailStatus,
  EmailStore,
  NewEmail,
} from "./emails.ts"

/** The operator's settings of outgoing mail. */
export interface MailSettings {
  readonly senders: SenderRules
  readonly recipientsMax: number
  /** The size of one email. */
  readonly bytesMax: number
  readonly allowance: EmailAllowance
}

/** Where an email comes from: the user, the run and the val that send it. */
export interface SenderStores {
  readonly users: Pick<UserStore, "findById">
  readonly vals: Pick<ValStore, "findById">
  readonly runs: Pick<RunStore, "find">
}

const runEmailsMax = 100

/** The rules of outgoing mail. */
export type OutgoingMail = ReturnType<typeof createOutgoingMail>

interface OutgoingMailParts {
  readonly store: EmailStore
  readonly settings: MailSettings | null
  readonly stores: SenderStores
  readonly liveRuns: Pick<LiveRuns, "find">
  readonly quotas: QuotaBook
  readonly sending: { wake(): void }
  readonly clock: Clock
}

/**
 * Creates the rules of outgoing mail. `settings` is null if the server sends no mail; `sending` is
 * woken when an email waits.
 */
export function createOutgoingMail({
  store,
  settings,
  stores,
  liveRuns,
  quotas,
  sending,
  clock: { newId, now },
}: OutgoingMailParts) {
  const get = async ({ ownerId }: Caller, id: string): Promise<Email> => {
    const email = await store.find(ownerId, id)
    if (!email) throw emailNotFound(id)
    return email
  }
  /** Stores an email, which is sent in the background. Throws if the account may send no more. */
  const add = async (
    email: NewEmail,
    allowance: EmailAllowance,
    code?: EmailCode,
  ): Promise<void> => {
    const refusal = await store.add(email, allowance, code)
    if (refusal) throw toError(refusal, allowance)
    sending.wake()
  }
  return {
    /** An email of the caller's account. */
    get,
    /** The emails of the caller's account. */
    list: ({ ownerId }: Caller, status: EmailStatus | undefined, page: PageRequest) =>
      store.list(ownerId, status, page),
    /** The emails that a run has sent. Only the user on whose account it ran sees them. */
    listOfRun: ({ ownerId }: Caller, runId: string) =>
      store.listOfRun(ownerId, runId, runEmailsMax),
    /** What a user has sent today, and may send; null if the server sends no mail. */
    async readUsage(userId: string) {
      const used = settings && (await store.findUsed(userId, now()))
      return used && { ...used, ...allowanceOf(settings, quotas, userId) }
    },
    /** The settings of mail. Throws if the server sends none. */
    getSettings: () => getSettings(settings),
    add,
    /**
     * Accepts an email of the caller: it is stored, and sent in the background. `runId` is the run
     * that sends it, as the host knows it.
     */
    async send(caller: Caller, body: EmailBody, runId: string | undefined) {
      const mail = getSettings(settings)
      const run = runId === undefined ? undefined : await findRun(stores, liveRuns, caller, runId)
      const sender = await findSender(stores, caller, run?.valId)
      const composed = composeEmail(mail.senders, sender, body, mail.recipientsMax)
      const email = toNewEmail(mail, composed)
      const { id, createdAt } = makeOnce(() => ({ id: newId(), createdAt: now() }))
      const { ownerId: accountId } = caller
      const kind = runId === undefined ? "api" : "val"
      const from = { accountId, kind, runId: run?.id ?? null, val: sender.val } as const
      await add({ ...email, ...from, id, createdAt }, allowanceOf(mail, quotas, caller.ownerId))
      return { id, message: "Email accepted" }
    },
    /** Sends a failed email again, to those who did not get it. Returns the new email. */
    async resend(caller: Caller, id: string): Promise<Email> {
      await get(caller, id)
      const allowance = allowanceOf(getSettings(settings), quotas, caller.ownerId)
      const copy = makeOnce(() => ({ id: newId(), at: now() }))
      const result = await store.resend(caller.ownerId, id, copy, allowance)
      if (result.kind === "not_found") throw emailNotFound(id)
      if (result.kind === "not_failed") throw emailNotFailed(id)
      if (result.kind !== "resent") throw toError(result, allowance)
      sending.wake()
      return get(caller, copy.id)
    },
  }
}

function getSettings(settings: MailSettings | null): MailSettings {
  if (settings) return settings
  throw new AppError(
    "mail_unavailable",
    "Cannot send the email: mail is not configured on this server: the operator sets HAMLET_SMTP_URL",
  )
}

/** A quota of the account replaces the limit of the server. */
function allowanceOf({ allowance }: MailSettings, quotas: QuotaBook, userId: string) {
  const own = quotas.find(userId)?.mailsPerDay
  return own === null || own === undefined ? allowance : { ...allowance, recipientsPerDay: own }
}

/** A run on the caller's account. A token of one user may be used by a val of another. */
async function findRun(
  { runs }: SenderStores,
  liveRuns: Pick<LiveRuns, "find">,
  caller: Caller,
  id: string,
): Promise<{ readonly id: string; readonly valId: string } | undefined> {
  const live = liveRuns.find(id)
  if (live) return live.accountId === caller.ownerId ? live : undefined
  const found = await runs.find(caller, id)
  return found && { id, valId: found.val.id }
}

/** Code that is not saved has no val. */
async function findSender(
  { users, vals }: SenderStores,
  { ownerId, ownerName }: Caller,
  valId: string | undefined,
): Promise<Sender> {
  const [user, val] = await Promise.all([
    users.findById(ownerId),
    valId === undefined ? undefined : vals.findById(valId),
  ])
  return {
    username: ownerName,
    val: val && isOfAccount(val, { ownerId }) ? { id: val.id, name: val.name } : null,
    ownAddress: user?.isEmailVerified ? user.email : null,
  }
}

function toNewEmail({ bytesMax }: MailSettings, { from, recipients, content }: ComposedEmail) {
  const bytes = Buffer.from(toOwnJson(content))
  if (bytes.length > bytesMax)
    throw new AppError(
      "body_too_large",
      `Cannot send the email: it has more than ${bytesMax} bytes with its attachments in base64`,
    )
  return { from, recipients, subject: content.subject, content: bytes }
}

function emailNotFound(id: string): AppError {
  return new AppError("email_not_found", `Cannot find email "${id}" among those of your account`)
}

function emailNotFailed(id: string): AppError {
  return new AppError(
    "email_not_failed",
    `Cannot send email "${id}" again: it has not failed, or its content is no longer stored`,
  )
}

/** The error of an email that the account may not send now. */
function toError(refusal: EmailRefusal, { storedBytesMax }: EmailAllowance): AppError {
  if (refusal.kind === "used_up")
    return new RateLimited(
      Math.max(1, Math.ceil(refusal.retryAfterMs / 1000)),
      "Cannot send the email: the account has used up its mail for this day;",
    )
  return new AppError(
    "quota_exceeded",
    `Cannot send the email: the emails of this account that wait or have failed take more than ${storedBytesMax} bytes`,
  )
}
