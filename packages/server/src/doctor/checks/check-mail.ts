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
import { about, type Findings, toReason } from "../finding.ts"
import { doctorLimits } from "../limits.ts"
import { tryToListen } from "./check-port.ts"

const check = about("incoming mail")
const dayMs = 86_400_000

/** Whether mail can reach the server: its port, its certificate, and the record of its domain. */
export async function checkMail(config: Config): Promise<Findings> {
  assertMailConfig(config)
  const domain = toReceivingDomain(config)
  const { mail } = config
  if (domain === undefined) return check.fine("the server receives none")
  return [
    ...(await judgePort(mail.smtp)),
    ...judgeCertificate(mail.smtp),
    ...(await judgeRecord(domain, mail)),
  ]
}

async function judgePort({ host, port = 0 }: SmtpConfig): Promise<Findings> {
  if (port === 0) return check.fine("any port that is free")
  const code = await tryToListen(host, port)
  if (code === undefined) return check.fine(`port ${port} on ${host} is free`)
  return code === "EADDRINUSE"
    ? check.fine(`a program listens on ${host} port ${port}; a running server does`)
    : check.warning(
        `Cannot listen on ${host} port ${port}: ${code}`,
        "choose a port above 1023 with --smtp-port and forward port 25 to it, see docs/mail.md",
      )
}

function judgeCertificate({ certificatePath }: SmtpConfig): Findings {
  if (certificatePath === undefined)
    return check.warning(
      "mail is received unencrypted",
      "set HAMLET_SMTP_TLS_CERT and HAMLET_SMTP_TLS_KEY",
    )
  try {
    const read = new X509Certificate(readFileSync(certificatePath))
    const daysLeft = Math.floor((Date.parse(read.validTo) - Date.now()) / dayMs)
    return daysLeft >= doctorLimits.certificateDaysMin
      ? check.fine(`the certificate is valid for ${daysLeft} days`)
      : check.warning(`the certificate is valid until ${read.validTo}`, "renew the certificate")
  } catch (error) {
    return check.warning(
      `the certificate cannot be read: ${toReason(error)}`,
      "put a PEM certificate into the file that HAMLET_SMTP_TLS_CERT names",
    )
  }
}

async function judgeRecord(domain: string, { nameServers }: MailConfig): Promise<Findings> {
  const resolver = new dns.Resolver({ timeout: doctorLimits.answerMsMax, tries: 1 })
  if (nameServers) resolver.setServers(nameServers)
  const records = await resolver.resolveMx(domain).catch(() => [])
  const [first] = records.sort((one, other) => one.priority - other.priority)
  if (first) return check.fine(`the MX record of ${domain} names ${first.exchange}`)
  return check.warning(
    `${domain} has no MX record`,
    `add an MX record for ${domain} that names this server, see docs/mail.md`,
  )
}
