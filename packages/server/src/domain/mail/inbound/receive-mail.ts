import type { SharedRates } from "@hamlet/kit"
import { sha256 } from "@hamlet/kit"
import type { MailCall } from "@hamlet/sandbox"
import { AppError } from "../../app-error.ts"
import type { NewObject, ObjectStore, StoredObject } from "../../blobs/objects.ts"
import type { Clock } from "../../clock.ts"
import type { Allowances } from "../../limits/allowances.ts"
import type { QueueRoom, RunQueue } from "../../queue/run-queue.ts"
import { MailRefused, type ReadMail, type RunEmail } from "./mail.ts"
import type { MailTarget } from "./mail-address.ts"
import { withRecipient } from "./mail-content.ts"
import {
  assertNoLoop,
  assertReceives,
  type LoopRules,
  type MailVal,
  suspended,
} from "./mail-rules.ts"

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
  /** The file of type `email` at that address. */
  findVal(target: MailTarget): Promise<MailVal | undefined>
  /**
   * The messages that `add` would store now. Throws MailRefused as it does. Large messages are asked
   * about first, so that their content is not written only to be deleted again.
   */
  findNew<Mail extends MailCandidate>(
    mails: readonly Mail[],
    limits: MailboxLimits,
  ): Promise<readonly Mail[]>
  /**
   * Stores all messages and queues their runs, or does neither. `assert` gets each val as it is in
   * the transaction. Returns the ids of the runs; a message that had come before has none. An
   * idempotent request that is repeated gets the ids that it got before.
   */
  add(
    mails: readonly NewMail[],
    limits: MailboxLimits,
    assert: (mail: NewMail, val: MailVal | undefined) => void,
  ): Promise<readonly string[]>
  /** Throws MailRefused if the account has no room for any message. */
  assertRoom(ownerId: string, limits: MailboxLimits): Promise<void>
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

/** The rules of a server. */
export interface ReceiveRules {
  /** Undefined on a server that receives no mail. */
  readonly loops: LoopRules | undefined
  readonly mailbox: MailboxLimits
  readonly perAccountPerMinute: number | undefined
}

/** A val that a message is for. */
export interface MailRecipient {
  /** The address as the sender wrote it, with a tag if there is one. */
  readonly address: string
  readonly val: MailVal | undefined
}

const limits = {
  /** Content up to this size is stored in the row of the message. */
  rowBytesMax: 65_536,
}

/** Receives mail for vals. */
export type Mailbox = ReturnType<typeof createMailbox>

interface MailboxParts {
  readonly store: MailStore
  readonly objects: ObjectStore
  readonly allowances: Pick<Allowances, "hasRun" | "countRun">
  readonly queue: Pick<RunQueue, "wake">
  readonly room: Pick<QueueRoom, "has" | "add">
  readonly rules: ReceiveRules
  readonly rates: Pick<SharedRates, "hasToken" | "charge">
  readonly clock: Clock
}

