import type { TransportOutcome } from "../../domain/mail/outbound/deliver-email.ts"

/** What nodemailer reports. */
export interface SmtpError {
  readonly message?: string
  readonly code?: string | undefined
  /** The command after which it failed. */
  readonly command?: string | undefined
  /** The reply of the mail server. */
  readonly response?: string | undefined
  readonly responseCode?: number | undefined
  readonly recipient?: string | undefined
  /** One error per recipient that the server refused. */
  readonly rejectedErrors?: readonly SmtpError[] | undefined
}

const replyCharsMax = 300

/** Replies about the login or encryption of this server, not about the message. */
const setupCodes = new Set([503, 530, 534, 535, 538])

/**
 * Whether another attempt can succeed. A mail server says so with the first digit of its reply: 4 is
 * temporary, 5 is permanent (RFC 5321, section 4.2.1). Everything else, such as a connection that
 * breaks or a login that fails, is not about the message, and the operator may fix it.
 */
export function toTransportOutcome(error: SmtpError): TransportOutcome {
  if (error.rejectedErrors)
    return {
      kind: "sent",
      rejected: error.rejectedErrors.map((one) => ({
        address: one.recipient ?? "",
        error: toText(one),
        isPermanent: isPermanent(one),
      })),
    }
  return {
    kind: "failed",
    error: toText(error),
    isPermanent: isPermanent(error),
    cause: error.message ?? "",
  }
}

function isPermanent({ code, command = "", responseCode }: SmtpError): boolean {
  // The message is larger than the server accepts.
  if (code === "EMESSAGE" && responseCode === undefined) return true
  const isAboutMessage = /^(?:MAIL FROM|RCPT TO|DATA)$/.test(command)
  const is5xx = responseCode !== undefined && responseCode >= 500 && responseCode < 600
  return isAboutMessage && is5xx && !setupCodes.has(responseCode)
}

/** Users see it, so it has no address or login of the operator's mail server. */
function toText({ code, command = "", response, responseCode, message }: SmtpError): string {
  const isLogin = code === "EAUTH" || (responseCode !== undefined && setupCodes.has(responseCode))
  if (isLogin) return "the mail server refused the login of this server; its operator can fix that"
  if (responseCode !== undefined && response !== undefined)
    return `the mail server replied: ${toLine(response)}`
  if (code === "EMESSAGE" && command === "MAIL FROM")
    return `the mail server does not accept it: ${toLine(message ?? "")}`
  return texts[code ?? ""] ?? "the mail server could not be reached"
}

const texts: Readonly<Record<string, string>> = {
  ETLS: "the mail server offers no secure connection",
  ETIMEDOUT: "the mail server did not answer in time",
  ECONNECTION: "the mail server closed the connection",
}

function toLine(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, replyCharsMax)
}
