import { AppError } from "../app-error.ts"
import type { ObjectStore } from "../blobs/objects.ts"
import type { MailCall } from "../runs/runner.ts"
import { withRecipient } from "./mail-content.ts"
import type { MailStore, StoredMail } from "./receive-mail.ts"

/** What reading stored mail needs. */
export interface MailInputDeps {
  readonly mails: Pick<MailStore, "findContent">
  readonly objects: Pick<ObjectStore, "read">
}

/** The mail that a run is about, given the id of the run that it started. */
export async function readMailInput(deps: MailInputDeps, messageId: string): Promise<MailCall> {
  const stored = await deps.mails.findContent(messageId)
  if (!stored)
    throw new AppError("not_replayable", "Cannot run the val: its mail is no longer stored")
  return { mail: withRecipient(await readContent(deps, stored), stored.to) }
}

async function readContent(
  { objects }: MailInputDeps,
  { content }: StoredMail,
): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content
  const pieces: Uint8Array[] = []
  for await (const piece of objects.read(content, 0, content.size)) pieces.push(piece)
  return Buffer.concat(pieces)
}
