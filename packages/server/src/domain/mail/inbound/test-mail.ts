import type { TestEmailBody } from "@hamlet/contract"
import type { Caller } from "../../access/caller.ts"
import { assertMayChange } from "../../access/rights.ts"
import type { UserStore } from "../../accounts/users.ts"
import { AppError } from "../../app-error.ts"
import type { Clock } from "../../clock.ts"
import { hasMailAddress } from "../../files/addresses.ts"
import type { StartedPlace } from "../../files/started-files.ts"
import type { Calls } from "../../runs/calls.ts"
import type { RunDetail, Runs } from "../../runs/runs.ts"
import type { Val } from "../../vals/vals.ts"
import { type MailReader, MailRefused, noMailAuth, type ReadMail } from "./mail.ts"
import { toFileMailAddress, toMailAddress } from "./mail-address.ts"
import {
  type EmailArgument,
  encodeMail,
  type MailFile,
  toAttachmentType,
  toRecordedArgument,
} from "./mail-content.ts"
import type { Mailbox } from "./receive-mail.ts"

/** Mails that owners send to their own vals, to try them. */
export type TestMails = ReturnType<typeof createTestMails>

interface TestMailsParts {
  readonly calls: Pick<Calls, "findVal">
  readonly runs: Runs
  readonly users: Pick<UserStore, "findById">
  readonly reader: MailReader
  readonly mailbox: Mailbox
  readonly domain: string
  readonly clock: Clock
}

/** Creates the rules of test mails. `domain` is that of the vals' mail addresses. */
export function createTestMails({
  calls,
  runs,
  users,
  reader,
  mailbox,
  domain,
  clock,
}: TestMailsParts) {
  return {
    /**
     * Runs a val of the caller, or a file of it, as if a mail had come. Returns the run, which is
     * queued.
     */
    async send(
      caller: Caller,
      valId: string,
      place: StartedPlace,
      input: TestEmailBody,
    ): Promise<RunDetail> {
      const val = await calls.findVal(caller, valId, place)
      assertMayChange(val, caller)
      if (val.type !== "email") {
        const where = val.file.isEntry ? `val "${val.name}"` : `"${val.file.path}" of "${val.name}"`
        throw new AppError(
          "not_email",
          `Cannot send a mail to ${where}: it is of type ${val.type}, not email`,
        )
      }
      const to = hasMailAddress(val)
        ? toMailAddress(domain, val)
        : toFileMailAddress(domain, val.file.id)
      const [runId = ""] = await asAppError(val, async () => {
        const mail =
          input.raw === undefined
            ? await composeMail(users, clock, caller, to, input)
            : await reader.read([new TextEncoder().encode(input.raw)], caller.ownerId)
        return mailbox.receive(mail, [{ address: to, val: toMailVal(val) }], true)
      })
      return runs.get(caller, runId)
    },
  }
}

function toMailVal({ id, file, ownerId, privacy, isOwnerSuspended }: Val) {
  return { id, file, ownerId, privacy, isOwnerSuspended, ownerAddress: null }
}

type Address = NonNullable<TestEmailBody["from"]>

async function composeMail(
  users: Pick<UserStore, "findById">,
  { newId, now }: Clock,
  caller: Caller,
  to: string,
  input: TestEmailBody,
): Promise<ReadMail> {
  // One that a val can reply to, though no mail server finds it.
  const own = (await users.findById(caller.ownerId))?.email ?? `${caller.ownerName}@test.invalid`
  const sender = input.from ?? own
  const fromAddress = toParts(sender).email.toLowerCase()
  const cc = [input.cc ?? []].flat().map(toText)
  const id = `${newId()}@localhost`
  const date = new Date(now()).toISOString()
  const auth = { ...noMailAuth, isFromVerified: fromAddress === own.toLowerCase() }
  const email: EmailArgument = {
    from: toText(sender),
    to: [to],
    ...(cc.length === 0 ? {} : { cc }),
    subject: input.subject,
    text: input.text,
    html: input.html,
    date,
    messageId: `<${id}>`,
    envelopeFrom: fromAddress,
    auth,
    headers: {
      from: toText(sender),
      to,
      ...(cc.length === 0 ? {} : { cc: cc.join(", ") }),
      ...(input.subject === undefined ? {} : { subject: input.subject }),
      date,
      "message-id": `<${id}>`,
    },
  }
  const files = (input.attachments ?? []).map(toFile)
  const content = encodeMail(email, files)
  return {
    fromAddress,
    content,
    fingerprint: undefined,
    signature: undefined,
    email: {
      from: email.from,
      subject: input.subject ?? null,
      messageId: id,
      bytes: content.length,
      attachments: files.length,
      auth,
    },
    recorded: toRecordedArgument(email, files),
    loop: { autoSubmitted: undefined, messageId: id, hops: 0 },
  }
}

function toFile({
  filename,
  type,
  content,
}: NonNullable<TestEmailBody["attachments"]>[number]): MailFile {
  return {
    name: filename,
    type: toAttachmentType(type) ?? "application/octet-stream",
    bytes: Buffer.from(content, "base64"),
  }
}

function toParts(address: Address): { readonly email: string; readonly name?: string | undefined } {
  return typeof address === "string" ? { email: address } : address
}

function toText(address: Address): string {
  const { email, name } = toParts(address)
  return name ? `${name} <${email}>` : email
}

async function asAppError<T>(val: Val, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error
    const isLimit = error.reason === "account_limit" || error.reason === "mailbox_full"
    throw new AppError(
      isLimit ? "too_many_runs" : "mail_refused",
      `Cannot send the mail to val "${val.name}": ${error.message}`,
      { cause: error },
    )
  }
}
