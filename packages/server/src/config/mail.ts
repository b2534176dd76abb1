import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import {
  ConfigError,
  inLowerCase,
  integer,
  pemFile,
  type ReadSetting,
  rate,
  readTable,
  refuse,
  text,
  texts,
  toggle,
  type ValuesOf,
} from "./setting.ts"

const mega = 1024 ** 2
/** A larger email would not fit into a backup. */
const sentBytesMax = 40 * mega
const domainForm = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/i
const hostReason = "it must be a host name, without a port"

/** Outgoing mail. */
export const emailSettings = {
  relay: text({
    env: "HAMLET_SMTP_URL",
    accept: toRelay,
    isSecret: true,
    meaning:
      "Mail server that sends the mail of vals and the server's notices: `smtp://USER:PASSWORD@HOST:587`, or `smtps://` for TLS from the first byte. With `?tls=required`, `if-offered` or `never` it says whether `smtp://` is upgraded with STARTTLS; the default is `required` with a login, else `if-offered`. Empty: the server sends no mail.",
  }),
  relayCa: pemFile({
    env: "HAMLET_SMTP_CA",
    kind: "CERTIFICATE",
    meaning: "PEM file of additional certificate authorities for that mail server.",
  }),
  domain: text({
    env: "HAMLET_MAIL_DOMAIN",
    accept: inLowerCase(domainForm),
    reason: hostReason,
    meaning:
      "Domain of the vals' email addresses, `{user}.{val}@{domain}`. To receive mail it needs an MX record, see docs/mail.md.",
  }),
  noticeAddress: text({
    env: "HAMLET_MAIL_FROM",
    default: "no-reply@HAMLET_MAIL_DOMAIN",
    accept: /^[\w.+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/i,
    reason: "it must be an email address",
    meaning:
      "Address of the server's own messages. Without HAMLET_MAIL_DOMAIN, the sender of all mail.",
  }),
  fromDomains: texts({
    env: "HAMLET_MAIL_FROM_DOMAINS",
    accept: (value) => (value === "*" ? value : inLowerCase(domainForm)(value)),
    reason: hostReason,
    meaning:
      "Domains of further addresses that any val may name as its sender, separated by commas; `*` means all but `HAMLET_MAIL_DOMAIN`. Empty: a val sends from addresses of its owner only.",
  }),
  dkimSelector: text({
    env: "HAMLET_MAIL_DKIM_SELECTOR",
    accept: /^[a-z0-9]([\w.-]{0,61}[a-z0-9])?$/i,
    reason: "it must be a part of a host name",
    meaning:
      "Selector of the DKIM key: its public part is in the DNS at `{selector}._domainkey.{domain}`. Empty: mail is not signed here.",
  }),
  dkimKey: pemFile({
    env: "HAMLET_MAIL_DKIM_KEY",
    kind: "PRIVATE KEY",
    meaning: "PEM file of the private DKIM key.",
  }),
  recipientsPerDay: rate({
    env: "HAMLET_MAILS_PER_DAY",
    default: 500,
    meaning:
      "Emails of one user in 24 hours, or `none`. Each recipient counts. A quota of the user takes precedence.",
  }),
  bytesPerDay: rate({
    env: "HAMLET_MAIL_MB_PER_DAY",
    default: 100,
    unit: mega,
    meaning: "Megabytes of the emails of one user in 24 hours, or `none`.",
  }),
  allowsOthers: toggle({
    env: "HAMLET_MAIL_TO",
    choices: ["anyone", "owner"],
    on: "anyone",
    meaning:
      "To whom vals send mail: `anyone`, or `owner` for the confirmed address of their owner only.",
  }),
  recipientsMax: integer({
    env: "HAMLET_MAIL_RECIPIENTS_MAX",
    default: 50,
    max: 100,
    meaning: "Recipients of one email, at most 100.",
  }),
  bytesMax: integer({
    env: "HAMLET_MAIL_MB_MAX",
    default: 25,
    max: 100,
    unit: mega,
    meaning: "Largest mail that is received or sent, in megabytes; at most 40 are sent.",
  }),
}

/** The SMTP server. */
export const smtpSettings = {
  port: integer({
    env: "HAMLET_SMTP_PORT",
    default: "",
    min: 0,
    max: 65_535,
    meaning:
      "Port on which the server receives mail for vals of type `email`; other mail servers use 25. `0` means any free port. Empty: it receives no mail.",
  }),
  host: text({
    env: "HAMLET_SMTP_HOST",
    default: "HAMLET_HOST",
    meaning: "Address on which it receives mail. `0.0.0.0` means every interface.",
  }),
  name: text({
    env: "HAMLET_SMTP_NAME",
    default: "HAMLET_MAIL_DOMAIN",
    accept: inLowerCase(/^(?!.*\.\.)[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/i),
    reason: hostReason,
    meaning: "Name with which it introduces itself to other mail servers, that of the MX record.",
  }),
  certificatePath: text({
    env: "HAMLET_SMTP_TLS_CERT",
    accept: toPemPath,
    reason: "it must be a PEM file that can be read",
    meaning:
      "PEM file with the certificate for STARTTLS, and the chain to its authority. It is read again when it changes. Empty: mail is received unencrypted.",
  }),
  keyPath: text({
    env: "HAMLET_SMTP_TLS_KEY",
    accept: toPemPath,
    reason: "it must be a PEM file that can be read",
    meaning: "PEM file with the private key of that certificate.",
  }),
  perAddressPerMinute: rate({
    env: "HAMLET_MAIL_PER_ADDRESS",
    default: 300,
    meaning: "Mails per minute from one IP address, or `none`.",
  }),
}

/** Received mail. Domain and size are those of outgoing mail. */
export const mailSettings = {
  perAccountPerMinute: rate({
    env: "HAMLET_MAIL_PER_ACCOUNT",
    default: 600,
    meaning: "Mails per minute to the vals of one user, or `none`.",
  }),
  acceptsGenerated: toggle({
    env: "HAMLET_MAIL_GENERATED",
    choices: ["refuse", "accept"],
    on: "accept",
    meaning:
      "Mail that a program has created by itself (`Auto-Submitted: auto-generated`), such as alerts: `refuse` or `accept`. Automatic replies are always refused.",
  }),
  nameServers: text({
    env: "HAMLET_MAIL_DNS",
    default: "those of the machine",
    accept: toNameServers,
    reason: "it must be IP addresses, with a port if need be",
    meaning:
      "IP addresses of the name servers that are asked about senders (SPF, DKIM, DMARC), separated by commas.",
  }),
}

/** `host` is that of the base URL. */
export function loadEmailConfig(read: ReadSetting, host: string) {
  const settings = readTable(emailSettings, read)
  const { domain = host, noticeAddress = `no-reply@${domain}`, bytesMax } = settings
  return { ...settings, noticeAddress, bytesMax: Math.min(bytesMax, sentBytesMax) }
}

export type SmtpConfig = ValuesOf<typeof smtpSettings> & { readonly host: string }
export type MailConfig = ReturnType<typeof loadMailConfig>

export function loadMailConfig(read: ReadSetting, host: string) {
  const smtp = readTable(smtpSettings, read)
  return { ...readTable(mailSettings, read), smtp: { ...smtp, host: smtp.host ?? host } }
}

/** The settings of mail in both directions. */
interface MailSettings {
  readonly mail: MailConfig
  readonly emails: { readonly domain: string | undefined }
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

function toNameServers(value: string): readonly string[] | undefined {
  const servers = value.split(",").map((server) => server.trim())
  const isAddress = /^([\d.]+|\[[\da-f:]+\])(:\d{1,5})?$/i
  return servers.every((server) => isAddress.test(server)) ? servers : undefined
}

const startTlsChoices = ["required", "if-offered", "never"] as const

/** The URL contains a password: messages do not repeat it. */
function toRelay(value: string) {
  const fail = (reason: string) => refuse("HAMLET_SMTP_URL", "…", reason)
  const url = URL.parse(value)
  if (!url || !/^smtps?:\/\/[^/]/i.test(value) || url.hostname === "")
    return fail("it must be smtp:// or smtps://, a login if need be, and a host")
  const isSecure = url.protocol === "smtps:"
  const login = toLogin(url, fail)
  const wanted = url.searchParams.get("tls")
  const startTls = startTlsChoices.find((each) => each === wanted)
  if (wanted !== null && startTls === undefined)
    fail(`it must have a "tls" that is one of ${startTlsChoices.join(", ")}`)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    // A password is never sent unencrypted, unless the operator says so.
    startTls: startTls ?? (login ? ("required" as const) : ("if-offered" as const)),
    login,
  }
}

function toLogin(url: URL, fail: (reason: string) => never) {
  if (url.username === "" && url.password === "") return undefined
  try {
    return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  } catch {
    return fail("it must have a login in which % is written as %25")
  }
}

/** The file is read here, so that a missing one is found at the start. */
function toPemPath(value: string): string | undefined {
  const path = resolve(value)
  try {
    return readFileSync(path, "latin1").includes("-----BEGIN ") ? path : undefined
  } catch {
    return undefined
  }
}
