import { z } from "zod"
import { limits } from "../limits.ts"
import { emailStatuses } from "../lists.ts"
import { id, text, time, url } from "./fields.ts"
import { pageQuery } from "./inputs.ts"
import { chars, email, list } from "./lengths.ts"

const isOneLine = z.refine<string>(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  (value) => !/[\u0000-\u001f\u007f]/.test(value),
  "must be one line without control characters",
)

/** Text of one line: a line break would add headers to the mail. */
function line(charsMax: number, charsMin = 0) {
  return text(charsMax, charsMin, isOneLine)
}

/** `Ada <ada@example.org>`, as mail programs write it. */
const namedAddress = line(limits.emailCharsMax + limits.emailNameCharsMax + 5)
  .regex(/^[^<>]*<[^<>]+>$/, "must be an email address")
  .transform((value) => {
    const [name = "", address = ""] = value.slice(0, -1).split("<")
    return { email: address.trim(), name: name.trim().replace(/^"(.*)"$/, "$1") }
  })
  .pipe(z.object({ email: email(limits.emailCharsMax), name: line(limits.emailNameCharsMax) }))

const address = z.union([
  email(limits.emailCharsMax),
  namedAddress,
  z.object({
    email: email(limits.emailCharsMax),
    name: line(limits.emailNameCharsMax).optional(),
  }),
])

const addresses = z.union([address, list(address, limits.emailAddressesMax)])

const attachment = z.object({
  /**
   * Base64. White space may follow the padding only: if it could also follow the rest, a text of
   * spaces would be read in as many ways as it has characters.
   */
  content: chars(limits.emailAttachmentCharsMax).regex(
    /^[A-Za-z0-9+/\-_\s]*(?:={1,2}\s*)?$/,
    "must be base64",
  ),
  filename: line(limits.emailNameCharsMax, 1),
  /** Vals written for Val Town also say `text`. */
  type: line(limits.emailNameCharsMax)
    .regex(
      /^[\w!#$&^.+-]+(?:\/[\w!#$&^.+-]+(?:;.*)?)?$/,
      "must be a content type such as text/plain",
    )
    .optional(),
  disposition: z.enum(["attachment", "inline"]).optional(),
  contentId: line(limits.emailNameCharsMax)
    .regex(/^[^<>\s]*$/, "must not contain spaces, < or >")
    .optional(),
})

/**
 * The server writes these headers. The sender in them, the identity of the message and the route
 * that it took are what other servers trust; those of the content follow from it.
 */
const reservedHeaders =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|return-path|received|delivered-to|mime-version|content-.*|dkim-.*|domainkey-.*|arc-.*|authentication-results|received-spf|auto-submitted|resent-.*|x-hamlet-.*)$/i

const headers = z
  .record(
    line(limits.emailNameCharsMax, 1)
      .regex(/^[!#$%&'*+.^_`|~\w-]+$/, "must be a header name")
      .refine((name) => !reservedHeaders.test(name), "must not be a header that the server writes"),
    line(limits.emailHeaderCharsMax),
  )
  .refine(
    (all) => Object.keys(all).length <= limits.emailHeadersMax,
    `must have at most ${limits.emailHeadersMax} headers`,
  )

/** The body of an email to be sent. Without recipients it goes to the caller. */
export const emailBody = z.object({
  to: addresses.optional(),
  cc: addresses.optional(),
  bcc: addresses.optional(),
  from: address.optional(),
  replyTo: addresses.optional(),
  /** The name of `replyTo` in Val Town's client. */
  replyToList: addresses.optional(),
  subject: line(limits.emailSubjectCharsMax).optional(),
  text: text(limits.emailTextCharsMax).optional(),
  html: text(limits.emailTextCharsMax).optional(),
  attachments: list(attachment, limits.emailAttachmentsMax).optional(),
  headers: headers.optional(),
})

/** An email to be sent. */
export type EmailBody = z.output<typeof emailBody>

/** A mail that the owner of a val sends to it, to try the val. */
export const testEmailBody = z
  .object({
    /** Without it, the address of the caller. */
    from: address.optional(),
    cc: addresses.optional(),
    subject: line(limits.emailSubjectCharsMax).optional(),
    text: text(limits.emailTextCharsMax).optional(),
    html: text(limits.emailTextCharsMax).optional(),
    attachments: list(attachment, limits.emailAttachmentsMax).optional(),
    /** A whole message as in an `.eml` file, instead of the other fields. */
    raw: text(limits.emailRawCharsMax, 1).optional(),
  })
  .refine(
    ({ raw, ...fields }) =>
      raw === undefined || Object.values(fields).every((value) => value === undefined),
    "must have either raw or the other fields",
  )

/** A mail that the owner of a val sends to it. */
export type TestEmailBody = z.output<typeof testEmailBody>

/** The response to an email that was accepted: it will be sent. */
export const sentEmail = z.object({ message: z.string(), id }).meta({ id: "AcceptedEmail" })

/** The status of an outgoing email. A waiting one is tried again until it is sent, for a day. */
export const emailStatus = z.enum(emailStatuses)

/** An outgoing email, without its content. */
export const emailRecord = z
  .object({
    id,
    // `val`: sent by a val; `api`: by a request with a token; `notice`: by the server;
    // `confirmation`: contains the code that confirms the user's address.
    kind: z.enum(["val", "api", "notice", "confirmation"]),
    from: z.string(),
    // All recipients, those of `cc` and `bcc` included.
    to: z.array(z.string()),
    subject: z.string(),
    status: emailStatus,
    attempts: z.int().min(0),
    // Why the last attempt failed, for some recipients or for all.
    error: z.string().nullable(),
    bytes: z.int().min(0),
    runId: id.nullable(),
    val: z.object({ id, name: z.string() }).nullable(),
    createdAt: time,
    nextAttemptAt: time.nullable(),
    // When it was sent, or when it failed for good.
    endedAt: time.nullable(),
    links: z.object({ self: url }),
  })
  .meta({ id: "Email" })

/** What the check of a sender found: `pass`, `fail`, `none`, … as RFC 8601 names the results. */
const mailCheck = z.string()

/** The mail that started a run. */
export const runEmail = z
  .object({
    // The sender as in the header, with a name.
    from: z.string(),
    // The address that the mail was sent to.
    to: z.string(),
    subject: z.string().nullable(),
    messageId: z.string().nullable(),
    // The size of the message as it was received.
    bytes: z.int().min(0),
    attachments: z.int().min(0),
    // Whether its owner sent it through the API, to try the val.
    isTest: z.boolean(),
    auth: z.object({
      spf: mailCheck,
      dkim: mailCheck,
      dmarc: mailCheck,
      // Whether SPF or DKIM proves that the domain in `from` sent it.
      isFromVerified: z.boolean(),
    }),
  })
  .meta({ id: "RunEmail" })

/** The query of the list of emails. */
export const emailsQuery = pageQuery.extend({ status: emailStatus.optional() })

/** The body that confirms the caller's email address. Spaces in the code are ignored. */
export const confirmEmailBody = z.object({
  code: chars(limits.emailCodeCharsMax, 1).transform((code) => code.replaceAll(/\s/g, "")),
})

/** The body that sets the email address of a user; null removes it. */
export const putUserEmailBody = z.object({ email: email(limits.emailCharsMax).nullable() })
