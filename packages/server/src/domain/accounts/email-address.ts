import { randomInt } from "node:crypto"
import { makeOnce, sha256, toOwnJson } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { EmailContent } from "../mail/outbound/emails.ts"
import type { OutgoingMail } from "../mail/outbound/send-email.ts"
import type { Account, AccountStore } from "./accounts.ts"
import { toAuditEntry } from "./audit.ts"
import { type User, type UserStore, type Users, userNotFound } from "./users.ts"

/** Stores the codes that confirm addresses, one per user. */
export interface EmailCodeStore {
  /**
   * Marks the address as confirmed if the code was sent to it and is valid. Counts the attempt
   * otherwise, and returns false.
   */
  confirm(userId: string, hash: Uint8Array, at: number, attemptsMax: number): Promise<boolean>
}

const limits = {
  codeMs: 3_600_000,
  codeDigits: 8,
  attemptsMax: 10,
  codesPerDay: 5,
}

/** The rules of the addresses of users. */
export type EmailAddresses = ReturnType<typeof createEmailAddresses>

/** Creates the rules of addresses. Messages name `serverUrl`, the public address of the server. */
export function createEmailAddresses(
  stores: {
    readonly users: UserStore
    readonly accounts: AccountStore
    readonly emailCodes: EmailCodeStore
  },
  users: Users,
  outgoingMail: Pick<OutgoingMail, "getSettings" | "add">,
  serverUrl: string,
  clock: Clock,
) {
  return {
    /** Sends a code to the address in the caller's profile. */
    async sendCode(caller: Caller): Promise<void> {
      const mail = outgoingMail.getSettings()
      const user = await users.get(caller.actorId)
      if (user.email === null)
        throw new AppError("email_missing", "Cannot send a code: your profile has no email address")
      if (user.isEmailVerified)
        throw new AppError(
          "email_verified",
          "Cannot send a code: your address is confirmed already",
        )
      const made = makeOnce(() => ({ id: clock.newId(), at: clock.now(), code: makeCode() }))
      const content = toMessage(serverUrl, user, made.code)
      await outgoingMail.add(
        {
          id: made.id,
          accountId: user.id,
          kind: "confirmation",
          runId: null,
          val: null,
          from: mail.senders.noticeAddress,
          recipients: [user.email],
          subject: content.subject,
          content: Buffer.from(toOwnJson(content)),
          createdAt: made.at,
        },
        { ...mail.allowance, recipientsPerDay: limits.codesPerDay },
        // In one transaction: a message that is sent has a code that works.
        {
          userId: user.id,
          email: user.email,
          hash: hashCode(user.id, made.code),
          expiresAt: made.at + limits.codeMs,
        },
      )
    },
    /** Confirms the caller's address with the code that was sent to it. */
    async confirm({ actorId }: Caller, code: string): Promise<User> {
      const hash = hashCode(actorId, code)
      if (await stores.emailCodes.confirm(actorId, hash, clock.now(), limits.attemptsMax))
        return users.get(actorId)
      throw new AppError(
        "invalid_email_code",
        "Cannot confirm your address: the code is wrong or has expired, was tried too often, or was sent to another address",
      )
    },
    /** Sets the address of a user as an administrator, who knows whose address it is. */
    async set(caller: Caller, userId: string, email: string | null): Promise<Account> {
      const subject = { id: userId, name: null }
      const audit = toAuditEntry(clock, caller, "user.set_email", subject, { email })
      const user = await stores.users.setEmail(userId, email, audit)
      const account = user && (await stores.accounts.find(userId))
      if (!account) throw userNotFound(userId)
      return account
    },
  }
}

function makeCode(): string {
  return String(randomInt(10 ** limits.codeDigits)).padStart(limits.codeDigits, "0")
}

function hashCode(userId: string, code: string): Uint8Array {
  return sha256(`${userId} ${code}`)
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
