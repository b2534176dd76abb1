import type { Privacy } from "../vals/vals.ts"
import { type MailLoop, MailRefused, type ReadMail } from "./mail.ts"
import { isOfDomain } from "./mail-address.ts"

/** What the rules know of a val of type `email` and its owner. */
export interface MailVal {
  readonly id: string
  readonly ownerId: string
  readonly privacy: Privacy
  readonly isOwnerSuspended: boolean
  /** The address of the owner that is known to be theirs, in lower case. */
  readonly ownerAddress: string | null
}

/** What the rules know of the sender. */
export type MailSender = Pick<ReadMail, "fromAddress"> & {
  readonly email: Pick<ReadMail["email"], "auth">
}

/**
 * Throws if the val must not get the message. A private val gets mail from its owner only, and only
 * if SPF or DKIM proves the sender. Otherwise the refusal is that of an address that does not
 * exist, so that no sender learns which private vals there are.
 */
export function assertReceives(
  val: MailVal | undefined,
  sender: MailSender,
): asserts val is MailVal {
  if (!val || (val.privacy === "private" && !isFromOwner(val, sender))) {
    if (isUndecided(sender))
      throw new MailRefused("sender_undecided", "the sender could not be checked; try again later")
    throw new MailRefused("unknown_recipient", "no val has this address, or not for this sender")
  }
  if (val.isOwnerSuspended)
    throw new MailRefused("suspended", "the account of the recipient is suspended")
}

function isFromOwner(val: MailVal, { fromAddress, email }: MailSender): boolean {
  return val.ownerAddress !== null && email.auth.isFromVerified && fromAddress === val.ownerAddress
}

/** A name server did not answer: with its answer, the sender might be verified. */
function isUndecided({ email: { auth } }: MailSender): boolean {
  return (
    !auth.isFromVerified &&
    [auth.spf, auth.dkim, auth.dmarc].some((result) => result === "temperror")
  )
}

/** How messages of programs are treated. */
export interface LoopRules {
  readonly domain: string
  /** Whether messages that a program has created, such as alerts, are accepted. */
  readonly acceptsGenerated: boolean
  readonly hopsMax: number
}

/** Throws if the message comes from this server, or from a program that replies by itself. */
export function assertNoLoop(
  { autoSubmitted, messageId, hops }: MailLoop,
  { domain, acceptsGenerated, hopsMax }: LoopRules,
): void {
  if (messageId !== undefined && isOfDomain(messageId, domain))
    throw new MailRefused("loop", "this server has sent the message itself")
  if (hops > hopsMax)
    throw new MailRefused("loop", `more than ${hopsMax} servers have passed the message on`)
  const isAccepted =
    autoSubmitted === undefined ||
    autoSubmitted === "no" ||
    (acceptsGenerated && autoSubmitted === "auto-generated")
  if (!isAccepted)
    throw new MailRefused(
      "loop",
      `a program has sent the message (Auto-Submitted: ${autoSubmitted})`,
    )
}
