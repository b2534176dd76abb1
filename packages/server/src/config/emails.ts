import { readFileSync } from "node:fs"
import type { Env } from "./options.ts"
import { type ReadSetting, readChoice, readInteger, readRate, refuse } from "./readers.ts"

/** The settings of outgoing mail. */
export interface EmailConfig {
  /** Undefined if the server sends no mail. */
  readonly relay: RelayConfig | undefined
  /** Additional certificate authorities of that mail server, in PEM. */
  readonly relayCa: string | undefined
  /** The domain of the vals' addresses; undefined if they have none. */
  readonly domain: string | undefined
  /** The address of the server's own messages. */
  readonly noticeAddress: string
  /** Further domains of senders; `*` for all. */
  readonly fromDomains: readonly string[]
  /** Mail is signed if there are both, and a domain. */
  readonly dkimSelector: string | undefined
  /** PEM. */
  readonly dkimKey: string | undefined
  /** Whether emails go to anyone, not only to their senders themselves. */
  readonly allowsOthers: boolean
  readonly recipientsPerDay: number | undefined
  readonly bytesPerDay: number | undefined
  readonly recipientsMax: number
  readonly bytesMax: number
}

/** The mail server that sends the mail. */
export interface RelayConfig {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly startTls: "required" | "if-offered" | "never"
  readonly login: { readonly user: string; readonly password: string } | undefined
}

const mega = 1024 ** 2

/** A larger email would not fit into a backup. */
const sentMegabytesMax = 40

/** Reads the settings of outgoing mail. `host` is that of the base URL. */
export function loadEmailConfig(read: ReadSetting, host: string): EmailConfig {
  const domain = readMailDomain(read("HAMLET_MAIL_DOMAIN"))
  const megabytesMax = readInteger("HAMLET_MAIL_MB_MAX", read("HAMLET_MAIL_MB_MAX"), 1, 100) ?? 25
  const megabytesPerDay = readRate("HAMLET_MAIL_MB_PER_DAY", read("HAMLET_MAIL_MB_PER_DAY"), 100)
  return {
    relay: readSmtpUrl(read("HAMLET_SMTP_URL")),
    relayCa: readPem("HAMLET_SMTP_CA", read("HAMLET_SMTP_CA"), "CERTIFICATE"),
    domain,
    noticeAddress: readAddress(read("HAMLET_MAIL_FROM")) ?? `no-reply@${domain ?? host}`,
    fromDomains: readFromDomains(read("HAMLET_MAIL_FROM_DOMAINS")),
    dkimSelector: readSelector(read("HAMLET_MAIL_DKIM_SELECTOR")),
    dkimKey: readPem("HAMLET_MAIL_DKIM_KEY", read("HAMLET_MAIL_DKIM_KEY"), "PRIVATE KEY"),
    recipientsPerDay: readRate("HAMLET_MAILS_PER_DAY", read("HAMLET_MAILS_PER_DAY"), 500),
    allowsOthers:
      readChoice("HAMLET_MAIL_TO", read("HAMLET_MAIL_TO"), ["anyone", "owner"]) === "anyone",
    bytesPerDay: megabytesPerDay === undefined ? undefined : megabytesPerDay * mega,
    recipientsMax:
      readInteger("HAMLET_MAIL_RECIPIENTS_MAX", read("HAMLET_MAIL_RECIPIENTS_MAX"), 1, 100) ?? 50,
    bytesMax: Math.min(megabytesMax, sentMegabytesMax) * mega,
  }
}

/** `host` without a port, as in addresses. */
function readMailDomain(text: string, env: Env = "HAMLET_MAIL_DOMAIN"): string | undefined {
  if (text === "") return undefined
  return /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text)
    ? text.toLowerCase()
    : refuse(env, text, "it must be a host name, without a port")
}

function readAddress(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\w.+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text)
    ? text
    : refuse("HAMLET_MAIL_FROM", text, "it must be an email address")
}

function readFromDomains(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) =>
      part === "*" ? part : (readMailDomain(part, "HAMLET_MAIL_FROM_DOMAINS") ?? part),
    )
}

const startTlsChoices = ["required", "if-offered", "never"] as const

/** The URL contains a password: messages do not repeat it. */
function readSmtpUrl(text: string): RelayConfig | undefined {
  if (text === "") return undefined
  const fail = (reason: string) => refuse("HAMLET_SMTP_URL", "…", reason)
  const url = URL.parse(text)
  if (!url || !/^smtps?:\/\/[^/]/i.test(text) || url.hostname === "")
    return fail("it must be smtp:// or smtps://, a login if need be, and a host")
  const isSecure = url.protocol === "smtps:"
  const login = readLogin(url, fail)
  const wanted = url.searchParams.get("tls")
  const startTls = startTlsChoices.find((choice) => choice === wanted)
  if (wanted !== null && startTls === undefined)
    fail(`it must have a "tls" that is one of ${startTlsChoices.join(", ")}`)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    // A password is never sent unencrypted, unless the operator says so.
    startTls: startTls ?? (login ? "required" : "if-offered"),
    login,
  }
}

function readLogin(url: URL, fail: (reason: string) => never): RelayConfig["login"] {
  if (url.username === "" && url.password === "") return undefined
  try {
    return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  } catch {
    return fail("it must have a login in which % is written as %25")
  }
}

function readSelector(text: string): string | undefined {
  if (text === "") return undefined
  return /^[a-z0-9]([\w.-]{0,61}[a-z0-9])?$/i.test(text)
    ? text
    : refuse("HAMLET_MAIL_DKIM_SELECTOR", text, "it must be a part of a host name")
}

/** The file is read here, so that a missing one is found at the start. */
function readPem(env: Env, path: string, kind: string): string | undefined {
  if (path === "") return undefined
  try {
    const text = readFileSync(path, "utf8")
    if (new RegExp(`-----BEGIN (?:[A-Z]+ )?${kind}-----`).test(text)) return text
  } catch (error) {
    refuse(env, path, error instanceof Error ? error.message : String(error))
  }
  return refuse(env, path, `it must be a PEM file with a ${kind.toLowerCase()}`)
}