/** Creates the mailbox. `rates` are the messages per minute of each account. */
export function createMailbox({
  store,
  objects,
  allowances,
  queue,
  room,
  rules: { loops, mailbox, perAccountPerMinute },
  rates,
  clock: { newId, now },
}: MailboxParts) {
  const assertAllowance = async (ownerId: string) => {
    if (perAccountPerMinute !== undefined && !(await rates.hasToken(ownerId, perAccountPerMinute)))
      throw new MailRefused("account_limit", "the recipient gets too much mail; try again later")
    if (!(await allowances.hasRun(ownerId))) throw tooManyRuns()
  }
  /** Takes what a message for each of these accounts costs, or nothing from any of them. */
  const takeAllowances = async (ownerIds: readonly string[]) => {
    for (const ownerId of new Set(ownerIds)) if (!(await room.has(ownerId))) throw tooManyRuns()
    for (const ownerId of new Set(ownerIds)) await assertAllowance(ownerId)
    for (const ownerId of ownerIds) {
      if (perAccountPerMinute !== undefined) rates.charge(ownerId, perAccountPerMinute)
      allowances.countRun(ownerId)
      room.add(ownerId)
    }
  }
  return {
    findVal: (target: MailTarget) => store.findVal(target),
    /**
     * Throws MailRefused if the val's account cannot get a message now. Each recipient of a message
     * is checked before the message comes, and refused alone: the others do not wait for it.
     */
    async assertRoom({ ownerId, isOwnerSuspended }: MailVal): Promise<void> {
      if (isOwnerSuspended) throw suspended()
      if (!(await room.has(ownerId))) throw tooManyRuns()
      await assertAllowance(ownerId)
      await store.assertRoom(ownerId, mailbox)
    },
    /**
     * Queues a run of every recipient. Resolves when messages and runs are on disk. Throws
     * MailRefused, or an AppError if the server cannot store the message now; nothing is stored then.
     */
    async receive(
      mail: ReadMail,
      recipients: readonly MailRecipient[],
      isTest = false,
    ): Promise<readonly string[]> {
      if (loops && !isTest) assertNoLoop(mail.loop, loops)
      const addressed = listAddressed(mail, recipients, isTest, now())
      await takeAllowances(addressed.map(({ val }) => val.ownerId))
      const received = addressed.map(({ address, val }) => ({
        runId: newId(),
        val,
        email: { ...mail.email, to: address, isTest },
        recorded: mail.recorded,
        bytes: mail.content.length,
        at: now(),
        key: isTest ? undefined : toKey(mail.fingerprint, val.file.id),
      }))
      const isLarge = mail.content.length > limits.rowBytesMax
      const stored = isLarge ? await store.findNew(received, mailbox) : received
      const runIds = await storeAll(store, objects, mailbox, mail, stored, isTest)
      if (runIds.length > 0) queue.wake()
      return runIds
    },
  }
}

/** The files that a message is for. A file has several addresses, and gets a message once. */
function listAddressed(
  mail: ReadMail,
  recipients: readonly MailRecipient[],
  isTest: boolean,
  at: number,
): readonly { readonly address: string; readonly val: MailVal }[] {
  const byFile = new Map<string, { readonly address: string; readonly val: MailVal }>()
  for (const { address, val } of recipients) {
    if (!isTest) assertReceives(val, mail, { address, at })
    if (val && !byFile.has(val.file.id)) byFile.set(val.file.id, { address, val })
  }
  return [...byFile.values()]
}

/** Stores the messages and their runs. The content of a large message becomes an object. */
async function storeAll(
  store: MailStore,
  objects: ObjectStore,
  mailbox: MailboxLimits,
  mail: ReadMail,
  stored: readonly Omit<NewMail, "content">[],
  isTest: boolean,
): Promise<readonly string[]> {
  const written: NewObject[] = []
  try {
    const mails: NewMail[] = []
    for (const one of stored) {
      const isLarge = mail.content.length > limits.rowBytesMax
      const content = isLarge
        ? await objects.write(one.val.ownerId, inPieces(mail.content))
        : mail.content
      if (!(content instanceof Uint8Array)) written.push(content)
      mails.push({ ...one, content })
    }
    return await store.add(mails, mailbox, ({ email, at }, val) => {
      if (!isTest) assertReceives(val, mail, { address: email.to, at })
      else if (!val) throw new MailRefused("unknown_recipient", "the val was deleted meanwhile")
    })
  } finally {
    // Does nothing to content that a stored message refers to.
    for (const object of written) await objects.discard(object)
  }
}

function tooManyRuns(): MailRefused {
  return new MailRefused("account_limit", "the recipient has too many runs; try again later")
}

/** Pieces, so that the store writes while other requests go on. */
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += limits.rowBytesMax)
    yield bytes.subarray(at, at + limits.rowBytesMax)
}

function toKey(fingerprint: string | undefined, fileId: string): string | undefined {
  if (fingerprint === undefined) return undefined
  return sha256(`${fileId}/${fingerprint}`).toString("hex")
}

/** Reads the mails that runs are about. */
export type MailInputs = ReturnType<typeof createMailInputs>

/** Creates the reader of stored mails. */
export function createMailInputs(
  mails: Pick<MailStore, "findContent">,
  objects: Pick<ObjectStore, "read">,
) {
  return {
    /** The mail that a run is about, given the id of the run that it started. */
    async read(messageId: string): Promise<MailCall> {
      const stored = await mails.findContent(messageId)
      if (!stored)
        throw new AppError("not_replayable", "Cannot run the val: its mail is no longer stored")
      const { content, bytes, to } = stored
      const pieces = content instanceof Uint8Array ? [content] : objects.read(content, 0, bytes)
      return { mail: await withRecipient(pieces, bytes, to) }
    },
  }
}
