import { z } from "zod"
import { limits } from "../limits.ts"
import { text } from "./fields.ts"
import { email, list } from "./lengths.ts"

/** Text of one line: a line break would add headers to the mail. */
function line(charsMax: number, charsMin = 0) {
  return text(charsMax, charsMin).refine(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
    (value) => !/[\u0000-\u001f\u007f]/.test(value),
    "must be one line without control characters",
  )
}

const address = z.union([
  email(limits.emailCharsMax),
  z.object({
    email: email(limits.emailCharsMax),
    name: line(limits.emailNameCharsMax).optional(),
  }),
])

const addresses = z.union([address, list(address, limits.emailAddressesMax)])

const attachment = z.object({
  /** Base64. */
  content: text(limits.emailAttachmentCharsMax),
  filename: line(limits.emailNameCharsMax, 1),
  type: line(limits.emailNameCharsMax).optional(),
  disposition: line(limits.emailNameCharsMax).optional(),
  contentId: line(limits.emailNameCharsMax).optional(),
})

const headers = z
  .record(
    line(limits.emailNameCharsMax, 1).regex(/^[!#$%&'*+.^_`|~\w-]+$/, "must be a header name"),
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

/** The response to an email that was accepted. */
export const sentEmail = z.object({ message: z.string() })
