import { createHash, randomInt } from "node:crypto"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { EmailContent, EmailStore } from "../emails/emails.ts"
import { getMail, type SendEmailDeps, toError } from "../emails/send-email.ts"
import type { Account, AccountStore } from "./accounts.ts"
import { type AuditDeps, toAuditEntry } from "./audit.ts"
import { getMe, type User, type UserStore } from "./users.ts"

/** A code that confirms an address, as it is stored. */
export interface EmailCode {
  readonly userId: string
  readonly email: string
  readonly hash: Uint8Array
  readonly expiresAt: number
}

/** Stores the codes that confirm addresses, one per user. */
export interface EmailCodeStore {
  /** Replaces the previous code. */
  put(code: EmailCode): Promise<void>
  /**
   * Marks the address as confirmed if the code was sent to it and is valid. Counts the attempt
   * otherwise, and returns false.
   */
  confirm(userId: string, hash: Uint8Array, at: number, attemptsMax: number): Promise<boolean>
}

/** What confirming addresses needs. */
export interface EmailAddressDeps extends Pick<SendEmailDeps, "mail" | "mailWorker"> {
  readonly users: UserStore
  readonly emailCodes: EmailCodeStore
  readonly emails: Pick<EmailStore, "add">
  /** The public address of the server, as the message names it. */
  readonly serverUrl: string
  newId(): string
  now(): number
}

const limits = {
  codeMs: 3_600_000,
  codeDigits: 8,
  attemptsMax: 10,
  codesPerDay: 5,
}

/** Sends a code to the address in the caller's profile. */
export async function sendEmailCode(deps: EmailAddressDeps, caller: Caller): Promise<void> {
  const mail = getMail(deps)
  const user = await getMe(deps, caller)
  if (user.email === null)
    throw new AppError("email_missing", "Cannot send a code: your profile has no email address")
  if (user.isEmailVerified)
    throw new AppError("email_verified", "Cannot send a code: your address is confirmed already")
  const made = makeOnce(() => ({ id: deps.newId(), at: deps.now(), code: makeCode() }))
  const content = toMessage(deps.serverUrl, user, made.code)
  const refusal = await deps.emails.add(
    {
      ...{ id: made.id, accountId: user.id, kind: "confirmation", runId: null, val: null },
      ...{ from: mail.senders.noticeAddress, recipients: [user.email], subject: content.subject },
      ...{ content: Buffer.from(JSON.stringify(content)), createdAt: made.at },
    },
    { ...mail.allowance, recipientsPerDay: limits.codesPerDay },
  )
  if (refusal) throw toError(refusal, mail)
  await deps.emailCodes.put({
    userId: user.id,
    email: user.email,
    hash: hashCode(user.id, made.code),
    expiresAt: made.at + limits.codeMs,
  })
  deps.mailWorker.wake()
}

/** Confirms the caller's address with the code that was sent to it. */
export async function confirmEmail(
  deps: Pick<EmailAddressDeps, "users" | "emailCodes" | "now">,
  caller: Caller,
  code: string,
): Promise<User> {
  const hash = hashCode(caller.userId, code)
  if (!(await deps.emailCodes.confirm(caller.userId, hash, deps.now(), limits.attemptsMax)))
    throw new AppError(
      "invalid_email_code",
      "Cannot confirm your address: the code is wrong or has expired, was tried too often, or was sent to another address",
    )
  return getMe(deps, caller)
}

/** Sets the address of a user as an administrator, who knows whose address it is. */
export async function setUserEmail(
  deps: AuditDeps & { readonly users: UserStore; readonly accounts: AccountStore },
  caller: Caller,
  userId: string,
  email: string | null,
): Promise<Account> {
  const audit = toAuditEntry(deps, caller, "user.set_email", { id: userId, name: null }, { email })
  const user = await deps.users.setEmail(userId, email, audit)
  const account = user && (await deps.accounts.find(userId))
  if (!account) throw new AppError("user_not_found", `Cannot find user "${userId}"`)
  return account
}

function makeCode(): string {
  return String(randomInt(10 ** limits.codeDigits)).padStart(limits.codeDigits, "0")
}

function hashCode(userId: string, code: string): Uint8Array {
  return createHash("sha256").update(`${userId} ${code}`).digest()
}

function toMessage(baseUrl: string, user: User, code: string): EmailContent {
  return {
    from: null,
    to: null,
    subject: `Confirm your email address for ${new URL(baseUrl).host}`,
    text: [
      `The user @${user.username} of ${baseUrl} has entered this email address.`,
      "If it was you, confirm it with this code:",
      "",
      `    ${code.slice(0, 4)} ${code.slice(4)}`,
      "",
      "The code is valid for an hour. If it was not you, ignore this message: without the code,",
      "the server uses this address for nothing else.",
    ].join("\n"),
  }
}
