import type { Config } from "../../../config/config.ts"
import { checkSmtpServer } from "../../../mail/outbound/smtp-transport.ts"
import { about, type Finding, type Findings, toReason } from "../../finding.ts"

const check = about("outgoing mail")

/** Whether the mail server accepts a connection and the login. No message is sent. */
export async function checkSmtp({ emails, baseUrl }: Config): Promise<Findings> {
  const { relay, relayCa: ca, domain = new URL(baseUrl).hostname } = emails
  if (!relay) return check.fine("the server sends none: HAMLET_SMTP_URL is not set")
  const place = `${relay.host} port ${relay.port}`
  try {
    await checkSmtpServer({ ...relay, ca }, domain, new AbortController().signal)
    const login = relay.login ? "and the login" : "without a login"
    return [...check.fine(`${place} accepts the connection ${login}`), ...checkSender(emails)]
  } catch (error) {
    return check.warning(
      `${place} cannot be used: ${toReason(error)}`,
      "correct HAMLET_SMTP_URL, or the mail server; until then mail waits, for a day",
    )
  }
}

/** Settings that need each other. */
function checkSender({ domain, noticeAddress, dkimKey, dkimSelector }: Config["emails"]): Findings {
  const findings: Finding[] = []
  if (domain === undefined)
    findings.push(
      ...check.warning(
        `all mail is sent from ${noticeAddress}`,
        "set HAMLET_MAIL_DOMAIN, so that each val has an address of its own",
      ),
    )
  const isSigned = [domain, dkimKey, dkimSelector].every((setting) => setting !== undefined)
  if (!isSigned && (dkimKey ?? dkimSelector) !== undefined)
    findings.push(
      ...check.warning(
        "mail is not signed with DKIM",
        "set HAMLET_MAIL_DOMAIN, HAMLET_MAIL_DKIM_SELECTOR and HAMLET_MAIL_DKIM_KEY together",
      ),
    )
  return findings
}
