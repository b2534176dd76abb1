import { X509Certificate } from "node:crypto"
import { promises as dns } from "node:dns"
import { readFileSync } from "node:fs"
import type { Config } from "../../config/config.ts"
import {
  assertMailConfig,
  type MailConfig,
  type SmtpConfig,
  toReceivingDomain,
} from "../../config/mail.ts"
import { type Finding, fine, toReason, warning } from "../finding.ts"
import { doctorLimits } from "../limits.ts"
import { tryToListen } from "./check-port.ts"

const check = "incoming mail"
const dayMs = 86_400_000

/** Whether mail can reach the server: its port, its certificate, and the record of its domain. */
export async function checkMail(config: Config): Promise<readonly Finding[]> {
  assertMailConfig(config)
  const domain = toReceivingDomain(config)
  const { mail } = config
  if (domain === undefined) return [fine(check, "the server receives none")]
  return [await judgePort(mail.smtp), judgeCertificate(mail.smtp), await judgeRecord(domain, mail)]
}

async function judgePort({ host, port = 0 }: SmtpConfig): Promise<Finding> {
  if (port === 0) return fine(check, "any port that is free")
  const code = await tryToListen(host, port)
  if (code === undefined) return fine(check, `port ${port} on ${host} is free`)
  return code === "EADDRINUSE"
    ? fine(check, `a program listens on ${host} port ${port}; a running server does`)
    : warning(
        check,
        `Cannot listen on ${host} port ${port}: ${code}`,
        "choose a port above 1023 with --smtp-port and forward port 25 to it, see docs/mail.md",
      )
}

function judgeCertificate({ certificatePath }: SmtpConfig): Finding {
  if (certificatePath === undefined)
    return warning(
      check,
      "mail is received unencrypted",
      "set HAMLET_SMTP_TLS_CERT and HAMLET_SMTP_TLS_KEY",
    )
  try {
    const read = new X509Certificate(readFileSync(certificatePath))
    const daysLeft = Math.floor((Date.parse(read.validTo) - Date.now()) / dayMs)
    return daysLeft >= doctorLimits.certificateDaysMin
      ? fine(check, `the certificate is valid for ${daysLeft} days`)
      : warning(check, `the certificate is valid until ${read.validTo}`, "renew the certificate")
  } catch (error) {
    return warning(
      check,
      `the certificate cannot be read: ${toReason(error)}`,
      "put a PEM certificate into the file that HAMLET_SMTP_TLS_CERT names",
    )
  }
}

async function judgeRecord(domain: string, { nameServers }: MailConfig): Promise<Finding> {
  const resolver = new dns.Resolver({ timeout: doctorLimits.answerMsMax, tries: 1 })
  if (nameServers) resolver.setServers(nameServers)
  const records = await resolver.resolveMx(domain).catch(() => [])
  const [first] = records.sort((one, other) => one.priority - other.priority)
  if (first) return fine(check, `the MX record of ${domain} names ${first.exchange}`)
  return warning(
    check,
    `${domain} has no MX record`,
    `add an MX record for ${domain} that names this server, see docs/mail.md`,
  )
}
