import type { TestEmailBody } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import type { UserStore } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import { getRun, type RunDeps, type RunDetail } from "../runs/runs.ts"
import { assertOwner, getVal, type Val } from "../vals/vals.ts"
import { type MailReader, MailRefused, type ReadMail } from "./mail.ts"
import { toMailAddress } from "./mail-address.ts"
import {
  type EmailArgument,
  encodeMail,
  type MailFile,
  toRecordedArgument,
} from "./mail-content.ts"
import { noMailAuth, type ReceiveDeps, receiveMail } from "./receive-mail.ts"

/** What trying a val of type `email` needs. */
export interface TestMailDeps extends ReceiveDeps, RunDeps {
  readonly users: Pick<UserStore, "findById">
  readonly mailReader: MailReader
}

/** Runs a val of the caller as if a mail had come. Returns the run, which is queued. */
export async function sendTestEmail(
  deps: TestMailDeps,
  caller: Caller,
  valId: string,
  input: TestEmailBody,
): Promise<RunDetail> {
  const val = await getVal(deps, caller, valId)
  assertOwner(val, caller)
  if (val.type !== "email")
    throw new AppError(
      "not_email",
      `Cannot send a mail to val "${val.name}": it is of type ${val.type}, not email`,
    )
  const to = toMailAddress(deps.mailRules.loops?.domain ?? "localhost", val)
  const [runId = ""] = await asAppError(val, async () => {
    const mail =
      input.raw === undefined
        ? await composeMail(deps, caller, to, input)
        : await deps.mailReader.read(toMessage(input.raw), undefined)
    return receiveMail(deps, mail, [{ address: to, val: toMailVal(val) }], true)
  })
  return getRun(deps, caller, runId)
}

function toMailVal({ id, ownerId, privacy, isOwnerSuspended }: Val) {
  return { id, ownerId, privacy, isOwnerSuspended, ownerAddress: null }
}

/** Files on disk often have line ends of the system. */
function toMessage(raw: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(raw.replaceAll(/\r\n|\r|\n/g, "\r\n"))
}

type Address = NonNullable<TestEmailBody["from"]>

async function composeMail(
  deps: TestMailDeps,
  caller: Caller,
  to: string,
  input: TestEmailBody,
): Promise<ReadMail> {
  // One that a val can reply to, though no mail server finds it.
  const own = (await deps.users.findById(caller.userId))?.email ?? `${caller.username}@test.invalid`
  const sender = input.from ?? own
  const fromAddress = toParts(sender).email.toLowerCase()
  const cc = [input.cc ?? []].flat().map(toText)
  const id = `${deps.newId()}@localhost`
  const date = new Date(deps.now()).toISOString()
  const auth = { ...noMailAuth, isFromVerified: fromAddress === own.toLowerCase() }
  const email: EmailArgument = {
    from: toText(sender),
    to: [to],
    ...(cc.length === 0 ? {} : { cc }),
    ...{ subject: input.subject, text: input.text, html: input.html },
    ...{ date, messageId: `<${id}>`, envelopeFrom: fromAddress, auth },
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
    ...{ fromAddress, content, fingerprint: undefined, signature: undefined },
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
    type: type ?? "application/octet-stream",
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
