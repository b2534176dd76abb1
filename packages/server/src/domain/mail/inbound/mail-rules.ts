import type { Privacy } from "../../access/rights.ts"
import type { CodeFile } from "../../vals/vals.ts"
import { type MailLoop, MailRefused, type MailSignature, type ReadMail } from "./mail.ts"
import { isOfDomain } from "./mail-address.ts"

/** What the rules know of a file of type `email`, its val and the owner. */
export interface MailVal {
  readonly id: string
  readonly file: Pick<CodeFile, "id" | "branchId">
  readonly ownerId: string
  readonly privacy: Privacy
  readonly isOwnerSuspended: boolean
  /** The address of the owner that is known to be theirs, in lower case. */
  readonly ownerAddress: string | null
}

/** What the rules know of the sender. */
export type MailSender = Pick<ReadMail, "fromAddress" | "signature"> & {
  readonly email: Pick<ReadMail["email"], "auth">
}

/** Where and when a message arrives. */
export interface MailArrival {
  /** The address of the val, as the sender wrote it. */
  readonly address: string
  readonly at: number
}

const limits = {
  /**
   * How old a message may be that only a signature proves. A second copy of it is dropped for a day
   * after the first one, which is longer.
   */
  signedMsMax: 72_000_000,
  /** How far the clock of the sender may be ahead. */
  aheadMsMax: 3_600_000,
}

/**
 * Throws if the val must not get the message. A private val gets mail from its owner only, and only
 * if SPF or DKIM proves the sender. Otherwise the refusal is that of an address that does not
 * exist, so that no sender learns which private vals there are.
 */
export function assertReceives(
  val: MailVal | undefined,
  sender: MailSender,
  arrival: MailArrival,
): asserts val is MailVal {
  if (!val || (val.privacy === "private" && !isFromOwner(val, sender, arrival))) {
    if (isUndecided(sender))
      throw new MailRefused("sender_undecided", "the sender could not be checked; try again later")
    throw new MailRefused("unknown_recipient", "no val has this address, or not for this sender")
  }
  if (val.isOwnerSuspended) throw suspended()
}

/** The refusal of a val whose owner is suspended. */
export function suspended(): MailRefused {
  return new MailRefused("suspended", "the account of the recipient is suspended")
}

function isFromOwner(val: MailVal, sender: MailSender, arrival: MailArrival): boolean {
  const { fromAddress, email, signature } = sender
  return (
    val.ownerAddress !== null &&
    email.auth.isFromVerified &&
    fromAddress === val.ownerAddress &&
    (signature === undefined || isMeantFor(signature, arrival))
  )
}

/**
 * Whether the owner has sent the message to this address, and lately. Otherwise anybody who got a
 * message from the owner could send it to the owner's private vals.
 */
function isMeantFor({ recipients, at }: MailSignature, arrival: MailArrival): boolean {
  const ageMs = at === undefined ? Number.POSITIVE_INFINITY : arrival.at - at
  return (
    recipients.includes(arrival.address.toLowerCase()) &&
    ageMs <= limits.signedMsMax &&
    ageMs >= -limits.aheadMsMax
  )
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
