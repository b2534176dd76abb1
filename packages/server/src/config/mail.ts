import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { EmailConfig } from "./emails.ts"
import type { Env } from "./options.ts"
import {
  ConfigError,
  type ReadSetting,
  readChoice,
  readInteger,
  readRate,
  refuse,
} from "./readers.ts"

/** The settings of incoming mail. Domain and size are those of outgoing mail. */
export interface MailConfig {
  readonly smtp: SmtpConfig
  readonly perAccountPerMinute: number | undefined
  /** Whether vals get mail that programs have created, such as alerts. */
  readonly acceptsGenerated: boolean
  /** Name servers; undefined for those of the machine. */
  readonly nameServers: readonly string[] | undefined
}

/** The settings of the SMTP server. */
export interface SmtpConfig {
  readonly host: string
  /** Undefined if the server receives no mail. */
  readonly port: number | undefined
  /** Undefined for the mail domain. */
  readonly name: string | undefined
  readonly certificatePath: string | undefined
  readonly keyPath: string | undefined
  readonly perAddressPerMinute: number | undefined
}

/** The settings of mail in both directions. */
interface MailSettings {
  readonly mail: MailConfig
  readonly emails: Pick<EmailConfig, "domain">
}

/** Reads the settings of incoming mail. */
export function loadMailConfig(read: ReadSetting, host: string): MailConfig {
  return {
    smtp: {
      host: read("HAMLET_SMTP_HOST") || host,
      port: readInteger("HAMLET_SMTP_PORT", read("HAMLET_SMTP_PORT"), 0, 65_535),
      name: readHostName("HAMLET_SMTP_NAME", read("HAMLET_SMTP_NAME")),
      certificatePath: readPem("HAMLET_SMTP_TLS_CERT", read("HAMLET_SMTP_TLS_CERT")),
      keyPath: readPem("HAMLET_SMTP_TLS_KEY", read("HAMLET_SMTP_TLS_KEY")),
      perAddressPerMinute: readRate(
        "HAMLET_MAIL_PER_ADDRESS",
        read("HAMLET_MAIL_PER_ADDRESS"),
        300,
      ),
    },
    perAccountPerMinute: readRate("HAMLET_MAIL_PER_ACCOUNT", read("HAMLET_MAIL_PER_ACCOUNT"), 600),
    acceptsGenerated:
      readChoice("HAMLET_MAIL_GENERATED", read("HAMLET_MAIL_GENERATED"), ["refuse", "accept"]) ===
      "accept",
    nameServers: readNameServers(read("HAMLET_MAIL_DNS")),
  }
}

/** Throws if settings of mail that need each other are not all set. */
export function assertMailConfig({ mail: { smtp }, emails }: MailSettings): void {
  if (smtp.port === undefined) return
  if (emails.domain === undefined)
    throw new ConfigError("Cannot receive mail: HAMLET_SMTP_PORT needs HAMLET_MAIL_DOMAIN")
  if ((smtp.certificatePath === undefined) !== (smtp.keyPath === undefined))
    throw new ConfigError(
      "Cannot receive mail: HAMLET_SMTP_TLS_CERT and HAMLET_SMTP_TLS_KEY need each other",
    )
}

/** The domain in which the server receives mail; undefined if it receives none. */
export function toReceivingDomain({ mail, emails }: MailSettings): string | undefined {
  return mail.smtp.port === undefined ? undefined : emails.domain
}

function readHostName(name: Env, text: string): string | undefined {
  if (text === "") return undefined
  return /^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/i.test(text) && !text.includes("..")
    ? text.toLowerCase()
    : refuse(name, text, "it must be a host name, without a port")
}

/** The file is read here, so that a missing one is found at the start. */
function readPem(name: Env, text: string): string | undefined {
  if (text === "") return undefined
  const path = resolve(text)
  return isPem(path) ? path : refuse(name, text, "it must be a PEM file that can be read")
}

function isPem(path: string): boolean {
  try {
    return readFileSync(path, "latin1").includes("-----BEGIN ")
  } catch {
    return false
  }
}

function readNameServers(text: string): readonly string[] | undefined {
  if (text === "") return undefined
  const servers = text.split(",").map((server) => server.trim())
  return servers.every((server) => /^([\d.]+|\[[\da-f:]+\])(:\d{1,5})?$/i.test(server))
    ? servers
    : refuse("HAMLET_MAIL_DNS", text, "it must be IP addresses, with a port if need be")
}
