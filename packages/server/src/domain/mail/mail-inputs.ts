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
  return { mail: await withRecipient(toPieces(deps, stored), stored.bytes, stored.to) }
}

function toPieces(
  { objects }: MailInputDeps,
  { content, bytes }: StoredMail,
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return content instanceof Uint8Array ? [content] : objects.read(content, 0, bytes)
}
