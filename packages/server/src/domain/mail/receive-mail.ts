import { createHash } from "node:crypto"
import type { TokenBuckets } from "../../shared/token-bucket.ts"
import { AppError } from "../app-error.ts"
import type { NewObject, ObjectStore, StoredObject } from "../blobs/objects.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { QueueRoom, RunQueue } from "../queue/run-queue.ts"
import { type MailAuth, MailRefused, type ReadMail, type RunEmail } from "./mail.ts"
import type { MailTarget } from "./mail-address.ts"
import { assertNoLoop, assertReceives, type LoopRules, type MailVal } from "./mail-rules.ts"

/** How much mail the vals of one account may have. */
export interface MailboxLimits {
  /** Messages whose content is stored. */
  readonly messagesMax: number
  readonly bytesMax: number
}

/** A message for one val, as it is stored. */
export interface NewMail {
  readonly runId: string
  readonly val: MailVal
  readonly email: RunEmail
  readonly recorded: unknown
  /** Small content is stored in the row, other content is an object. */
  readonly content: Uint8Array | NewObject
  readonly bytes: number
  /** The message and its recipient; a second one within a day is dropped. */
  readonly key: string | undefined
  readonly at: number
}

/** A message for one val that is not stored yet. */
export type MailCandidate = Pick<NewMail, "val" | "bytes" | "key" | "at">

/** Stores mail. */
export interface MailStore {
  /** The val of type `email` at that address. */
  findVal(target: MailTarget): Promise<MailVal | undefined>
  /**
   * The messages that `add` would store as things are now. Throws MailRefused as it does. For large
   * messages: their content is not written only to be deleted again.
   */
  findNew<Mail extends MailCandidate>(
    mails: readonly Mail[],
    limits: MailboxLimits,
  ): Promise<readonly Mail[]>
  /**
   * Stores all messages and queues their runs, or does neither. `assert` gets each val as it is in
   * the transaction. Returns the ids of the runs; a message that had come before has none.
   */
  add(
    mails: readonly NewMail[],
    limits: MailboxLimits,
    assert: (mail: NewMail, val: MailVal | undefined) => void,
  ): Promise<readonly string[]>
  /** The content of the message that started the run, and the address it was sent to. */
  findContent(runId: string): Promise<StoredMail | undefined>
  /** Deletes content that no run needs any more, starting behind a run. Returns the last one seen. */
  purge(after: string, endedBefore: number, at: number): Promise<string | undefined>
  /** Forgets messages that came before then. Returns false when there are none left. */
  purgeKeys(before: number): Promise<boolean>
}

/** A stored message. */
export interface StoredMail {
  readonly to: string
  readonly content: Uint8Array | StoredObject
  /** Its size. */
  readonly bytes: number
}

/** What receiving mail needs. */
export interface ReceiveDeps {
  readonly mails: MailStore
  readonly objects: ObjectStore
  readonly allowances: Pick<Allowances, "takeRun">
  readonly mailRules: ReceiveRules
  /** Messages per minute of each account. */
  readonly mailRates: TokenBuckets
  readonly queue: Pick<RunQueue, "wake">
  readonly queueRoom: QueueRoom
  newId(): string
  now(): number
}

/** The rules of a server. */
export interface ReceiveRules {
  /** Undefined on a server that receives no mail. */
  readonly loops: LoopRules | undefined
  readonly mailbox: MailboxLimits
  readonly perAccountPerMinute: number | undefined
}

/** A val that a message is for. */
export interface MailRecipient {
  /** As the sender wrote it, with a tag if there is one. */
  readonly address: string
  readonly val: MailVal | undefined
}

const limits = {
  /** Content up to this size is stored in the row of the message. */
  rowBytesMax: 65_536,
}

/**
 * Queues a run of every recipient. Resolves when messages and runs are on disk. Throws MailRefused,
 * or an AppError if the server cannot store the message now; nothing is stored then.
 */
export async function receiveMail(
  deps: ReceiveDeps,
  mail: ReadMail,
  recipients: readonly MailRecipient[],
  isTest = false,
): Promise<readonly string[]> {
  const { loops, mailbox } = deps.mailRules
  if (loops && !isTest) assertNoLoop(mail.loop, loops)
  // A val has several addresses, and gets a message once.
  const byVal = new Map<string, { readonly address: string; readonly val: MailVal }>()
  for (const { address, val } of recipients) {
    if (!isTest) assertReceives(val, mail, { address, at: deps.now() })
    if (val && !byVal.has(val.id)) byVal.set(val.id, { address, val })
  }
  for (const { val } of byVal.values()) await takeAllowance(deps, val.ownerId)
  const received = [...byVal.values()].map(({ address, val }) => ({
    runId: deps.newId(),
    val,
    email: { ...mail.email, to: address, isTest },
    recorded: mail.recorded,
    bytes: mail.content.length,
    key: isTest ? undefined : toKey(mail.fingerprint, val.id),
    at: deps.now(),
  }))
  const isLarge = mail.content.length > limits.rowBytesMax
  const stored = isLarge ? await deps.mails.findNew(received, mailbox) : received
  const objects: NewObject[] = []
  try {
    const mails: NewMail[] = []
    for (const one of stored) {
      const content = isLarge
        ? await deps.objects.write(one.val.ownerId, inPieces(mail.content))
        : mail.content
      if (!(content instanceof Uint8Array)) objects.push(content)
      mails.push({ ...one, content })
    }
    const runIds = await deps.mails.add(mails, mailbox, ({ email, at }, val) => {
      if (!isTest) assertReceives(val, mail, { address: email.to, at })
      else if (!val) throw new MailRefused("unknown_recipient", "the val was deleted meanwhile")
    })
    if (runIds.length > 0) deps.queue.wake()
    return runIds
  } finally {
    // Does nothing to content that a stored message refers to.
    for (const object of objects) await deps.objects.discard(object)
  }
}

/** The results of checks that do not apply. */
export const noMailAuth: MailAuth = {
  spf: "none",
  dkim: "none",
  dmarc: "none",
  isFromVerified: false,
}

async function takeAllowance(
  { allowances, mailRates, mailRules, queueRoom }: ReceiveDeps,
  ownerId: string,
): Promise<void> {
  const { perAccountPerMinute } = mailRules
  if (perAccountPerMinute !== undefined && mailRates.take(ownerId, perAccountPerMinute) > 0)
    throw new MailRefused("account_limit", "the recipient gets too much mail; try again later")
  try {
    allowances.takeRun(ownerId)
    await queueRoom.take(ownerId)
  } catch (error) {
    if (error instanceof AppError && ["rate_limited", "queue_full"].includes(error.code))
      throw new MailRefused("account_limit", "the recipient has too many runs; try again later")
    throw error
  }
}

/** Pieces, so that the store writes while other requests go on. */
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += limits.rowBytesMax)
    yield bytes.subarray(at, at + limits.rowBytesMax)
}

function toKey(fingerprint: string | undefined, valId: string): string | undefined {
  if (fingerprint === undefined) return undefined
  return createHash("sha256").update(`${valId}/${fingerprint}`).digest("hex")
}
